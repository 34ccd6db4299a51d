export type Inline = { mime?: string; data: string }

/**
 * Reads `data:<mime>;base64,<data>` and its variants: upper case, parameters, percent-encoded data,
 * `image/jpg`. Undefined: not a data URL. `mime` absent: neither the URL nor the first bytes show
 * the type.
 */
export function parseDataUrl(url: string): Inline | undefined {
  if (url.slice(0, 5).toLowerCase() !== 'data:') return undefined
  const comma = url.indexOf(',')
  if (comma < 0) return undefined
  const head = url.slice(5, comma).split(';')
  const isBase64 = head.at(-1)?.trim().toLowerCase() === 'base64'
  const [type = '', ...parameters] = isBase64 ? head.slice(0, -1) : head
  const rest = url.slice(comma + 1)
  const data = isBase64 ? rest : percentDecodedToBase64(rest)
  const mime = mimeOf(type.trim().toLowerCase(), parameters) ?? sniff(data)
  return mime ? { mime, data } : { data }
}

/** An object of S3, which only servers of Amazon fetch. */
export const isInS3 = (url: string): boolean => /^s3:\/\//i.test(url)

/** A data URL. `original`: an earlier one, which is returned while it still means the same. */
export function dataUrl(mime: string, data: string, original?: unknown): string {
  if (typeof original === 'string') {
    const before = parseDataUrl(original)
    if (before?.data === data && (before.mime ?? mime) === mime) return original
  }
  return `data:${mime};base64,${data}`
}

/**
 * The type, for text with its parameters, which contain the charset. Undefined: it is none, as in
 * damaged addresses.
 */
function mimeOf(type: string, parameters: readonly string[]): string | undefined {
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(type)) return undefined
  if (type.startsWith('text/')) return [type, ...parameters].join(';')
  return type === 'image/jpg' ? 'image/jpeg' : type
}

const beginnings: [base64: string, mime: string][] = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi', 'application/pdf'],
]

/** The media type, guessed from the first bytes of base64. */
export function sniff(data: string): string | undefined {
  // "RIFF", four bytes of length, "WEBP", whose first letter is in one base64 group with the last
  // byte of the length.
  if (data.startsWith('UklGR') && data.slice(12, 16) === 'RUJQ') return 'image/webp'
  return beginnings.find(([start]) => data.startsWith(start))?.[1]
}

/** Percent-encoded bytes as base64; an invalid escape is taken literally. */
function percentDecodedToBase64(text: string): string {
  let binary = ''
  for (const [whole, hex] of text.matchAll(/%([\da-f]{2})|%|[^%]+/gi))
    if (hex) binary += String.fromCharCode(Number.parseInt(hex, 16))
    else for (const byte of new TextEncoder().encode(whole)) binary += String.fromCharCode(byte)
  return btoa(binary)
}
