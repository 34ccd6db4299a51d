import { setOwn } from '../../canonical/copy.ts'
import { colon, comma, isClosing, isOpening, nextToken, openList, startScan, word } from './scan.ts'

/**
 * JSON whose numbers keep their digits. JavaScript rounds integers beyond 2^53, which are ids in
 * the arguments of tools and bounds in schemas. The values stay numbers, so that all other code
 * reads them as before; the text of those that were rounded travels with the object or list that
 * they are in, also into its copies by spread.
 */

/** By key: the text of each number that was rounded. */
const digits: unique symbol = Symbol('digits')

type Container = Record<string, unknown> & { [digits]?: Record<string, string> }

/** As `JSON.parse`, for text that `writeExact` may write again. @throws SyntaxError */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (hasLongNumber(text)) markNumbers(value, text)
  return value
}

/** As `JSON.stringify`, with the digits that `parseExact` has read. */
export function writeExact(value: unknown): string {
  const text = JSON.stringify(value)
  return text !== undefined && (hasLongNumber(text) || hasExponent(text))
    ? withDigits(value, text)
    : text
}

/** A copy that was made key by key, with the digits of the same keys. */
export function withDigitsOf<T extends object>(copy: T, from: object): T {
  const known = (from as Container)[digits]
  if (known) (copy as Container)[digits] = known
  return copy
}

/** The JSON text of a member, as `writeExact` writes it in its object. */
export function writeMember(container: object, key: string): string {
  const { [digits]: known, [key]: value } = container as Container
  return textOf(known, key, value) ?? writeExact(value)
}

/** Keeps the text of the numbers that were rounded as `text` was parsed into `value`. */
export function markNumbers(value: unknown, text: string): void {
  const open: Open[] = []
  const scan = startScan()
  for (let at = nextToken(scan, text, 0); at >= 0; at = nextToken(scan, text, at)) {
    const { token, separator, start } = scan
    const around = open[open.length - 1]
    if (isClosing(token)) {
      open.pop()
      continue
    }
    if (around?.isList && separator === comma) around.index++
    if (around && !around.isList && separator !== colon) {
      around.keyStart = start
      around.keyEnd = at
    } else if (isOpening(token))
      open.push({ isList: token === openList, index: 0, keyStart: 0, keyEnd: 0, value: undefined })
    else if (token === word && around) {
      const number = text.slice(start, at)
      if (isRounded(number)) keep(containerIn(open, value, text), keyIn(around, text), number)
    }
  }
}

/**
 * Does every number of this JSON text keep its value when it is parsed? Numbers with many digits,
 * such as long ids, do not.
 */
export function keepsNumbers(text: string): boolean {
  if (!/\d[\d.]{15}|\d[eE]/.test(text)) return true
  const scan = startScan()
  for (let at = nextToken(scan, text, 0); at >= 0; at = nextToken(scan, text, at))
    if (scan.token === word && isRounded(text.slice(scan.start, at))) return false
  return true
}

/** An object or list that is open. `value`: itself, once it was looked up. */
type Open = {
  isList: boolean
  index: number
  keyStart: number
  keyEnd: number
  value: unknown
}

const keyIn = ({ isList, index, keyStart, keyEnd }: Open, text: string): string =>
  isList ? String(index) : (JSON.parse(text.slice(keyStart, keyEnd)) as string)

/** The innermost open value. Each is looked up once. */
function containerIn(open: readonly Open[], root: unknown, text: string): unknown {
  let from = open.length - 1
  while (from > 0 && open[from]?.value === undefined) from--
  for (let nth = from; nth < open.length; nth++) {
    const one = open[nth] as Open
    const outer = open[nth - 1]
    one.value ??= outer ? memberOf(outer.value, keyIn(outer, text)) : root
  }
  return open[open.length - 1]?.value
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Container)[key]
    : undefined

/** Of a key that comes twice, the last value counts. */
function keep(container: unknown, key: string, number: string): void {
  if (typeof container !== 'object' || container === null) return
  const into = container as Container
  if (!Object.is(memberOf(into, key), Number(number))) return
  setOwn(into, key, roundedOf(number))
  into[digits] ??= Object.create(null) as Record<string, string>
  // A slice would keep the whole text in memory.
  into[digits][key] = JSON.parse(`"${number}"`) as string
}

/** A number that is too large would be written as `null`. */
const roundedOf = (text: string): number =>
  Math.max(-Number.MAX_VALUE, Math.min(Number(text), Number.MAX_VALUE))

/** Undefined: the number that stands there is another one. */
function textOf(
  known: Record<string, string> | undefined,
  key: string,
  value: unknown,
): string | undefined {
  const text = typeof value === 'number' ? known?.[key] : undefined
  return text !== undefined && Object.is(roundedOf(text), value) ? text : undefined
}

function withDigits(value: unknown, plain: string): string {
  const mark = unusedIn(plain)
  if (mark === undefined) return plain
  const found: string[] = []
  const marked = JSON.stringify(value, function (this: Container, key, inner: unknown) {
    const text = textOf(this[digits], key, inner)
    return text === undefined ? inner : `${mark}${found.push(text) - 1}`
  })
  return found.length === 0
    ? plain
    : marked.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), (_, nth) => found[Number(nth)] ?? '')
}

/**
 * A mark that the text does not contain. Undefined: it has all that are tried, which a text has by
 * intention alone.
 */
const unusedIn = (text: string): string | undefined =>
  ['~0~', '~1~', '~2~', '~3~', '~4~', '~5~', '~6~', '~7~'].find(mark => !text.includes(mark))

/**
 * Text that may contain a number that is, or was, more than a number can hold: 16 digits in a row.
 * The first eight are spelled out, because such a pattern is searched for in steps of eight, in an
 * eighth of the time of `\d{16}`. Once an integer of more than 21 digits was rounded to fewer
 * digits and zeros, it has an exponent instead.
 */
const longNumber = /\d\d\d\d\d\d\d\d\d{8}/

/** A letter alone is found in a sixth of the time of this pattern, and in a thirtieth of `e+`. */
const hasExponent = (text: string): boolean => text.includes('+') && /\de\+\d\d/.test(text)

const hasLongNumber = (text: string): boolean => longNumber.test(text)

/** Is this a number, and does parsing change its value? */
function isRounded(number: string): boolean {
  const own = digitsOf(number)
  return own !== undefined && own !== digitsOf(String(Number(number)))
}

/**
 * A normal form: the digits without leading and trailing zeros, and the place of the first one.
 * Undefined: no number of JSON.
 */
function digitsOf(number: string): string | undefined {
  const found = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number)
  if (!found) return number === 'Infinity' || number === '-Infinity' ? number : undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = found
  const all = (whole + fraction).replace(/^0+/, '')
  if (all === '') return '0'
  return `${sign}${all.replace(/(?<!0)0+$/, '')}e${Number(exponent) - fraction.length + all.length}`
}
