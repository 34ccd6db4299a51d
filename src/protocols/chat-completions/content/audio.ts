import type { MediaPart, Place } from '../../../canonical/message.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { below } from '../../../kit/notes/path.ts'
import { keep, wireOf } from '../own.ts'
import type { ChatCompletionsAssistantMessage, ChatCompletionsAudio } from '../schema.ts'
import type { Writing } from './writing.ts'

const known = keysOf<NonNullable<ChatCompletionsAssistantMessage['audio']>>()(
  'id data transcript expires_at',
)

/** `audio` of a message → a part. */
export function decodeAudioOutput(
  wire: NonNullable<ChatCompletionsAssistantMessage['audio']>,
  at: Place,
): MediaPart {
  const { id, data, transcript, expiresAt } = omitNullish({
    id: wire.id,
    data: wire.data,
    transcript: wire.transcript,
    expiresAt: wire.expires_at,
  })
  const source: MediaPart['source'] =
    data === undefined ? { type: 'reference', id: id ?? '' } : { type: 'base64', data }
  const part = omitUndefined({
    type: 'media' as const,
    kind: 'audio' as const,
    source,
    transcript,
    id: id || undefined,
    expiresAt,
    at: below(at, 'audio'),
  })
  return keep<MediaPart>(part, unknownOf(wire, known))
}

/** Audio that is complete in the part, or that the provider of this protocol stores. */
export const isAudible = ({ kind, source }: MediaPart) =>
  kind === 'audio' && (source.type === 'base64' || source.type === 'reference')

const handled = keysOf<MediaPart>()('type kind source transcript id expiresAt at ext')

/** `audio` of a message: complete in a response, by id in a request. */
export function encodeAudioOutput(
  part: MediaPart,
  { report, native }: Pick<Writing, 'report' | 'native'>,
): ChatCompletionsAudio {
  const { source, transcript, id, expiresAt, at, ext } = part
  report.node(part, handled)
  if (source.type === 'base64' && source.mime !== undefined) report.add('audio.type', at, 'mime')
  const shown = id ?? (source.type === 'reference' ? source.id || undefined : undefined)
  const data = source.type === 'base64' ? source.data : undefined
  if (native)
    return wireOf<ChatCompletionsAudio>({ id: shown, data, transcript, expires_at: expiresAt }, ext)
  return {
    id: shown ?? 'audio_0',
    ...omitUndefined({ data }),
    expires_at: expiresAt ?? 0,
    transcript: transcript ?? '',
  }
}
