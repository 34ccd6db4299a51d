import { node, quickText, viewOf, withoutMark } from '../../sse/bytes.ts'

const strict = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8. Undefined: the bytes are invalid. */
export function strictTextOf(bytes: Uint8Array): string | undefined {
  const text = quickText(bytes)
  if (text !== undefined) return withoutMark(text)
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Do the bytes contain any of these words? True also on platforms that cannot search. 5 µs for 170
 * KB; in a string 88.
 */
export function mayHoldAny(bytes: Uint8Array, words: readonly string[]): boolean {
  if (!node) return true
  const view = viewOf(node, bytes)
  return words.some(word => view.includes(word))
}

/** Do the bytes contain the word more than once? True also on platforms that cannot search. */
export function mayHoldTwice(bytes: Uint8Array, word: string): boolean {
  if (!node) return true
  const view = viewOf(node, bytes)
  const first = view.indexOf(word)
  return first >= 0 && view.indexOf(word, first + 1) >= 0
}

/** Are all bytes ASCII? False also on platforms that cannot check it. */
export function isAscii(bytes: Uint8Array): boolean {
  return node?.isAscii(bytes) ?? false
}

/** Are the bytes valid UTF-8? False also on platforms that cannot check it. */
export function isUtf8(bytes: Uint8Array): boolean {
  return node?.isUtf8(bytes) ?? false
}
