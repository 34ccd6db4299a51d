import type { MediaPart, Part, TextPart } from '../canonical/message.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Modality } from '../models/model.ts'
import { mapParts } from '../translate/passes/map-parts.ts'
import type { BridgeReport } from './notes.ts'

/** The request with a sentence in place of each medium that the model does not read. */
export function withPlaceholders(
  request: CanonicalRequest,
  input: readonly Modality[],
  report: BridgeReport,
): CanonicalRequest {
  return mapMedia(request, part => {
    if (isRead(part, input)) return part
    report.add('media.placeholder', part.at)
    return placeholder(part)
  })
}

/** The request with another part for each medium, also in results of tools and searches. */
export function mapMedia(
  request: CanonicalRequest,
  change: (part: MediaPart) => Part,
): CanonicalRequest {
  const replaced = (part: Part): Part => {
    if (part.type === 'media') return change(part)
    if (part.type !== 'tool-result' && part.type !== 'search-result') return part
    const key = part.type === 'tool-result' ? 'content' : 'parts'
    const inner: readonly Part[] = part.type === 'tool-result' ? part.content : part.parts
    const changed = inner.map(replaced)
    return changed.every((one, i) => one === inner[i]) ? part : { ...part, [key]: changed }
  }
  const messages = mapParts(request.messages, replaced)
  return messages === request.messages ? request : { ...request, messages }
}

/** Text in a file is text, and a document may be made of parts that are looked at one by one. */
export function isRead({ kind, source }: MediaPart, input: readonly Modality[]): boolean {
  if (source.type === 'text' || source.type === 'parts') return true
  return input.includes(kind === 'document' ? 'file' : kind)
}

const words: Record<MediaPart['kind'], string> = {
  image: 'an image',
  audio: 'audio',
  video: 'a video',
  document: 'a document',
  file: 'a file',
}

function placeholder({ kind, filename, title, transcript, at, cache }: MediaPart): TextPart {
  const name = filename ?? title
  const told = name === undefined ? '' : ` (${name.slice(0, longestName)})`
  const heard = transcript ? ` Its transcript: ${transcript}` : ''
  return {
    type: 'text',
    text: `[Here was ${words[kind]}${told}, which this model cannot read.${heard}]`,
    ...(at !== undefined && { at }),
    ...(cache && { cache }),
  }
}

const longestName = 200
