/**
 * JSON as UTF-16 or as UTF-8: the marks of JSON are one unit in both. A Buffer is searched faster
 * than other bytes.
 */
export type JsonText = string | Uint8Array

/**
 * A place in JSON text that arrives in chunks, cut anywhere. Plain data. `token`: the last one,
 * which may be an open string: the code of a bracket, of the quote for a string, or `word` for a
 * number or literal. `start`: where the token begins in its chunk; where it began in an earlier
 * chunk, the beginning of this one. `separator`: the comma or colon before the token, or `none`;
 * `pending`: the one before the next token.
 */
export type JsonScan = {
  token: number
  start: number
  separator: number
  pending: number
  depth: number
  inString: boolean
  escaped: boolean
}

export const word = 0
export const none = 0
export const quote = 0x22
export const comma = 0x2c
export const colon = 0x3a
export const openList = 0x5b
export const closeList = 0x5d
export const openObject = 0x7b
export const closeObject = 0x7d
export const backslash = 0x5c

export function startScan(): JsonScan {
  return {
    token: word,
    start: 0,
    separator: none,
    pending: none,
    depth: 0,
    inString: false,
    escaped: false,
  }
}

export const isOpening = (token: number) => token === openObject || token === openList
export const isClosing = (token: number) => token === closeObject || token === closeList

/**
 * Reads one token, which need not be where JSON allows it. Returns the position after it; -1: none
 * ends in this chunk, and all of it was read. A number or literal that the end of a chunk cuts
 * becomes two tokens, and of two separators in a row the second one is a token.
 */
export function nextToken(scan: JsonScan, text: JsonText, from: number): number {
  let at = from
  if (scan.inString) scan.start = from
  else {
    let code = none
    let { pending } = scan
    for (; ; at++) {
      if (at >= text.length) {
        scan.pending = pending
        return -1
      }
      code = codeAt(text, at)
      if (code <= 0x20 && isSpace(code)) continue
      if ((code !== comma && code !== colon) || pending !== none) break
      pending = code
    }
    scan.separator = pending
    scan.pending = none
    scan.start = at++
    switch (code) {
      case quote:
        scan.token = code
        break
      case openObject:
      case openList:
        scan.depth++
        scan.token = code
        return at
      case closeObject:
      case closeList:
        scan.depth--
        scan.token = code
        return at
      case comma:
      case colon:
        scan.token = code
        return at
      default:
        scan.token = word
        while (at < text.length && !endsWord(codeAt(text, at))) at++
        return at
    }
  }
  const end = endOfString(scan, text, at)
  if (end < 0) {
    scan.inString = true
    return -1
  }
  scan.inString = false
  return end
}

/**
 * Most strings are short, and a call of `indexOf` takes as long as looking at some twenty units.
 */
const near = 16

/** The position after the quote that closes the string; -1: it continues in the next chunk. */
function endOfString(scan: JsonScan, text: JsonText, from: number): number {
  let at = from
  if (scan.escaped && at < text.length) {
    scan.escaped = false
    at++
  }
  for (const far = Math.min(at + near, text.length); at < far; at++) {
    const code = codeAt(text, at)
    if (code === quote) return at + 1
    if (code === backslash && ++at === text.length) {
      scan.escaped = true
      return -1
    }
  }
  for (let end = quoteIn(text, at); end >= 0; end = quoteIn(text, end + 1))
    if (codeAt(text, end - 1) !== backslash || !isEscaped(text, at, end)) return end + 1
  scan.escaped = isEscaped(text, at, text.length)
  return -1
}

/** Does an odd number of backslashes end at `end`? */
function isEscaped(text: JsonText, from: number, end: number): boolean {
  let start = end
  while (start > from && codeAt(text, start - 1) === backslash) start--
  return ((end - start) & 1) === 1
}

const quoteIn = (text: JsonText, from: number) =>
  typeof text === 'string' ? text.indexOf('"', from) : text.indexOf(quote, from)

export const codeAt = (text: JsonText, at: number): number =>
  typeof text === 'string' ? text.charCodeAt(at) : (text[at] as number)

export const isSpace = (code: number) =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const endsWord = (code: number) =>
  code === comma ||
  code === colon ||
  code === quote ||
  code <= 0x20 ||
  isClosing(code) ||
  isOpening(code)

/** How deep JSON is nested, without recursion, which overflows the stack. Stops beyond `limit`. */
export function nesting(text: JsonText, limit = Infinity): number {
  const scan = startScan()
  let deepest = 0
  for (
    let at = nextToken(scan, text, 0);
    at >= 0 && deepest <= limit;
    at = nextToken(scan, text, at)
  )
    deepest = Math.max(deepest, scan.depth)
  return deepest
}

const isHex = (code: number) =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)
const areHex = (text: JsonText, at: number) =>
  isHex(codeAt(text, at)) &&
  isHex(codeAt(text, at + 1)) &&
  isHex(codeAt(text, at + 2)) &&
  isHex(codeAt(text, at + 3))
const escapes: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map(char => char.charCodeAt(0)))

/**
 * The end of the valid string literal that begins here. Negative: there is none, and `~end` is the
 * first position that is wrong.
 */
export function endOfLiteral(text: JsonText, from: number): number {
  const { length } = text
  if (from >= length || codeAt(text, from) !== quote) return ~from
  for (let at = from + 1; at < length; at++) {
    const code = codeAt(text, at)
    if (code === quote) return at + 1
    if (code < 0x20) return ~at
    if (code !== backslash) continue
    const kind = at + 1 < length ? codeAt(text, at + 1) : 0
    if (escapes.has(kind)) at++
    else if (kind === 0x75 && at + 5 < length && areHex(text, at + 2)) at += 5
    else return ~at
  }
  return ~length
}
