import type { MediaPart, Place } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { keep, ownForm, ownOf, splitNulls, wireOf } from './own.ts'
import type { ChatAssistantMessage } from './schema.ts'
import type { Writing } from './writing.ts'

/** `audio` of a message → a part. */
export function decodeAudioAnswer(wire: NonNullable<ChatAssistantMessage['audio']>, at: Place): MediaPart {
  const { present: audio, nothing } = splitNulls(wire)
  const { id, data, transcript, expires_at, ...unknown } = audio
  return defined({
    type: 'media' as const,
    kind: 'audio' as const,
    source: data !== undefined ? { type: 'base64' as const, data } : { type: 'reference' as const, id: id ?? '' },
    transcript,
    id: data === undefined ? undefined : id || undefined,
    expiresAt: expires_at,
    at: below(at, 'audio'),
    ...keep(unknown, nothing, { id, place: 'audio' }),
  })
}

/** Audio that is complete in the part, or that the provider of this protocol stores. */
export const isAudible = ({ kind, source }: MediaPart) => kind === 'audio' && (source.type === 'base64' || source.type === 'reference')

/** `audio` of a message: complete in a reply, by id in a request. */
export function encodeAudioAnswer(part: MediaPart, { report }: Pick<Writing, 'report'>): JsonObject {
  const { type: _, kind: _kind, source, transcript, id: known, expiresAt, at, ext, ...rest } = part
  const { mime, ...audio } = source.type === 'base64' ? source : { type: '', data: undefined, mime: undefined }
  report.rest(rest, at)
  if (!ownOf(ext) && mime !== undefined) report.add('audio.type', at, 'mime')
  report.ext(ext, at)
  const { id } = ownForm(ext) ?? {}
  const shown = known ?? (typeof id === 'string' ? id : source.type === 'reference' ? source.id || undefined : undefined)
  if (ownOf(ext)) return wireOf(defined({ id: shown, data: audio.data, transcript, expires_at: expiresAt }), ext)
  return { id: shown ?? 'audio_0', ...defined({ data: audio.data }), expires_at: expiresAt ?? 0, transcript: transcript ?? '' }
}
