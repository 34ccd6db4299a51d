/** Extension of a file's name → its type; of those of one type the usual one stands first. */
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

/** Undefined: the name does not tell. */
export function typeOfFile(name: string | null | undefined): string | undefined {
  return types.get(name?.slice(name.lastIndexOf('.') + 1).toLowerCase() ?? '')
}

/** A name for a file that has none, where a wire demands one. The same every time, so that prompt caches hold. */
export function nameOfFile(type: string): string {
  const plain = type.split(';')[0]
  const [extension] = [...types].find(([, one]) => one === plain) ?? []
  return extension === undefined ? 'file' : `file.${extension}`
}
