import type { MediaPart, MediaSource, Place, TextPart } from '../../canonical/message.ts'
import { omitUndefined } from '../fields/omit.ts'
import { type JsonObject, without } from '../json/json.ts'
import { parseDataUrl, sniff } from '../media/data-url.ts'
import { typeOfFile } from '../media/file-types.ts'

/** `rest`: keys that the part does not hold. */
export type ForeignPart = { part: TextPart | MediaPart; rest: JsonObject }

/**
 * A content part in the form of another protocol, which clients that switch between protocols leave
 * in their history. Undefined: it is of no such form.
 */
export function foreignPart(raw: JsonObject, at: Place, issuer: string): ForeignPart | undefined {
  const { type, text } = raw
  if ((type === 'input_text' || type === 'output_text') && typeof text === 'string')
    return { part: { type: 'text', text, at }, rest: withoutEmpty(without(raw, ['type', 'text'])) }
  const source = sourceOf(raw, issuer)
  if (!source) return undefined
  const { detail, filename } = raw
  const isImage = type === 'input_image'
  const known: MediaPart['detail'] =
    detail === 'auto' || detail === 'low' || detail === 'high' || detail === 'original'
      ? detail
      : undefined
  const read = [
    'type',
    ...source.keys,
    ...(isImage && known ? ['detail'] : []),
    ...(!isImage && typeof filename === 'string' ? ['filename'] : []),
  ]
  const part: MediaPart = isImage
    ? {
        type: 'media',
        kind: 'image',
        source: source.known,
        ...omitUndefined({ detail: known }),
        at,
      }
    : {
        type: 'media',
        kind: 'document',
        source: source.known,
        ...(typeof filename === 'string' && { filename }),
        at,
      }
  return { part, rest: withoutEmpty(without(raw, read)) }
}

type Source = { known: MediaSource; keys: string[] }

function sourceOf(raw: JsonObject, issuer: string): Source | undefined {
  if (raw['type'] === 'input_image') return imageSource(raw, issuer)
  return raw['type'] === 'input_file' ? fileSource(raw, issuer) : undefined
}

function imageSource(
  { image_url: url, file_id: id }: JsonObject,
  issuer: string,
): Source | undefined {
  if (typeof url === 'string') return { known: linked(url), keys: ['image_url'] }
  return stored(id, issuer)
}

function fileSource(
  { file_data: data, file_url: url, file_id: id, filename }: JsonObject,
  issuer: string,
): Source | undefined {
  if (typeof data === 'string') {
    const inline = parseDataUrl(data)
    const mime = typeof filename === 'string' ? typeOfFile(filename) : undefined
    return {
      known: {
        type: 'base64',
        ...(inline ?? { data, mime: mime ?? sniff(data) ?? 'application/pdf' }),
      },
      keys: ['file_data'],
    }
  }
  if (typeof url === 'string') return { known: linked(url), keys: ['file_url'] }
  return stored(id, issuer)
}

function linked(url: string): MediaSource {
  const inline = parseDataUrl(url)
  return inline ? { type: 'base64', ...inline } : { type: 'url', url }
}

const stored = (id: unknown, issuer: string): Source | undefined =>
  typeof id === 'string' ? { known: { type: 'file-id', id, issuer }, keys: ['file_id'] } : undefined

/** Without keys that mean the same as their absence. */
function withoutEmpty(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  )
}
