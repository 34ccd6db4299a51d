import { setOwn } from '../canonical/copy.ts'
import { flatMap } from './flat-map.ts'

export { setOwn }

export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `over` wins, where it says anything; objects on both sides are merged. */
export function merge(under: JsonObject, over: JsonObject): JsonObject {
  const merged = { ...under }
  for (const key in over) {
    const value = over[key]
    if (value === undefined) continue
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined
    setOwn(merged, key, isObject(below) && isObject(value) ? merge(below, value) : value)
  }
  return merged
}

/** Equal as JSON, key order aside; a key that holds undefined counts as absent. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  for (const key of Object.keys(a)) if (a[key] !== undefined && !(Object.hasOwn(b, key) && same(a[key], b[key]))) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && !(Object.hasOwn(a, key) && a[key] !== undefined)) return false
  return true
}

/** The object with these keys alone. */
export function only(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(flatMap(keys, key => (Object.hasOwn(object, key) ? [[key, object[key]]] : [])))
}

/** The object but for these keys. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
}

/** The value that this text holds; undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** In levels. Whatever calls itself for each of them, as `JSON.stringify` does, breaks on some thousands. */
const deepest = 1_000

/** The object that this text holds; undefined when it is not the text of a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** The same, but also undefined for one that is nested so deeply that nobody could write it again. */
export function parseShallow(text: string): JsonObject | undefined {
  return isBottomless(text) ? undefined : parseObject(text)
}

/** Is this JSON nested so deeply that whatever calls itself breaks on it? Few texts have as many brackets as it would take. */
export function isBottomless(text: string): boolean {
  if (text.length <= 2 * deepest) return false
  let left = deepest
  for (const bracket of ['{', '[']) for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (left-- === 0) return isDeep(text)
  return false
}

function isDeep(text: string): boolean {
  let inString = false
  let depth = 0
  for (let i = 0; i < text.length && depth <= deepest; i++) {
    const char = text.charCodeAt(i)
    if (char === 0x5c) i++
    else if (char === 0x22) inString = !inString
    else if (!inString && (char === 0x7b || char === 0x5b)) depth++
    else if (!inString && (char === 0x7d || char === 0x5d)) depth--
  }
  return depth > deepest
}

/** Does every number of this JSON text stay what it is as a number of ours? Those with many digits, such as long ids, do not. */
export function keepsNumbers(text: string): boolean {
  if (!/\d[\d.]{15}|\d[eE]/.test(text)) return true
  return numbersIn(text).every(number => digitsOf(number) === digitsOf(String(Number(number))))
}

/** Is there a number in it? */
export function holdsNumber(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'object' && value !== null && Object.values(value).some(holdsNumber))
}

/** The numbers of a JSON text as they are written. One pattern for whole strings as well would have no room for long ones. */
function numbersIn(text: string): string[] {
  const found: string[] = []
  const token = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
  const mark = /["\\]/g
  for (let next = token.exec(text); next; next = token.exec(text)) {
    if (next[0] !== '"') {
      found.push(next[0])
      continue
    }
    mark.lastIndex = token.lastIndex
    for (let inside = mark.exec(text); inside?.[0] === '\\'; inside = mark.exec(text)) mark.lastIndex++
    if (mark.lastIndex === 0) break
    token.lastIndex = mark.lastIndex
  }
  return found
}

/** Its digits, without zeros at the ends, and the place of the first one. */
function digitsOf(number: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return /^-?\d/.test(number) ? '0' : number
  return `${sign}${digits.replace(/0+$/, '')}e${Number(exponent) - fraction.length + digits.length}`
}

/**
 * Follows JSON text as it arrives and tells when one whole object, array or string has come. Plain data; numbers and
 * literals never count as whole, because more digits may follow.
 */
export type JsonProgress = { depth: number; inString: boolean; escaped: boolean; begun: boolean; whole: boolean }

export function startJson(): JsonProgress {
  return { depth: 0, inString: false, escaped: false, begun: false, whole: false }
}

/** Takes the next piece of text; changes `progress`. */
export function advanceJson(progress: JsonProgress, text: string): void {
  for (let i = 0; i < text.length; i++) {
    if (progress.whole) return
    const char = text.charCodeAt(i)
    if (progress.inString) {
      if (progress.escaped) progress.escaped = false
      else if (char === 0x5c) progress.escaped = true
      else if (char === 0x22) {
        progress.inString = false
        if (progress.depth === 0) progress.whole = true
      }
    } else if (char === 0x22) {
      progress.inString = true
      progress.begun = true
    } else if (char === 0x7b || char === 0x5b) {
      progress.depth++
      progress.begun = true
    } else if (char === 0x7d || char === 0x5d) {
      progress.depth--
      if (progress.depth === 0) progress.whole = true
    }
  }
}
