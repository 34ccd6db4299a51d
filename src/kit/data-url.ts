export type Inline = { mime?: string; data: string }

/**
 * `data:<mime>;base64,<data>` and what is sent instead of it: upper case, parameters, percent-encoded data, `image/jpg`.
 * Undefined for any other URL. `mime` absent: neither the URL nor the first bytes tell it.
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

/** A URL as it came, while it still says the same; else the plain one. */
export function dataUrl(mime: string, data: string, came?: unknown): string {
  if (typeof came === 'string') {
    const before = parseDataUrl(came)
    if (before?.data === data && (before.mime ?? mime) === mime) return came
  }
  return `data:${mime};base64,${data}`
}

/** With the URL's parameters where it is text: they tell its encoding. */
function mimeOf(type: string, parameters: readonly string[]): string | undefined {
  if (!type) return undefined
  if (type.startsWith('text/')) return [type, ...parameters].join(';')
  return type === 'image/jpg' ? 'image/jpeg' : type
}

const beginnings: [base64: string, mime: string][] = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi', 'application/pdf'],
]

/** The type that the first bytes of base64 tell. */
export function sniff(data: string): string | undefined {
  // «RIFF», four bytes of length, then «WEBP», of which the first letter shares its group with the length.
  if (data.startsWith('UklGR') && data.slice(12, 16) === 'RUJQ') return 'image/webp'
  return beginnings.find(([start]) => data.startsWith(start))?.[1]
}

/** Percent-encoded bytes; a stray percent sign stands for itself. */
function percentDecodedToBase64(text: string): string {
  let binary = ''
  for (const [whole, hex] of text.matchAll(/%([\da-f]{2})|%|[^%]+/gi))
    if (hex) binary += String.fromCharCode(Number.parseInt(hex, 16))
    else for (const byte of new TextEncoder().encode(whole)) binary += String.fromCharCode(byte)
  return btoa(binary)
}
