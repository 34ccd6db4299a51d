import type { MediaPart } from '../../../canonical/message.ts'
import { takeName, type UsedNames } from '../../../kit/text/free-names.ts'

/** The most characters of a name. */
const longest = 200

/**
 * The name of a document as the server takes it: letters, digits, single spaces, hyphens and
 * brackets. `isChanged`: not only the extension is gone.
 */
function nameOf({ filename, title }: MediaPart): { name: string; isChanged: boolean } {
  const given = (filename || title || '').replace(/\.[^./\\]{1,10}$/, '')
  const name = given
    .normalize('NFC')
    .replaceAll(/[^A-Za-z0-9()[\]-]+/g, ' ')
    .trim()
    .slice(0, longest)
    .trim()
  return { name: name || 'document', isChanged: given !== '' && name !== given }
}

/**
 * The same, unlike the other names in the request, to which it is added. A later document gets a
 * number.
 */
export function documentName(
  part: MediaPart,
  used: UsedNames,
): { name: string; isChanged: boolean } {
  const { name, isChanged } = nameOf(part)
  const stem = name.slice(0, longest - 8)
  const free = takeName(used, name, stem, nth => `${stem}-${nth}`)
  return {
    name: free,
    isChanged: isChanged || (free !== name && (part.filename ?? part.title) !== undefined),
  }
}
