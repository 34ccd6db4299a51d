import {
  colon,
  comma,
  endOfLiteral,
  isClosing,
  isOpening,
  type JsonScan,
  nextToken,
  none,
  openObject,
  quote,
  startScan,
} from './scan.ts'

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/**
 * The offset of the first syntax error in a JSON text; error messages of engines do not always have
 * it. Undefined: the text is valid.
 */
export function jsonFault(text: string): number | undefined {
  const scan = startScan()
  const order = new Order()
  const placeOf = (separator: number, before: number) =>
    text.lastIndexOf(String.fromCharCode(separator), before - 1)
  for (let at = 0; ; ) {
    const end = nextToken(scan, text, at)
    if (end < 0 && !scan.inString) break
    const { start } = scan
    if (scan.separator !== none && scan.separator !== order.separator)
      return placeOf(scan.separator, start)
    if (!order.take(scan)) return start
    const isBracket = isOpening(scan.token) || isClosing(scan.token)
    const endOfValue = scan.token === quote ? endOfLiteral : endOfScalar
    const valid = isBracket ? end : endOfValue(text, start)
    if (valid !== end) return valid < 0 ? ~valid : valid
    at = end
  }
  if (order.isWhole && scan.pending === none) return undefined
  return scan.pending === none || scan.pending === order.separator
    ? text.length
    : placeOf(scan.pending, text.length)
}

/** The end of the number or literal that begins here; where there is none, its beginning. */
function endOfScalar(text: string, at: number): number {
  scalar.lastIndex = at
  return scalar.test(text) ? scalar.lastIndex : at
}

/** Checks the order of the tokens of one JSON value. */
class Order {
  readonly #open: number[] = []
  /**
   * The separator that the next token needs, unless it ends an object or a list. -1: the value has
   * ended.
   */
  #next: number = none

  get separator(): number {
    return this.#next
  }

  get isWhole(): boolean {
    return this.#next === -1
  }

  /** False: JSON does not allow this token here. */
  take({ token, separator }: JsonScan): boolean {
    const open = this.#open
    if (isClosing(token)) {
      // In ASCII, `]` and `}` are the opening bracket plus two.
      if (separator !== none || this.#next === colon || open.pop() !== token - 2) return false
    } else {
      if (separator !== this.#next || token === comma || token === colon) return false
      if (separator !== colon && open[open.length - 1] === openObject) {
        this.#next = colon
        return token === quote
      }
      if (isOpening(token)) {
        open.push(token)
        this.#next = none
        return true
      }
    }
    this.#next = open.length === 0 ? -1 : comma
    return true
  }
}

/** The same as line and column for people, both from 1. */
export function placeOfFault(text: string): { at: number; place: string } {
  const at = jsonFault(text) ?? text.length
  const lines = text.slice(0, at).split('\n')
  return { at, place: `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}` }
}
