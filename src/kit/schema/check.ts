import type * as z from 'zod/mini'
import { TranslationError } from '../../errors.ts'
import { isObject } from '../json/json.ts'
import { bodyFault } from '../json/wrong-input.ts'
import { pointer } from '../notes/path.ts'
import { nameFault, similar } from '../text/similar.ts'
import {
  accepts,
  defOf,
  discriminatorOf,
  guardOf,
  isRequired,
  kindsOf,
  lostKey,
  rulesOf,
  type Schema,
} from './guard.ts'

/**
 * The value, checked against its schema. `placeOf`: maps a path in the value to the path for the
 * error.
 * @throws TranslationError `malformed` with the path of the deepest fault
 */
export function check<S extends Schema>(
  protocol: string,
  schema: S,
  wire: unknown,
  placeOf = (path: string) => path,
): z.output<S> {
  if (accepts(schema, wire)) return wire
  refuseNoBody(protocol, wire)
  const { path, message } = faultIn(schema, wire) ?? {
    path: [],
    message: 'not what the protocol says',
  }
  throw new TranslationError({ code: 'malformed', protocol, path: placeOf(pointer(path)) }, message)
}

/** @throws TranslationError `malformed` for a value that is no JSON object */
export function refuseNoBody(protocol: string, body: unknown): void {
  const message = bodyFault(body)
  if (message !== undefined)
    throw new TranslationError({ code: 'malformed', protocol, path: '' }, message)
}

/**
 * What is wrong with a value. Of several faults the first one with the highest `rank` is reported.
 * The rank grows with the depth. Highest are a value that a shape declares to be of another kind
 * (`notMine`) and a forbidden key (`forbidden`). A wrong literal or a missing key ranks a little
 * lower (`elsewhere`), since the value may simply be meant for another shape of a union.
 */
type Fault = { path: readonly PropertyKey[]; message: string; rank: number }

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

const whole = 'expected a whole number'
const isWhole = ({ fn }: z.core.$ZodCustomDef) => fn === Number.isInteger

/** Why a schema refuses a value. Slow; called only after its guard has refused the value. */
function faultIn(schema: Schema, value: unknown): Fault | undefined {
  const inKind = faultInKind(schema, value)
  if (inKind) return inKind
  const broken = rulesOf(schema).find(({ fn }) => !fn(value))
  if (!broken) return undefined
  return fault(
    isWhole(broken) ? whole : 'not what the protocol says',
    broken.params?.['isForOthers'] === true ? notMine : 0,
  )
}

function faultInKind(schema: Schema, value: unknown): Fault | undefined {
  const def = defOf(schema)
  switch (def.type) {
    case 'unknown':
      return undefined
    case 'string':
      return typeof value === 'string' ? undefined : fault('expected text')
    case 'boolean':
      return typeof value === 'boolean' ? undefined : fault('expected true or false')
    case 'number':
      return Number.isFinite(value)
        ? undefined
        : fault(rulesOf(schema).some(isWhole) ? whole : 'expected a number')
    case 'null':
      return value === null ? undefined : fault('expected null', elsewhere)
    case 'undefined':
      return value === undefined ? undefined : fault('expected nothing', elsewhere)
    case 'literal':
      return guardOf(schema)(value)
        ? undefined
        : fault(`expected ${def.values.map(word => JSON.stringify(word)).join(' or ')}`, elsewhere)
    case 'optional':
      return value === undefined ? undefined : faultIn(def.innerType, value)
    case 'nullable':
      return value === null ? undefined : faultIn(def.innerType, value)
    case 'lazy':
      return faultIn(def.getter(), value)
    case 'array':
      if (!Array.isArray(value)) return fault('expected a list')
      return value.reduce<Fault | undefined>(
        (worst, one, index) => higher(worst, at(index, faultIn(def.element, one))),
        undefined,
      )
    case 'record':
    case 'object':
      return faultInFields(def, value)
    case 'union':
      return faultInUnion(def, value)
    default:
      throw new Error(`no faults for the zod kind "${def.type}"`)
  }
}

function faultInFields(
  def: z.core.$ZodRecordDef | z.core.$ZodObjectDef,
  value: unknown,
): Fault | undefined {
  if (!isObject(value)) return fault('expected an object')
  if (Object.hasOwn(value, lostKey))
    return at(lostKey, fault('no protocol has a key of this name', forbidden))
  const fields =
    def.type === 'object'
      ? Object.entries(def.shape)
      : Object.keys(value).map(key => [key, def.valueType] as const)
  return fields
    .filter(([key, field]) => Object.hasOwn(value, key) || isRequired(field))
    .reduce<Fault | undefined>(
      (worst, [key, field]) =>
        higher(
          worst,
          at(
            key,
            Object.hasOwn(value, key) ? faultIn(field, value[key]) : missing(field, key, value),
          ),
        ),
      undefined,
    )
}

function missing(
  field: Schema,
  key: string,
  { [key]: _, ...others }: Record<string, unknown>,
): Fault | undefined {
  const inner = faultIn(field, undefined)
  const isMisspelled = similar(key, Object.keys(others)) !== undefined
  return (
    inner && {
      ...inner,
      message: `missing, ${inner.message}${isMisspelled ? '; is its name misspelled?' : ''}`,
      rank: elsewhere,
    }
  )
}

function faultInUnion(def: z.core.$ZodUnionDef, value: unknown): Fault | undefined {
  const { options } = def
  const discriminator = discriminatorOf(def)
  if (discriminator !== undefined) {
    if (!isObject(value)) return fault('expected an object')
    const kinds = kindsOf(discriminator, options)
    const kind = value[discriminator]
    const option = kinds.get(kind)
    if (option) return faultIn(option, value)
    const message =
      nameFault(
        kind,
        [...kinds.keys()].filter(name => typeof name === 'string'),
      ) ?? ''
    return at(discriminator, fault(kind === undefined ? `missing, ${message}` : message))
  }
  const expected: string[] = []
  let worst: Fault | undefined
  for (const option of options) {
    const inner = faultIn(option, value)
    if (!inner || inner.rank >= forbidden) return inner
    if (inner.path.length === 0) expected.push(inner.message.replace('expected ', ''))
    if (inner.rank < notMine && inner.rank > (worst?.rank ?? 0)) worst = inner
  }
  return worst ?? fault(`expected ${[...new Set(expected)].join(' or ')}`)
}
