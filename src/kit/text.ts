/** How many characters a text has, which is what spans are told in: `[...text].length`, at a twentieth of its time. */
export function lengthOf(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) {
      count--
      i++
    }
  return count
}

/** As `startsWith`, which V8 does letter by letter: a tenth of the time for a text of thousands. */
export const beginsWith = (text: string, start: string): boolean => text.length >= start.length && text.slice(0, start.length) === start

/** A part of a URL without its escapes; one that is badly escaped stays as it is. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Where to cut a text for a beginning of so many units, not inside of a character. 0: nowhere. */
export function cutIn(text: string, units: number): number {
  if (units <= 0 || units >= text.length) return 0
  const isInside = /[\udc00-\udfff]/.test(text.charAt(units)) && /[\ud800-\udbff]/.test(text.charAt(units - 1))
  return isInside ? units - 1 : units
}

/** A text without the characters that a terminal obeys instead of showing them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
