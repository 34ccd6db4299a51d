/** File extension → media type. The default extension of a type comes first. */
const types = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
])

/** The media type by the extension. Undefined: no known extension. */
export function typeOfFile(name: string | null | undefined): string | undefined {
  return types.get(name?.slice(name.lastIndexOf('.') + 1).toLowerCase() ?? '')
}

/** The extension in an address, in lower case. Empty: there is none. */
export function extensionOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1)
  return path.slice(path.lastIndexOf('.') + 1 || path.length).toLowerCase()
}

/**
 * A name for a file without one, for wires that require it. Always the same for a type, so that
 * prompt caches hit.
 */
export function nameOfFile(type: string): string {
  const plain = type.split(';')[0]
  const [extension] = [...types].find(([, one]) => one === plain) ?? []
  return extension === undefined ? 'file' : `file.${extension}`
}

/** Is it the type of a document, which a model reads as text or pages? */
export const isDocument = (mime: string | undefined): boolean =>
  mime === 'application/pdf' || mime?.startsWith('text/') === true
