import type { JsonSchema } from '../../canonical/tool.ts'
import { isObject, type JsonObject, without } from '../json/json.ts'
import { type JsonScan, nextToken, startScan } from '../json/scan.ts'
import { mapSchemas } from '../tools/schema-subset.ts'

const shared = ['$defs', 'definitions'] as const
/** What says what a value is, where no type does. */
export const describing = ['enum', 'const', 'anyOf', 'oneOf', 'items', 'prefixItems'] as const

/**
 * The schema of an object `{ value }` around a schema of another type, for servers that accept only
 * objects as the root of a schema. Undefined: the schema may describe an object already.
 */
export function wrapRoot(schema: JsonSchema): JsonObject | undefined {
  if (!isObject(schema)) return undefined
  const { type } = schema
  const isOther =
    type === undefined ? describing.some(key => schema[key] !== undefined) : type !== 'object'
  return isOther ? wrapped(schema) : undefined
}

/** The same of any schema. */
export function wrapped(schema: JsonObject): JsonObject {
  const moved = mapSchemas(schema, one => {
    const { $ref } = one
    return typeof $ref === 'string' && isMoved($ref)
      ? { ...one, $ref: `#/properties/value${$ref.slice(1)}` }
      : one
  })
  // References to them begin at the root.
  const held = shared.filter(key => moved[key] !== undefined)
  return {
    type: 'object',
    properties: { value: without(moved, [...held]) },
    required: ['value'],
    additionalProperties: false,
    ...Object.fromEntries(held.map(key => [key, moved[key]])),
  }
}

const isMoved = (reference: string) => /^#(?!\/(\$defs|definitions)\/)(\/|$)/.test(reference)

const opening = /^\s*\{\s*"value"\s*:/
const openingBegun = /^\s*(\{\s*("(v(a(l(u(e("\s*)?)?)?)?)?)?)?)?$/

/**
 * Reads `{"value": …}` as it arrives. `form`: `word` for a string that is wanted without its
 * quotes. Plain data.
 */
export type OutputUnwrapping = {
  form: 'value' | 'word'
  phase: 'before' | 'opened' | 'inside' | 'closed' | 'raw'
  held: string
  scan: JsonScan
}

export function startUnwrappingOutput(form: OutputUnwrapping['form']): OutputUnwrapping {
  return { form, phase: 'before', held: '', scan: startScan() }
}

/**
 * Reads the next chunk of the text and returns the next chunk of the value. A text of another form
 * is returned as it is.
 */
export function unwrapOutput(state: OutputUnwrapping, text: string): string {
  let rest = text
  if (state.phase === 'before') {
    rest = state.held + text
    const start = opening.exec(rest)
    if (!start && openingBegun.test(rest)) {
      state.held = rest
      return ''
    }
    state.held = ''
    state.phase = start ? 'opened' : 'raw'
    rest = rest.slice(start?.[0].length ?? 0)
  }
  if (state.phase === 'raw') return rest
  if (state.phase === 'closed') return ''
  if (state.phase === 'opened') {
    rest = rest.trimStart()
    if (rest === '') return ''
    state.phase = 'inside'
  }
  const value = rest.slice(0, endOfValue(state, rest))
  if (state.form === 'value') return value
  state.held += value
  return ''
}

/** What is left at the end of the text. */
export function endOutput(state: OutputUnwrapping): string {
  const { held, form } = state
  state.held = ''
  if (form === 'value' || state.phase === 'before') return held
  try {
    const word: unknown = JSON.parse(held)
    return typeof word === 'string' ? word : held.trim()
  } catch {
    return held
  }
}

/**
 * Where the value ends, which is before the brace that closes the object around it. Changes the
 * state.
 */
function endOfValue(state: OutputUnwrapping, text: string): number {
  const { scan } = state
  for (let at = nextToken(scan, text, 0); at >= 0; at = nextToken(scan, text, at))
    if (scan.depth < 0) {
      state.phase = 'closed'
      return scan.start
    }
  return text.length
}
