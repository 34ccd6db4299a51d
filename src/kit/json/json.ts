import { copyOf, setOwn } from '../../canonical/copy.ts'
import { flatMap } from '../text/flat-map.ts'
import { parseExact, withDigitsOf } from './digits.ts'
import {
  isClosing,
  isOpening,
  type JsonScan,
  nesting,
  nextToken,
  quote,
  startScan,
} from './scan.ts'

export { setOwn }

export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A deep merge of objects; values of `over` win unless they are undefined. */
export function merge<T extends object>(under: JsonObject, over: T): T {
  const merged = { ...under }
  for (const key in over) {
    const value = over[key]
    if (value === undefined) continue
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined
    setOwn(
      merged,
      key,
      isObject(below) && isObject(value) ? merge<JsonObject>(below, value) : value,
    )
  }
  // All values of `over` are in it.
  return merged as T
}

/**
 * The same in place: what many events add to one object is not copied with each. The objects in
 * `into` belong to it.
 */
export function mergeInto(into: JsonObject, over: JsonObject): void {
  for (const key in over) {
    const value = over[key]
    if (value === undefined) continue
    const below = Object.hasOwn(into, key) ? into[key] : undefined
    if (isObject(below) && isObject(value)) mergeInto(below, value)
    else setOwn(into, key, copyOf(value))
  }
}

/** Would merging change the object? Looks only at the keys of `over`. */
export function saysMore(known: JsonObject, over: JsonObject): boolean {
  for (const key in over) {
    const value = over[key]
    if (value === undefined) continue
    const below = Object.hasOwn(known, key) ? known[key] : undefined
    const isNew = isObject(below) && isObject(value) ? saysMore(below, value) : !same(below, value)
    if (isNew) return true
  }
  return false
}

/** Equal as JSON, key order aside; a key that holds undefined counts as absent. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  for (const key of Object.keys(a))
    if (a[key] !== undefined && !(Object.hasOwn(b, key) && same(a[key], b[key]))) return false
  for (const key of Object.keys(b))
    if (b[key] !== undefined && !(Object.hasOwn(a, key) && a[key] !== undefined)) return false
  return true
}

/** A copy with only these keys. */
export function only(object: JsonObject, keys: readonly string[]): JsonObject {
  const kept = flatMap(keys, key => (Object.hasOwn(object, key) ? [[key, object[key]]] : []))
  return withDigitsOf(Object.fromEntries(kept), object)
}

export const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** A copy without these keys. */
export function without<Value>(
  object: Readonly<Record<string, Value>>,
  keys: readonly string[],
): Record<string, Value> {
  const kept = Object.entries(object).filter(([key]) => !keys.includes(key))
  return withDigitsOf(Object.fromEntries(kept), object)
}

/** The value of a JSON text. Undefined: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/** In levels. Recursive functions such as `JSON.stringify` overflow the stack at a few thousand. */
export const deepest = 1_000

/** The object of a JSON text. Undefined: not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** The same, but undefined also for an object that is too deep to be written again. */
export function parseShallow(text: string): JsonObject | undefined {
  return isBottomless(text) ? undefined : parseObject(text)
}

/** Is this JSON so deep that recursive functions overflow the stack? */
export function isBottomless(text: string): boolean {
  if (text.length <= 2 * deepest) return false
  let left = deepest
  // Searching for brackets is faster than reading tokens, and most texts have few.
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1))
      if (left-- === 0) return nesting(text, deepest) > deepest
  return false
}

/** Does the value contain a number? */
export function holdsNumber(value: unknown): boolean {
  return (
    typeof value === 'number' ||
    (typeof value === 'object' && value !== null && Object.values(value).some(holdsNumber))
  )
}

/**
 * How far the JSON text of one value has arrived. `begun`: an object, array or string has. `whole`:
 * it is complete. Numbers and literals are never complete, because more digits may follow. Plain
 * data.
 */
export type JsonProgress = JsonScan & { begun: boolean; whole: boolean }

export function startJson(): JsonProgress {
  // A spread would have a hidden class of its own each time.
  return Object.assign(startScan(), { begun: false, whole: false })
}

/**
 * Takes the next chunk of text; changes `progress`. Returns where in the text the value ends; its
 * length, if it does not end there.
 */
export function advanceJson(progress: JsonProgress, text: string): number {
  for (let at = 0; !progress.whole; ) {
    at = nextToken(progress, text, at)
    const { token, depth } = progress
    progress.begun ||= token === quote || isOpening(token)
    if (at < 0) break
    progress.whole = depth === 0 && (token === quote || isClosing(token))
    if (progress.whole) return at
  }
  return progress.whole ? 0 : text.length
}
