import { sha256 } from '@noble/hashes/sha2.js'
import type { Place, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = alphabet.length

/**
 * The text as UTF-8. ASCII is copied letter by letter, which is five times as fast as
 * `TextEncoder`.
 */
function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char > 0x7f) return new TextEncoder().encode(text)
    bytes[i] = char
  }
  return bytes
}

const blank = sha256.create()
const hash = sha256.create()
const digest = new Uint8Array(32)

/**
 * The hash of a text; overwritten by the next call. The state is reused, because creating one takes
 * half as long as hashing.
 */
function digestOf(text: string): Uint8Array {
  blank._cloneInto(hash).update(bytesOf(text)).digestInto(digest)
  return digest
}

/**
 * Letters are computed three at a time: the sum of eight 32-bit words, each multiplied by a number
 * below this, is still exact.
 */
const triple = base ** 3

/**
 * What each word of a hash contributes to each triple of letters. Sums are several times as fast as
 * dividing the whole number for each triple.
 */
const weights = Array.from({ length: 8 }, (_, nth) =>
  Array.from({ length: 8 }, (_, word) =>
    Number((2n ** BigInt(32 * (7 - word)) / BigInt(triple) ** BigInt(nth)) % BigInt(triple)),
  ),
)

/** The same text always gives the same id of `length` letters and digits, at most 24. */
export function hashId(text: string, length = 24): string {
  const words = new DataView(digestOf(text).buffer)
  let id = ''
  let sum = 0
  for (const weight of weights) {
    for (let word = 0; word < 8; word++) sum += words.getUint32(4 * word) * (weight[word] ?? 0)
    const whole = Math.floor(sum / triple)
    const left = sum - whole * triple
    id += `${alphabet[left % base]}${alphabet[Math.floor(left / base) % base]}${alphabet[Math.floor(left / base ** 2)]}`
    sum = whole
  }
  return id.slice(0, length)
}

/** The same text gives the same `length` hexadecimal digits, at most 64. */
export function hashHex(text: string, length: number): string {
  let hex = ''
  for (const byte of digestOf(text)) hex += byte.toString(16).padStart(2, '0')
  return hex.slice(0, length)
}

/**
 * A call id that a wire accepts: the id itself when it is valid, else a hash of it, so that a call
 * and its result get the same id without any state. `valid` must match whole ids.
 */
export function mapCallId(id: string, valid: RegExp): string {
  return valid.test(id) ? id : `call_${hashId(id)}`
}

/** The id of a call, or of the call that a result belongs to, unchanged. */
export const idOf = (part: ToolCallPart | ToolResultPart): string =>
  part.type === 'tool-call' ? part.id : part.callId

/** The same id as a response has it; another one is noted. */
export function responseCallId(
  part: ToolCallPart | ToolResultPart,
  valid: RegExp,
  report: { add(code: 'tool-call.id', at: Place | undefined, field: 'id' | 'callId'): void },
): string {
  const id = idOf(part)
  const fitting = mapCallId(id, valid)
  if (fitting !== id)
    report.add('tool-call.id', part.at, part.type === 'tool-call' ? 'id' : 'callId')
  return fitting
}

/**
 * A name of letters, digits, `_` and `-` with at most `limit` of them; unchanged when it is valid,
 * else with a hash.
 */
export function mapName(name: string, limit: number): string {
  if (name.length > 0 && name.length <= limit && /^[A-Za-z0-9_-]+$/.test(name)) return name
  return `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, limit - 9)}_${hashHex(name, 8)}`
}

/** The same with a letter or an underscore in front, and three characters at least. */
export function mapNameByLetter(name: string, limit: number): string {
  const mapped = mapName(name, limit)
  const begun = /^[A-Za-z_]/.test(mapped) ? mapped : `_${mapped.slice(0, limit - 1)}`
  return begun.padEnd(3, '_')
}

/** The same as `mapName` for the property of an argument, which may also hold dots. */
export const mapProperty = (name: string): string =>
  /^[A-Za-z0-9_.-]{1,64}$/.test(name) ? name : mapName(name, 64)

/** An id of nine letters and digits. */
export const shortId = (id: string): string => (/^[A-Za-z0-9]{9}$/.test(id) ? id : hashId(id, 9))
