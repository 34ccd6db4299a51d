import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { step } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import type { GenerateContentOptions } from '../options.ts'

/**
 * Bodies nested in another object: requests to count tokens wrap the whole request, and some hosts
 * wrap every body.
 */

/** `at`: JSON pointer to the body; empty: it is not nested. `beside`: the fields next to it. */
export type Held = { body: unknown; at: string; beside: JsonObject }

const counted = ['generateContentRequest', 'generate_content_request']

export function unwrapRequest(given: unknown, options: GenerateContentOptions): Held {
  return isObject(given) && 'contents' in given
    ? alone(given)
    : held(given, [...counted, ...keysFor('request', options)])
}

/** A response, or an event of one. */
export function unwrapResponse(given: unknown, options: GenerateContentOptions): Held {
  return isObject(given) && 'candidates' in given
    ? alone(given)
    : held(given, keysFor('response', options))
}

/**
 * Applies the same change to a body and to the object it is nested in. Regardless of `wrapper`,
 * because the body is only passed on.
 */
export function within(given: unknown, change: (body: JsonObject) => JsonObject): unknown {
  if (!isObject(given)) return given
  if (isBody(given)) return change(given)
  const key = [...counted, 'request', 'response'].find(one =>
    (counted.includes(one) ? isObject : isHeld)(given[one]),
  )
  const inner = key === undefined ? undefined : given[key]
  return key !== undefined && isObject(inner)
    ? { ...change(given), [key]: change(inner) }
    : change(given)
}

const isBody = (value: unknown): value is JsonObject =>
  isObject(value) && ('contents' in value || 'candidates' in value)

/** A response to a blocked prompt and an event with only usage have no candidates. */
const isHeld = (value: unknown) =>
  isBody(value) || (isObject(value) && ('modelVersion' in value || 'model_version' in value))

const keysFor = (key: string, { wrapper }: GenerateContentOptions) =>
  wrapper === 'unwrap' ? [key] : []
const alone = (body: unknown): Held => ({ body, at: '', beside: {} })

function held(given: unknown, keys: readonly string[]): Held {
  const key = isObject(given) ? keys.find(one => isObject(given[one])) : undefined
  if (!isObject(given) || key === undefined) return alone(given)
  const { [key]: body, ...beside } = given
  return { body, at: step(key), beside }
}

/** Keys next to the body, as they are kept among those of the body: with the prefix `../`. */
export function asBeside(fields: JsonObject | undefined): JsonObject {
  const beside: JsonObject = {}
  for (const key in fields) beside[`../${key}`] = fields[key]
  return beside
}

/**
 * Keys of the body, as they are kept: one that happens to begin with `../` or `./` gets the prefix
 * `./`.
 */
export function asInside(fields: JsonObject | undefined): JsonObject {
  const inside: JsonObject = {}
  for (const key in fields) inside[looksKept.test(key) ? `./${key}` : key] = fields[key]
  return inside
}

const looksKept = /^\.{1,2}\//

export function splitBeside(kept: JsonObject): { inside: JsonObject; beside: JsonObject } {
  const inside: JsonObject = {}
  const beside: JsonObject = {}
  for (const key in kept) {
    if (key.startsWith('../')) beside[key.slice(3)] = kept[key]
    else inside[key.startsWith('./') ? key.slice(2) : key] = kept[key]
  }
  return { inside, beside }
}

/** A written body nested as it was. `at`: see `Source`. */
export function wrapAgain<Body extends object>(
  body: Body,
  at: string | undefined,
  beside: JsonObject,
): Body {
  // What a host puts around a body is no part of the protocol.
  return at === undefined ? body : asRead({ ...beside, [at.slice(1)]: body })
}
