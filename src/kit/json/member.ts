import { colon, isClosing, isOpening, nextToken, quote, startScan } from './scan.ts'

type Place = { start: number; end: number }

/**
 * The JSON text of an object with another text for one value; the rest stays as it is written.
 * `path`: the keys that lead to it. Undefined: it is not there exactly once.
 */
export function withValue(
  text: string,
  path: readonly string[],
  literal: string,
): string | undefined {
  let place: Place | undefined = { start: 0, end: text.length }
  for (const key of path) place = place && memberIn(text, place.start, key)
  return place && text.slice(0, place.start) + literal + text.slice(place.end)
}

/** The value of the key in the object that begins at `from`. Undefined: the key is not there once. */
function memberIn(text: string, from: number, key: string): Place | undefined {
  const scan = startScan()
  let found: Place | undefined
  let isNamed = false
  for (let at = nextToken(scan, text, from); at >= 0; at = nextToken(scan, text, at)) {
    const { token, start, depth, separator } = scan
    if (depth === 0) break
    const isOutermost = depth === 1 && !isOpening(token)
    if (isOutermost && token === quote && separator !== colon)
      isNamed = isKey(text.slice(start, at), key)
    else if (isNamed && separator === colon && depth === (isOpening(token) ? 2 : 1)) {
      if (found) return undefined
      found = { start, end: at }
    } else if (isNamed && depth === 1 && isClosing(token) && found) found.end = at
  }
  return found
}

const isKey = (literal: string, key: string): boolean =>
  literal.includes('\\') ? JSON.parse(literal) === key : literal.slice(1, -1) === key
