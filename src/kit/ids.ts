import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = alphabet.length

/** The text as UTF-8. ASCII is copied letter by letter, in a fifth of the platform's time. */
function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char > 0x7f) return utf8ToBytes(text)
    bytes[i] = char
  }
  return bytes
}

/** The same text always gives the same id of `length` letters and digits. */
export function hashId(text: string, length = 24): string {
  const rest = wordsOf(sha256(bytesOf(text)))
  let id = ''
  while (id.length < length) {
    // Three letters at a time: a remainder below 62³ before a word of 32 bits is still an exact number.
    const three = divide(rest, base ** 3)
    id += `${alphabet[three % base]}${alphabet[Math.floor(three / base) % base]}${alphabet[Math.floor(three / base ** 2)]}`
  }
  return id.slice(0, length)
}

/** A big number in pieces of 32 bits: a division has an eighth of the steps that single bytes take. */
function wordsOf(bytes: Uint8Array): number[] {
  const words: number[] = []
  for (let i = 0; i < bytes.length; i++) words[i >> 2] = (words[i >> 2] ?? 0) * 256 + (bytes[i] ?? 0)
  return words
}

/** Divides a big number in place and gives the remainder. For numbers of this size faster than BigInt. */
function divide(words: number[], by: number): number {
  let left = 0
  for (let i = 0; i < words.length; i++) {
    const part = left * 2 ** 32 + (words[i] ?? 0)
    const whole = Math.floor(part / by)
    words[i] = whole
    left = part - whole * by
  }
  return left
}

/** The same text gives the same `length` hexadecimal digits, at most 64. */
export function hashHex(text: string, length: number): string {
  let hex = ''
  for (const byte of sha256(bytesOf(text))) hex += byte.toString(16).padStart(2, '0')
  return hex.slice(0, length)
}

/**
 * A call id that a wire accepts: unchanged when it is valid there, else one made from it by hash, so that a call and its
 * result map alike without state. `valid` must match whole ids.
 */
export function mapCallId(id: string, valid: RegExp): string {
  return valid.test(id) ? id : `call_${hashId(id)}`
}

/** A name that a wire accepts: letters, digits, `_` and `-`, at most `limit` long; unchanged when it is valid. */
export function mapName(name: string, limit: number): string {
  if (name.length > 0 && name.length <= limit && /^[A-Za-z0-9_-]+$/.test(name)) return name
  return `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, limit - 9)}_${hashHex(name, 8)}`
}
