import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { isSpace, openList, openObject, quote } from '../../kit/json/scan.ts'
import { beginsEnvelope } from '../../kit/signatures/envelope.ts'
import { join, searchable, textOf } from '../../sse/bytes.ts'
import { reject } from '../error.ts'
import { mayHoldAny, mayHoldTwice } from './bytes.ts'

/**
 * The position of a member of the outermost object: of its key, with quotes, and of its value.
 * `cuts`: positions of commas between the items of a list, where it may be split into chunks.
 */
export type Member = {
  keyStart: number
  keyEnd: number
  start: number
  end: number
  cuts?: number[]
}

/** The key itself, without quotes and escapes. */
export function keyOf(bytes: Uint8Array, { keyStart, keyEnd }: Member): string {
  return JSON.parse(textOf(bytes.subarray(keyStart, keyEnd))) as string
}

/**
 * In bytes. Longer members are replaced in the outline; the limit for lists, which are
 * conversations, is smaller.
 */
const short = 4096
const shortList = 64

/**
 * The outermost object of a JSON text. Short members are parsed; a long one is replaced by a
 * placeholder of its kind: `[null]` for a list, `{}` for an object, `''` for a string. Undefined:
 * no object, or not JSON.
 *
 * Finding the members (`membersOf`) checks brackets, commas, colons and literals, and skips
 * strings: 33 µs for 170 KB, while decoding the bytes takes 270 and parsing 130.
 */
export function outlineOf(
  bytes: Uint8Array,
  members: readonly Member[] | undefined,
): JsonObject | undefined {
  if (!members) return undefined
  let text = ''
  let read = 0
  for (const { start, end } of members) {
    const kind = bytes[start]
    if (end - start <= (kind === openList ? shortList : short)) continue
    text += textOf(bytes.subarray(read, start)) + outlineOfKind(kind)
    read = end
  }
  try {
    const value: unknown = JSON.parse(text + textOf(bytes.subarray(read)))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function outlineOfKind(kind: number | undefined): string {
  if (kind === openList) return '[null]'
  return kind === openObject ? '{}' : '""'
}

/**
 * Replaces the value of the outermost key `model` in the bytes of a JSON object. Undefined: the key
 * is not there exactly once. Parsing and serializing would change long numbers and white space.
 */
export function renamed(
  bytes: Uint8Array,
  model: string,
  members: readonly Member[] | undefined = membersOf(bytes),
): Uint8Array<ArrayBuffer> | undefined {
  const [place, ...more] = members?.filter(member => isModel(bytes, member)) ?? []
  if (!place || more.length > 0 || bytes[place.start] !== quote) return undefined
  return spliced(bytes, place, JSON.stringify(model))
}

/**
 * Does the outermost object have the key `model` twice? Some parsers use the first one, others the
 * last.
 */
export function namesTwoModels(bytes: Uint8Array, known?: readonly Member[]): boolean {
  const may = known !== undefined || mayHoldTwice(bytes, '"model"') || mayHoldAny(bytes, ['\\u00'])
  const members = may ? (known ?? membersOf(bytes)) : undefined
  return (members?.filter(member => isModel(bytes, member)).length ?? 0) > 1
}

/** Inserts members at the beginning of a JSON object. */
export function withMembers(bytes: Uint8Array, added: JsonObject): Uint8Array<ArrayBuffer> {
  const start = bytes.indexOf(openObject) + 1
  const isEmpty = bytes[bytes.findIndex((byte, at) => at >= start && !isSpace(byte))] === 0x7d
  return spliced(
    bytes,
    { start, end: start },
    JSON.stringify(added).slice(1, -1) + (isEmpty ? '' : ','),
  )
}

function spliced(
  bytes: Uint8Array,
  { start, end }: { start: number; end: number },
  text: string,
): Uint8Array<ArrayBuffer> {
  const put = new TextEncoder().encode(text)
  return join(
    [bytes.subarray(0, start), put, bytes.subarray(end)],
    bytes.length - (end - start) + put.length,
  )
}

function isModel(bytes: Uint8Array, member: Member): boolean {
  const { keyStart, keyEnd } = member
  const key = bytes.subarray(keyStart, keyEnd)
  if (key.includes(0x5c)) return keyOf(bytes, member) === 'model'
  return key.length === '"model"'.length && textOf(key) === '"model"'
}

/** What may come next: the states of the parser in `membersOf`. */
const aValue = 0
const aValueOrEnd = 1
const aKey = 2
const aKeyOrEnd = 3
const aColon = 4
const aCommaOrEnd = 5

/**
 * What one pass over a JSON text finds. `hasEnvelope`: a value begins as wrapped signatures do; one
 * with escaped letters is not seen.
 */
type Scan = { members: Member[]; hasEnvelope: boolean }

type Most = { values: number; keys: number }

const unlimited: Most = { values: Infinity, keys: Infinity }

function counting(most: Most) {
  let values = 0
  let keys = 0
  const refused = (what: keyof Most) =>
    reject(413, 'too_large', `the body has more than ${most[what]} ${what}`)
  return {
    value() {
      if (++values === most.values) throw refused('values')
    },
    key() {
      if (++keys > most.keys) throw refused('keys')
    },
  }
}

/** The members of the outermost object of a JSON text. Undefined: see `scan`. */
export function membersOf(
  body: Uint8Array,
  limits?: Parameters<typeof scan>[1],
): Member[] | undefined {
  return scan(body, limits)?.members
}

/**
 * Reads the outermost object of a JSON text. `apart`: the minimum number of bytes between two cuts
 * of a list. `most`: values and keys. Undefined: no object, not JSON, or more than `deepest` levels.
 * @throws GatewayError 413 when there are more values or keys than `most`
 */
export function scan(
  body: Uint8Array,
  { deepest = Infinity, most = unlimited, apart = 16 * 1024 } = {},
): Scan | undefined {
  const bytes = searchable(body)
  let hasEnvelope = false
  const count = counting(most)
  const members: Member[] = []
  const open: number[] = []
  let cuts: number[] | undefined
  let cut = 0
  let next = aValue
  let keyStart = 0
  let keyEnd = 0
  let start = 0
  // Decoders remove a byte order mark.
  for (let i = beginsWithMark(bytes) ? 3 : 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (isSpace(byte)) continue
    const { length: depth } = open
    switch (byte) {
      case quote: {
        const end = endOfString(bytes, i + 1)
        if (end === bytes.length || depth === 0) return undefined
        if (next === aKey || next === aKeyOrEnd) {
          if (depth === 1) {
            keyStart = i
            keyEnd = end + 1
          }
          next = aColon
        } else if (next === aValue || next === aValueOrEnd) {
          if (depth === 1) members.push({ keyStart, keyEnd, start: i, end: end + 1 })
          hasEnvelope ||= beginsEnvelope(bytes, i + 1)
          next = aCommaOrEnd
        } else return undefined
        i = end
        break
      }
      case openList:
      case openObject:
        if (next > aValueOrEnd || (depth === 0 && byte === openList) || depth >= deepest)
          return undefined
        if (depth === 1) {
          start = i
          cuts = byte === openList ? [] : undefined
          cut = i
        }
        open.push(byte)
        next = byte === openObject ? aKeyOrEnd : aValueOrEnd
        break
      case 0x5d:
      case 0x7d:
        if (next !== aCommaOrEnd && next !== (byte === 0x7d ? aKeyOrEnd : aValueOrEnd))
          return undefined
        // In ASCII, `]` and `}` are the opening bracket plus two.
        if (open.pop() !== byte - 2) return undefined
        if (depth === 1) return isBlank(bytes, i + 1) ? { members, hasEnvelope } : undefined
        if (depth === 2)
          members.push(
            cuts
              ? { keyStart, keyEnd, start, end: i + 1, cuts }
              : { keyStart, keyEnd, start, end: i + 1 },
          )
        next = aCommaOrEnd
        break
      case 0x2c:
        if (next !== aCommaOrEnd) return undefined
        count.value()
        if (depth === 2 && i - cut >= apart) {
          cuts?.push(i)
          cut = i
        }
        next = open[depth - 1] === openObject ? aKey : aValue
        break
      case 0x3a:
        if (next !== aColon) return undefined
        count.key()
        next = aValue
        break
      default: {
        const end = endOfWord(bytes, i)
        if (next > aValueOrEnd || depth === 0 || end === undefined) return undefined
        if (depth === 1) members.push({ keyStart, keyEnd, start: i, end })
        next = aCommaOrEnd
        i = end - 1
      }
    }
  }
  return undefined
}

/**
 * The positions of the items of a list, found one by one as they are needed. `list`: found by
 * `scan`, so it is valid.
 */
export function* itemsOf(
  body: Uint8Array,
  list: Member,
): Generator<{ start: number; end: number }> {
  const bytes = searchable(body)
  const last = list.end - 1
  let start = list.start + 1
  let depth = 0
  for (let i = start; i < last; i++) {
    const byte = bytes[i]
    if (byte === quote) i = endOfString(bytes, i + 1)
    else if (byte === openList || byte === openObject) depth++
    else if (byte === 0x5d || byte === 0x7d) depth--
    else if (byte === 0x2c && depth === 0) {
      yield { start, end: i }
      start = i + 1
    }
  }
  if (!isBlank(bytes.subarray(0, last), start)) yield { start, end: last }
}

/** The position of the quote that closes a string, or the end of the bytes. */
export function endOfString(bytes: Uint8Array, from: number): number {
  // Most strings are short, and a call of `indexOf` takes as long as looking at some twenty bytes.
  for (let at = from; at < from + 16; at++) {
    if (bytes[at] === quote) return at
    if (bytes[at] === 0x5c) at++
  }
  for (let at = bytes.indexOf(quote, from); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let slashes = 0
    while (bytes[at - 1 - slashes] === 0x5c) slashes++
    if (slashes % 2 === 0) return at
  }
  return bytes.length
}

/** The end of the number, `true`, `false` or `null` that begins here. Undefined: there is none. */
function endOfWord(bytes: Uint8Array, from: number): number | undefined {
  let start = ''
  let at = from
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === 0x2c || byte === 0x5d || byte === 0x7d || byte <= 0x20) break
    if (at < from + 32) start += String.fromCharCode(byte)
  }
  // Letter by letter is fastest for short numbers; a number of megabytes would block the process.
  const word = at - from > start.length ? textOf(bytes.subarray(from, at)) : start
  return /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(word) ? at : undefined
}

const beginsWithMark = (bytes: Uint8Array) =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf

const isBlank = (bytes: Uint8Array, from: number) => bytes.subarray(from).every(isSpace)
