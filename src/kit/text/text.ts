/**
 * The number of code points, in which spans are counted: `[...text].length`, twenty times as fast.
 */
export function lengthOf(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) {
      count--
      i++
    }
  return count
}

/** The same, counted when it is first asked for. */
export function lengthLater(text: string): () => number {
  let length: number | undefined
  return () => {
    length ??= lengthOf(text)
    return length
  }
}

/** A place in a text. */
export const isOffset = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0

/**
 * As `startsWith`, but ten times as fast for thousands of letters, which V8 compares one by one
 * there.
 */
export const beginsWith = (text: string, start: string): boolean =>
  text.length >= start.length && text.slice(0, start.length) === start

/** `decodeURIComponent`, but text with invalid escapes is returned unchanged. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Where to cut a text after about `units` UTF-16 units without splitting a character. 0: nowhere.
 */
export function cutIn(text: string, units: number): number {
  if (units <= 0 || units >= text.length) return 0
  const isInside =
    /[\udc00-\udfff]/.test(text.charAt(units)) && /[\ud800-\udbff]/.test(text.charAt(units - 1))
  return isInside ? units - 1 : units
}

/** A text with its control characters replaced by spaces, safe to print to a terminal. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
