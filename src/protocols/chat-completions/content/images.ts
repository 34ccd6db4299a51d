import type { MediaPart, Place } from '../../../canonical/message.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import type { ChatCompletionsBlock, ChatCompletionsImagePart } from '../schema.ts'
import { decodeImage, encodeMedia } from './media.ts'
import type { PartWriting } from './writing.ts'

/** Images of a response, which OpenRouter puts into a field next to its text. */

/** Undefined: `images` is no list of images. */
export function decodeImages(images: unknown, at: Place): MediaPart[] | undefined {
  if (!Array.isArray(images) || images.length === 0 || !images.every(isImage)) return undefined
  return images.map(({ index, ...image }, i) =>
    decodeImage(
      // The number only counts the images.
      typeof index === 'number' ? image : { ...image, index },
      below(below(at, 'images'), i),
    ),
  )
}

function isImage(image: unknown): image is ChatCompletionsImagePart & { index?: unknown } {
  if (!isObject(image) || image['type'] !== 'image_url') return false
  const { image_url: inner } = image
  return typeof inner === 'string' || (isObject(inner) && typeof inner['url'] === 'string')
}

/**
 * The entries of `images`. An empty list: the image has no place, and a note was made. `index`: the
 * number of images before it.
 */
export function encodeImage(
  part: MediaPart,
  index: number,
  writing: PartWriting,
): ChatCompletionsBlock[] {
  const { report, native } = writing
  const { source } = part
  const empty = source.type === 'base64' && source.data === ''
  // Only the provider of a file id has the file; the rest of the response is worth more.
  const isElsewhere = source.type === 'file-id' && !native
  if (part.kind !== 'image' || empty || isElsewhere) {
    report.add('part.unsupported', part.at)
    return []
  }
  const entries = encodeMedia(part, writing)
  if (entries.length > 0 && !native) report.add('media.images-field', part.at)
  // Notes about a new entry find it by its identity; those of this protocol are the caller's.
  return entries.map((entry, i) =>
    Object.assign(native ? { ...entry } : entry, { index: index + i }),
  )
}
