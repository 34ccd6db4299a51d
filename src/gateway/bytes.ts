/** What Node has beyond the platform; edge runtimes may have none of it. */
type Node = {
  isAscii(bytes: Uint8Array): boolean
  isUtf8(bytes: Uint8Array): boolean
  transcode(bytes: Uint8Array, from: 'utf8', to: 'utf16le'): NodeBytes
  Buffer: { from(buffer: ArrayBufferLike, start: number, length: number): NodeBytes }
}
type NodeBytes = Uint8Array & {
  toString(encoding: 'latin1' | 'utf16le'): string
  includes(word: string): boolean
  indexOf(word: string, from?: number): number
}

const node = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process?.getBuiltinModule?.('node:buffer') as Node | undefined

/** Making one costs as much as reading a small body; they keep nothing between two texts that are whole. */
const lenient = new TextDecoder()
const strict = new TextDecoder('utf-8', { fatal: true })

/** What is no UTF-8 becomes `\ufffd`. */
export function textOf(bytes: Uint8Array): string {
  return quickText(bytes) ?? lenient.decode(bytes)
}

/** Undefined: this is no UTF-8. */
export function strictTextOf(bytes: Uint8Array): string | undefined {
  try {
    return quickText(bytes) ?? strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** Do any of these stand in it, or may they? Looked for in bytes that takes 5 µs for 170 KB, and 88 in the text of them. */
export function mayHoldAny(bytes: Uint8Array, words: readonly string[]): boolean {
  if (!node) return true
  const view = viewOf(node, bytes)
  return words.some(word => view.includes(word))
}

/** Does this stand in it more than once, or may it? */
export function mayHoldTwice(bytes: Uint8Array, word: string): boolean {
  if (!node) return true
  const view = viewOf(node, bytes)
  const first = view.indexOf(word)
  return first >= 0 && view.indexOf(word, first + 1) >= 0
}

/** The same bytes, whose `indexOf` is Node's where there is one: 1 µs for 170 KB, and 47 where there is none. */
export function searchable(bytes: Uint8Array): Uint8Array {
  return node ? viewOf(node, bytes) : bytes
}

/** False also where the platform cannot tell. */
export function isAscii(bytes: Uint8Array): boolean {
  return node?.isAscii(bytes) ?? false
}

/** False also where the platform cannot tell. */
export function isUtf8(bytes: Uint8Array): boolean {
  return node?.isUtf8(bytes) ?? false
}

/** One piece alone is given back as it is. */
export function join(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const [only] = chunks
  if (only && chunks.length === 1 && isUnshared(only)) return only
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

const isUnshared = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer

/** For letters beyond ASCII Node's TextDecoder takes five times as long as this: 17 µs for 9 KB; for ASCII 4 µs in place of 0.3 for 12 KB. */
function quickText(bytes: Uint8Array): string | undefined {
  if (!node) return undefined
  if (node.isAscii(bytes)) return viewOf(node, bytes).toString('latin1')
  if (!node.isUtf8(bytes)) return undefined
  const text = node.transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

const viewOf = ({ Buffer }: Node, { buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)
