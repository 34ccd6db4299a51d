import type { MediaPart, Message, Part } from '../../canonical/message.ts'
import { isDocument } from '../../kit/media/file-types.ts'
import { mapParts } from './map-parts.ts'

/**
 * Media of the kind that their type says: many clients put PDFs, audio and video where their
 * protocol has only images.
 */
export const kindsByType = (messages: Message[]): Message[] =>
  mapParts(messages, part =>
    part.type === 'tool-result' && part.content.some(isMiscast)
      ? { ...part, content: part.content.map(recast) }
      : recast(part),
  )

const isMiscast = (part: Part): boolean => recast(part) !== part

function recast(part: Part): Part {
  if (part.type !== 'media' || part.kind !== 'image' || part.source.type !== 'base64') return part
  const kind = kindOf(part.source.mime)
  return kind === undefined ? part : { ...part, kind }
}

function kindOf(mime = ''): MediaPart['kind'] | undefined {
  if (isDocument(mime)) return 'document'
  if (mime.startsWith('audio/')) return 'audio'
  return mime.startsWith('video/') ? 'video' : undefined
}
