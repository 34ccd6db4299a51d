/**
 * U+2028 and U+2029 in JSON text → their escapes. Clients that split frames with a pattern whose
 * dot does not match these characters, such as Google's SDK, lose the frame otherwise. `includes`
 * costs nothing for texts of Latin letters alone.
 */
export function escapeLineSeparators(json: string): string {
  if (!json.includes('\u2028') && !json.includes('\u2029')) return json
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

export const isLineSeparator = (code: number) => code === 0x2028 || code === 0x2029

const escapes = { 168: '\\u2028', 169: '\\u2029' } as const

/** The same for UTF-8, of whole frames. */
export function escapeLineSeparatorBytes(bytes: Uint8Array): Uint8Array {
  const found: number[] = []
  for (let at = bytes.indexOf(0xe2); at >= 0; at = bytes.indexOf(0xe2, at + 1))
    if (bytes[at + 1] === 0x80 && (bytes[at + 2] === 0xa8 || bytes[at + 2] === 0xa9)) found.push(at)
  if (found.length === 0) return bytes
  const out = new Uint8Array(bytes.length + 3 * found.length)
  let from = 0
  let to = 0
  for (const at of found) {
    out.set(bytes.subarray(from, at), to)
    to += at - from
    for (const char of escapes[bytes[at + 2] as keyof typeof escapes])
      out[to++] = char.charCodeAt(0)
    from = at + 3
  }
  out.set(bytes.subarray(from), to)
  return out
}
