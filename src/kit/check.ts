import { TranslationError } from '../errors.ts'
import { isDemanded, kindsOf, lostKey } from './guard.ts'
import { isObject } from './json.ts'
import { pointer } from './path.ts'
import type { AnySchema, Def, Infer } from './schema.ts'

/**
 * The value, checked against its schema. `placeOf`: maps a path in the value to the path for the error.
 * @throws TranslationError `malformed` with the path of the deepest fault
 */
export function check<S extends AnySchema>(protocol: string, schema: S, wire: unknown, placeOf = (path: string) => path): Infer<S> {
  if (schema.accepts(wire)) return wire
  const { path, message } = faultIn(schema, wire) ?? { path: [], message: 'not what the protocol says' }
  throw new TranslationError({ code: 'malformed', protocol, path: placeOf(pointer(path)) }, message)
}

/**
 * What is wrong with a value. Of several faults the first one with the highest `rank` is reported. The rank grows with the depth. Highest
 * are a value that a shape declares to be of another kind (`notMine`) and a forbidden key (`forbidden`). A wrong literal or a missing
 * key ranks a little lower (`elsewhere`), since the value may simply be meant for another shape of a union.
 */
type Fault = { path: readonly PropertyKey[]; message: string; rank: number }

type DefOf<Type> = Extract<Def, { type: Type }>

const elsewhere = -0.5
const notMine = 1_000_000
const forbidden = 2_000_000

const fault = (message: string, rank = 0): Fault => ({ path: [], message, rank })

function at(key: PropertyKey, inner: Fault | undefined): Fault | undefined {
  return inner && { ...inner, path: [key, ...inner.path], rank: inner.rank + 1 }
}

function higher(one: Fault | undefined, other: Fault | undefined): Fault | undefined {
  if (!one || !other) return one ?? other
  return other.rank > one.rank ? other : one
}

const wordFor = {
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  undefined: 'nothing',
  null: 'null',
  unknown: 'anything',
} as const

/** Why a schema refuses a value. Slow; called only after its guard has refused the value. */
function faultIn(schema: AnySchema, value: unknown): Fault | undefined {
  const { def } = schema
  switch (def.type) {
    case 'unknown':
    case 'string':
    case 'boolean':
    case 'number':
    case 'int':
      return schema.guard(value) ? undefined : fault(`expected ${wordFor[def.type]}`)
    case 'null':
    case 'undefined':
      return schema.guard(value) ? undefined : fault(`expected ${wordFor[def.type]}`, elsewhere)
    case 'literal':
      return schema.guard(value) ? undefined : fault(`expected ${def.values.map(word => JSON.stringify(word)).join(' or ')}`, elsewhere)
    case 'optional':
      return value === undefined ? undefined : faultIn(def.innerType, value)
    case 'nullable':
      return value === null ? undefined : faultIn(def.innerType, value)
    case 'refined':
      return faultIn(def.innerType, value) ?? (def.holds(value) ? undefined : fault('not what the protocol says', def.isForOthers ? notMine : 0))
    case 'lazy':
      return faultIn(def.getter(), value)
    case 'array':
      if (!Array.isArray(value)) return fault('expected a list')
      return value.reduce<Fault | undefined>((worst, one, index) => higher(worst, at(index, faultIn(def.element, one))), undefined)
    case 'record':
    case 'object':
      return faultInFields(def, value)
    case 'union':
      return faultInUnion(def, value)
    default:
      return def satisfies never
  }
}

function faultInFields(def: DefOf<'record' | 'object'>, value: unknown): Fault | undefined {
  if (!isObject(value)) return fault('expected an object')
  if (Object.hasOwn(value, lostKey)) return at(lostKey, fault('no protocol has a key of this name', forbidden))
  const fields = def.type === 'object' ? Object.entries(def.shape) : Object.keys(value).map(key => [key, def.valueType] as const)
  return fields
    .filter(([key, field]) => Object.hasOwn(value, key) || isDemanded(field))
    .reduce<Fault | undefined>(
      (worst, [key, field]) => higher(worst, at(key, Object.hasOwn(value, key) ? faultIn(field, value[key]) : missing(field))),
      undefined,
    )
}

function missing(field: AnySchema): Fault | undefined {
  const inner = faultIn(field, undefined)
  return inner && { ...inner, rank: elsewhere }
}

function faultInUnion({ options, discriminator }: DefOf<'union'>, value: unknown): Fault | undefined {
  if (discriminator !== undefined) {
    if (!isObject(value)) return fault('expected an object')
    const option = kindsOf(discriminator, options).get(value[discriminator])
    return option ? faultIn(option, value) : at(discriminator, fault('not one of the kinds that may stand here'))
  }
  let worst = fault('of none of the shapes that may stand here')
  for (const option of options) {
    const inner = faultIn(option, value)
    if (!inner || inner.rank >= forbidden) return inner
    if (inner.rank < notMine && inner.rank > worst.rank) worst = inner
  }
  return worst
}
