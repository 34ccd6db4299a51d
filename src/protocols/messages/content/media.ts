import type { MediaPart, Message, OpaquePart, Part, Place } from '../../../canonical/message.ts'
import { decodeEnabled, unknownOfEnabled } from '../../../kit/fields/enabled.ts'
import { type Keys, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { isInS3, parseDataUrl } from '../../../kit/media/data-url.ts'
import { below } from '../../../kit/notes/path.ts'
import { ownUnder, protocolName, wireOf, withInner } from '../own.ts'
import type { MessagesBlockOf, MessagesRawBlock } from '../schema.ts'
import type { MessagesWrittenBlock, MessagesWrittenBlockOf } from '../written.ts'
import { keepMarked } from './cache.ts'
import { marked, type Writing } from './writing.ts'

/**
 * Images and documents. A document may contain blocks: the caller passes the function that reads or
 * writes them.
 */

// ---- wire → canonical

type ReadContent = (content: string | MessagesRawBlock[], at: Place) => Part[]

const imageKeys = keysOf<MessagesBlockOf<'image'>>()('type source cache_control')
const documentKeys = keysOf<MessagesBlockOf<'document'>>()(
  'type source title context citations cache_control',
)

export function decodeMedia(
  block: MessagesBlockOf<'image' | 'document'>,
  at: Place,
  read: ReadContent,
): MediaPart | OpaquePart {
  const source = decodeSource(block.source, at, read)
  const isOdd = block.type === 'image' && (source?.type === 'text' || source?.type === 'parts')
  if (!source || isOdd) return { type: 'opaque', protocol: protocolName, raw: block, at }
  const inner = withInner(undefined, 'source', unknownOfSource(block.source))
  if (block.type === 'image')
    return keepMarked({ type: 'media', kind: 'image', source, at }, block, imageKeys, inner)
  const { title, context, citations } = block
  const part: MediaPart = omitNullish({
    type: 'media' as const,
    kind: 'document' as const,
    source,
    title,
    context,
    citations: decodeEnabled(citations),
    at,
  })
  return keepMarked(
    part,
    block,
    documentKeys,
    withInner(inner, 'citations', unknownOfEnabled(citations)),
  )
}

/** Unknown keys, and the media type of a text if it is none of a text. */
function unknownOfSource(wire: MessagesRawBlock): JsonObject | undefined {
  const { type, media_type: mime } = wire
  const unknown = unknownOf(wire, sourceKeys[type] ?? noKeys)
  return type === 'text' && textTypeOf(mime) === undefined
    ? { ...unknown, media_type: mime }
    : unknown
}

/**
 * The MIME type of a text source. Undefined: any other, such as `image/png`: text under it would be
 * read as base64. A charset must be UTF-8, as in JSON.
 */
function textTypeOf(mime: unknown): string | undefined {
  return typeof mime === 'string'
    ? /^(text\/[\w.+-]+|application\/json)(?:\s*;\s*charset="?utf-?8"?)?$/i
        .exec(mime.trim())?.[1]
        ?.toLowerCase()
    : undefined
}

const dataKeys = keysOf<{ type: string; media_type: string; data: string }>()(
  'type media_type data',
)
const noKeys = keysOf<{ type: string }>()('type')
const sourceKeys: Record<string, Keys> = {
  base64: dataKeys,
  text: dataKeys,
  url: keysOf<{ type: string; url: string }>()('type url'),
  file: keysOf<{ type: string; file_id: string }>()('type file_id'),
  content: keysOf<{ type: string; content: string }>()('type content'),
}

/** Undefined: an unknown type of source. */
function decodeSource(
  wire: MessagesRawBlock,
  at: Place,
  read: ReadContent,
): MediaPart['source'] | undefined {
  const { type, media_type: mime, data, url, file_id: id, content } = wire
  const isNamed = typeof mime === 'string'
  if (type === 'base64' && typeof data === 'string')
    return { type: 'base64', data, ...(isNamed && { mime }) }
  if (type === 'text' && typeof data === 'string' && isNamed)
    return { type: 'text', text: data, mime: textTypeOf(mime) ?? 'text/plain' }
  // The server fetches no `data:` URLs, but clients that come from other protocols send them.
  if (type === 'url' && typeof url === 'string') return inlineOf(url) ?? { type: 'url', url }
  if (type === 'file' && typeof id === 'string')
    return { type: 'file-id', id, issuer: protocolName }
  if (type === 'content' && (typeof content === 'string' || Array.isArray(content)))
    return {
      type: 'parts',
      parts: read(content as string | MessagesRawBlock[], below(below(at, 'source'), 'content')),
    }
  return undefined
}

function inlineOf(url: string): MediaPart['source'] | undefined {
  const inline = parseDataUrl(url)
  return inline && { type: 'base64', ...inline }
}

// ---- canonical → wire

type WriteContent = (parts: readonly Part[]) => MessagesWrittenBlock[]
type Media = MessagesWrittenBlockOf<'image' | 'document'>

/** In lower case, since MIME types are case-insensitive, and with the official name of JPEG. */
function defaultType(mime: string | undefined): string | undefined {
  const lower = mime?.toLowerCase()
  return lower === 'image/jpg' ? 'image/jpeg' : lower
}

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

const written = keysOf<MediaPart>()(
  'type kind source filename title context detail citations cache signature at ext',
)

export function encodeMedia(
  part: MediaPart,
  role: Message['role'],
  writing: Writing,
  write: WriteContent,
): MessagesWrittenBlock[] {
  const { report, to, native } = writing
  const { kind, filename, title, context, detail, citations, transcript, at, ext } = part
  if (kind === 'audio' && transcript) {
    report.add('media.transcript', at)
    return [{ type: 'text', text: transcript }]
  }
  if (to === 'client') {
    report.add('media.unsupported', at)
    return []
  }
  const block = encodeSource(part, writing, write)
  if (!block) return []
  // The server takes no image in an assistant message.
  if (block.type === 'image' && role === 'assistant' && !native) {
    report.add('media.unsupported', at)
    return []
  }
  report.node(part, written)
  if (detail !== undefined && detail !== 'auto') report.add('media.detail-dropped', at, 'detail')
  if (block.type === 'image') {
    if (title !== undefined) report.add('field.unsupported', at, 'title')
    if (filename !== undefined) report.add('field.unsupported', at, 'filename')
    return [marked(wireOf<MessagesWrittenBlockOf<'image'>>({ ...block }, ext), part, writing)]
  }
  if (filename !== undefined && title === undefined)
    report.add('media.filename-as-title', at, 'filename')
  else if (filename !== undefined && filename !== title)
    report.add('field.unsupported', at, 'filename')
  return [
    marked(
      wireOf<MessagesWrittenBlockOf<'document'>>(
        { ...block, title: title ?? filename, context, citations },
        ext,
      ),
      part,
      writing,
    ),
  ]
}

/** The block without its common fields. */
function encodeSource(part: MediaPart, writing: Writing, write: WriteContent): Media | undefined {
  const { kind, source, at } = part
  const { report } = writing
  const type = kind === 'image' ? 'image' : 'document'
  const refuse = () => {
    report.add('media.unsupported', at)
    return undefined
  }
  if (kind === 'audio' || kind === 'video') return refuse()
  switch (source.type) {
    case 'base64': {
      const { data } = source
      if (writing.native)
        return {
          type,
          source: { type: 'base64', ...omitUndefined({ media_type: source.mime }), data },
        }
      const mime = defaultType(source.mime)
      const isImage = mime !== undefined && imageTypes.has(mime)
      if (type === 'image' || isImage)
        return isImage
          ? { type: 'image', source: { type: 'base64', media_type: mime, data } }
          : (convert(part, mime, data, writing) ?? refuse())
      if (mime === undefined || mime === 'application/pdf') {
        const written = { type: 'base64' as const, media_type: 'application/pdf', data }
        if (mime === undefined) report.addMade('media.mime', written, '/media_type')
        return { type, source: written }
      }
      const text =
        mime.startsWith('text/') || mime === 'application/json'
          ? fromBase64(data, /;\s*charset="?([\w-]+)/i.exec(mime)?.[1])
          : undefined
      if (text === undefined) return refuse()
      report.add('media.file-as-document', at)
      return { type, source: { type: 'text', media_type: 'text/plain', data: text } }
    }
    case 'url':
      // A malformed `data:` URL, or an object of S3: the server fetches neither.
      if (
        !writing.native &&
        (/^data:/i.test(source.url) ||
          isInS3(source.url) ||
          !fetches(type, defaultType(source.mime)))
      )
        return refuse()
      return { type, source: { type: 'url', url: source.url } }
    case 'file-id':
      if (source.issuer === protocolName)
        return { type, source: { type: 'file', file_id: source.id } }
      writing.unresolvable(part)
      return undefined
    case 'text':
      return {
        type: 'document',
        source: {
          media_type: source.mime,
          ...ownUnder(part.ext, 'source'),
          type: 'text',
          data: source.text,
        },
      }
    case 'parts':
      return { type: 'document', source: { type: 'content', content: write(source.parts) } }
    case 'reference':
      return refuse()
    default:
      return source satisfies never
  }
}

/**
 * Does the server fetch a URL of this type? Of documents it fetches only PDFs. Undefined: the type
 * is unknown, which counts as yes.
 */
function fetches(type: 'image' | 'document', mime: string | undefined): boolean {
  return (
    mime === undefined || (type === 'image' ? imageTypes.has(mime) : mime === 'application/pdf')
  )
}

/**
 * The image converted by the option `convertMedia`. Undefined: not converted, or not to a type that
 * the server takes.
 */
function convert(
  { at }: MediaPart,
  mime: string | undefined,
  data: string,
  { convertMedia, report }: Writing,
): Media | undefined {
  const made = mime === undefined ? undefined : convertMedia?.({ mime, data })
  if (!made || !imageTypes.has(made.mime)) return undefined
  report.add('media.converted', at)
  return { type: 'image', source: { type: 'base64', media_type: made.mime, data: made.data } }
}

function fromBase64(data: string, charset = 'utf-8'): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(
      Uint8Array.from(atob(data), char => char.charCodeAt(0)),
    )
  } catch {
    return undefined
  }
}
