import { isObject } from '../../kit/json/json.ts'
import { byteLength, encoded } from '../../sse/bytes.ts'

/** In tokens. */
const perImage = 1_600
/** In tokens: for the keys and brackets of each list and object. */
const perNode = 3

/**
 * An estimate of a request's input tokens, in any protocol. Rather too high: with a low one clients
 * would exceed the context window.
 */
export function estimateTokens(body: unknown): number {
  if (typeof body === 'string') return tokensOf(body)
  if (Array.isArray(body))
    return body.reduce<number>((sum, item) => sum + estimateTokens(item), 0) + perNode
  if (!isObject(body)) return 1
  let sum = perNode
  for (const [key, value] of Object.entries(body))
    sum += Math.ceil(key.length / 4) + estimateTokens(value)
  return sum
}

/**
 * Three letters per token in Latin scripts, one in others. A long run without spaces is taken for a
 * file and counted as one image.
 */
function tokensOf(text: string): number {
  if (text.length > 2_000 && !/\s/.test(text.slice(0, 2_000))) return perImage
  let dense = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x2e7f) dense++
  return Math.ceil((text.length - dense) / 3) + dense
}

/** The tokens of so many bytes of text. */
export const tokensOfLength = (bytes: number): number => Math.ceil(bytes / 4)

/** In bytes. What has no space in so many is a part of a file. */
const window = 2_000
/** In bytes, of a body that is not JSON: a second of audio, or a part of an image. */
const perMediaToken = 1_000

/**
 * An estimate of the input tokens of a body by its size. It is not parsed: that would take longer
 * than to send it.
 */
export function estimateBody(body: string | Uint8Array, isJson = true): number {
  const length = typeof body === 'string' ? byteLength(body) : body.length
  if (!isJson) return Math.ceil(length / perMediaToken)
  if (length < window) return tokensOfLength(length)
  const bytes = encoded(body)
  let files = 0
  let inFiles = 0
  let isInFile = false
  for (let at = 0; at + window <= bytes.length; at += window) {
    const wasInFile = isInFile
    isInFile = isOfFile(bytes, at, at + window)
    if (!isInFile) continue
    inFiles += window
    if (!wasInFile) files++
  }
  return tokensOfLength(bytes.length - inFiles) + files * perImage
}

/** Is this part base64? Scripts without spaces are not ASCII. */
function isOfFile(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0
    if (byte === 0x20 || byte === 0x22 || byte >= 0x80) return false
  }
  return true
}

/** Keys under which responses of other endpoints have what the model wrote. */
const writtenKeys = new Set(['text', 'delta', 'content', 'transcript', 'arguments'])

/**
 * The length of what a model wrote, in a response or event of any endpoint. Files, vectors and
 * names do not count.
 */
export function writtenIn(value: unknown, isWritten = false): number {
  if (typeof value === 'string') return isWritten ? value.length : 0
  if (Array.isArray(value))
    return value.reduce<number>((sum, item) => sum + writtenIn(item, isWritten), 0)
  if (!isObject(value)) return 0
  let sum = 0
  for (const [key, item] of Object.entries(value)) sum += writtenIn(item, writtenKeys.has(key))
  return sum
}
