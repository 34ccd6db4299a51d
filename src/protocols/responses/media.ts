import type { MediaPart } from '../../canonical/message.ts'
import { hashId } from '../../kit/ids.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { Writing } from './writing.ts'

/** A picture that the model made, as the result of an image generation call. Undefined: it is none, or not here in full. */
export function imageItem({ kind, source, at }: MediaPart, w: Writing): JsonObject | undefined {
  if (kind !== 'image' || source.type !== 'base64') return undefined
  w.report.add('media.as-image-call', at)
  const format = source.mime?.startsWith('image/') ? { output_format: source.mime.slice(6) } : {}
  return {
    type: 'image_generation_call',
    id: w.itemId ? w.itemId(undefined, 'ig_') : `ig_${hashId(source.data)}`,
    status: 'completed',
    result: source.data,
    ...format,
  }
}
