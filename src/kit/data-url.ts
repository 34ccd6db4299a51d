/** `data:<mime>;base64,<data>` → its parts; undefined for any other URL. `mime` absent: the URL names none. */
export function parseDataUrl(url: string): { mime?: string; data: string } | undefined {
  if (!url.startsWith('data:')) return undefined
  const comma = url.indexOf(',')
  if (comma < 0) return undefined
  const head = url.slice(5, comma)
  if (!head.endsWith(';base64')) return undefined
  const mime = head.slice(0, -7)
  const data = url.slice(comma + 1)
  return mime ? { mime, data } : { data }
}

export function dataUrl(mime: string, data: string): string {
  return `data:${mime};base64,${data}`
}
