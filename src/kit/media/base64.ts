/** A text in UTF-8, as base64. */
export function toBase64(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Bytes as base64. */
export function base64Of(bytes: Uint8Array): string {
  let binary = ''
  // In parts, because a call has a limit of arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(binary)
}

/** The bytes in standard base64. @throws DOMException if it is none */
export const bytesIn = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), char => char.charCodeAt(0))

/** URL-safe base64 → standard base64, and back; padding is not changed. */
export const inStandardAlphabet = (data: string): string =>
  data.replaceAll('-', '+').replaceAll('_', '/')
export const inUrlSafeAlphabet = (data: string): string =>
  data.replaceAll('+', '-').replaceAll('/', '_')
