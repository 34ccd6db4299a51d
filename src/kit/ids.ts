import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The same text gives the same id of `length` letters and digits, always. */
export function hashId(text: string, length = 24): string {
  let rest = 0n
  for (const byte of sha256(utf8ToBytes(text))) rest = (rest << 8n) | BigInt(byte)
  let id = ''
  while (id.length < length) {
    id += alphabet[Number(rest % 62n)]
    rest /= 62n
  }
  return id
}

export function hashHex(text: string, length: number): string {
  let hex = ''
  for (const byte of sha256(utf8ToBytes(text))) hex += byte.toString(16).padStart(2, '0')
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
