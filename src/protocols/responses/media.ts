import type { MediaPart } from '../../canonical/message.ts'
import { hashId } from '../../kit/ids.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { Writing } from './writing.ts'

export type Picture = MediaPart & { source: { type: 'base64' } }

/** A picture that is here in full. */
export const isPicture = (part: MediaPart): part is Picture => part.kind === 'image' && part.source.type === 'base64'

/** A picture that the model made, as the result of an image generation call. */
export function imageItem({ source, at }: Picture, writing: Writing): JsonObject {
  writing.report.add('media.as-image-call', at)
  const format = source.mime?.startsWith('image/') ? { output_format: source.mime.slice(6).replace(/^svg\+xml$/, 'svg') } : {}
  return {
    type: 'image_generation_call',
    id: writing.itemId ? writing.itemId(undefined, 'ig_') : `ig_${hashId(source.data)}`,
    status: 'completed',
    result: source.data,
    ...format,
  }
}

/** The picture that an image generation call resulted in, if it did and is here in full: logs and stores shorten such data. */
export function pictureOf({ result, output_format: format }: JsonObject, at: string): { picture?: MediaPart } {
  if (typeof result !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(result)) return {}
  const mime = `image/${typeof format === 'string' && format !== '' ? format.replace(/^svg$/, 'svg+xml') : 'png'}`
  return { picture: { type: 'media', kind: 'image', source: { type: 'base64', data: result, mime }, at } }
}
