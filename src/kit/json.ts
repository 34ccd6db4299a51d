import { flatMap } from './flat-map.ts'

export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

/** The object that this text holds; undefined when it is not the text of a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
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
