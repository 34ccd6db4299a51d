/** A text in UTF-8, as base64. */
export function toBase64(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** URL-safe base64 → standard base64, and back; padding is not changed. */
export const inStandardAlphabet = (data: string): string => data.replaceAll('-', '+').replaceAll('_', '/')
export const inUrlSafeAlphabet = (data: string): string => data.replaceAll('+', '-').replaceAll('/', '_')
