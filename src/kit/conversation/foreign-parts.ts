import type { MediaPart, MediaSource, Place, TextPart } from '../../canonical/message.ts'
import { omitUndefined } from '../fields/omit.ts'
import { isObject, type JsonObject, parseJson, without } from '../json/json.ts'
import { type Inline, parseDataUrl, sniff } from '../media/data-url.ts'
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

/**
 * The parts of a text that is the JSON of a list of parts with an inline image, which some clients
 * send as a tool result: read as text, the image costs thousands of times its tokens. Undefined:
 * it is no such text.
 */
export function partsInText(text: string, at: Place): (TextPart | MediaPart)[] | undefined {
  // Each kind of image has the word in its type, and most results are no such list.
  if (!/^\s*\[\s*\{/.test(text) || !text.includes('image')) return undefined
  const list = parseJson(text)
  if (!Array.isArray(list)) return undefined
  const parts: (TextPart | MediaPart)[] = []
  for (const raw of list) {
    const part = isObject(raw) ? inlinePart(raw, at) : undefined
    if (!part) return undefined
    parts.push(part)
  }
  return parts.some(({ type }) => type === 'media') ? parts : undefined
}

const textTypes: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text'])

/** A text or inline image in the form of any protocol, or of MCP. */
function inlinePart(raw: JsonObject, at: Place): TextPart | MediaPart | undefined {
  const { type, text } = raw
  if (textTypes.has(type) && typeof text === 'string') return { type: 'text', text, at }
  const image = inlineImage(raw)
  return image && { type: 'media', kind: 'image', source: { type: 'base64', ...image }, at }
}

function inlineImage(raw: JsonObject): Inline | undefined {
  const { type, image_url: linked, source, data, mimeType } = raw
  if (type === 'input_image' || type === 'image_url') {
    const url = isObject(linked) ? linked['url'] : linked
    return typeof url === 'string' ? parseDataUrl(url) : undefined
  }
  if (type !== 'image') return undefined
  const inline = isObject(source)
    ? { data: source['data'], mime: source['media_type'] }
    : { data, mime: mimeType }
  return typeof inline.data === 'string' && typeof inline.mime === 'string'
    ? { data: inline.data, mime: inline.mime }
    : undefined
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
