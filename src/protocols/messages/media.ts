import type { MediaPart, Message, OpaquePart, Part, Place } from '../../canonical/message.ts'
import { dataUrl, parseDataUrl } from '../../kit/data-url.ts'
import { defined, some } from '../../kit/defined.ts'
import { type JsonObject, without } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { decodeMark } from './cache.ts'
import { decodeEnabled } from './citations.ts'
import { keep, nulls, ownForm, ownOf, ownUnder, protocolName, splitNulls, under, wireOf } from './own.ts'
import type { MessagesBlockOf, MessagesRawBlock } from './schema.ts'
import { marked, type Writing } from './writing.ts'

/** Images and documents. A document may contain blocks: the caller passes the function that reads or writes them. */

// ---- wire → canonical

type ReadContent = (content: string | MessagesRawBlock[], at: Place) => Part[]

export function decodeMedia(block: MessagesBlockOf<'image' | 'document'>, at: Place, read: ReadContent): MediaPart | OpaquePart {
  const source = decodeSource(block.source, at, read)
  const isOdd = block.type === 'image' && (source?.known.type === 'text' || source?.known.type === 'parts')
  if (!source || isOdd) return { type: 'opaque', protocol: protocolName, raw: block, at }
  const { url, content, media_type: mediaType } = block.source as JsonObject
  const { known } = source
  const spelled = some({
    mediaType: known.type === 'text' && known.mime !== mediaType && known.mime === textTypeOf(mediaType) ? mediaType : undefined,
    source: known.type === 'parts' && typeof content === 'string' ? 'string' : undefined,
    url: known.type === 'base64' && block.source.type === 'url' ? url : undefined,
  })
  const { present: held, nothing } = splitNulls(block)
  if (held.type === 'image') {
    const { type: _, source: __, cache_control, ...fields } = held
    const cache = decodeMark(cache_control)
    return {
      type: 'media',
      kind: 'image',
      source: source.known,
      ...cache.known,
      at,
      ...keep({ ...fields, ...source.unknown, ...cache.fields }, { ...nothing, ...source.nothing, ...cache.nothing }, spelled),
    }
  }
  const { type: _, source: __, title, context, citations, cache_control, ...fields } = held
  const cache = decodeMark(cache_control)
  const cited = decodeEnabled(citations)
  return {
    type: 'media',
    kind: 'document',
    source: source.known,
    ...defined({ title, context }),
    ...cited.known,
    ...cache.known,
    at,
    ...keep({ ...fields, ...source.unknown, ...cited.fields, ...cache.fields }, { ...nothing, ...source.nothing, ...cited.nothing, ...cache.nothing }, spelled),
  }
}

/** `unknown`: unknown keys; `nothing`: keys that are null. */
type Source = { known: MediaPart['source']; unknown: JsonObject; nothing: JsonObject }

/** Undefined: an unknown type of source. */
function decodeSource(wire: MessagesRawBlock, at: Place, read: ReadContent): Source | undefined {
  const known = readSource(wire, at, read)
  if (!known) return undefined
  const modelled = sourceKeys.get(wire.type) ?? []
  const rest = without(wire, ['type', ...modelled])
  const unread = known.type === 'text' && textTypeOf(wire['media_type']) === undefined ? { ...rest, media_type: wire['media_type'] } : rest
  return { known, unknown: under('source', unread), nothing: under('source', nulls(wire)) }
}

/** The MIME type of a text source. Undefined: any other, such as `image/png`: text under it would be read as base64. A charset must be UTF-8, as in JSON. */
function textTypeOf(mime: unknown): string | undefined {
  return typeof mime === 'string' ? /^(text\/[\w.+-]+|application\/json)(?:\s*;\s*charset="?utf-?8"?)?$/i.exec(mime.trim())?.[1]?.toLowerCase() : undefined
}

const sourceKeys = new Map([
  ['base64', ['media_type', 'data']],
  ['text', ['media_type', 'data']],
  ['url', ['url']],
  ['file', ['file_id']],
  ['content', ['content']],
])

function readSource(wire: MessagesRawBlock, at: Place, read: ReadContent): MediaPart['source'] | undefined {
  const { type, media_type: mime, data, url, file_id: id, content } = wire
  const isNamed = typeof mime === 'string'
  if (type === 'base64' && typeof data === 'string') return { type: 'base64', data, ...(isNamed && { mime }) }
  if (type === 'text' && typeof data === 'string' && isNamed) return { type: 'text', text: data, mime: textTypeOf(mime) ?? 'text/plain' }
  // The server fetches no `data:` URLs, but clients that come from other protocols send them.
  if (type === 'url' && typeof url === 'string') return inlineOf(url) ?? { type: 'url', url }
  if (type === 'file' && typeof id === 'string') return { type: 'file-id', id, issuer: protocolName }
  if (type === 'content' && (typeof content === 'string' || Array.isArray(content)))
    return { type: 'parts', parts: read(content as string | MessagesRawBlock[], below(below(at, 'source'), 'content')) }
  return undefined
}

function inlineOf(url: string): MediaPart['source'] | undefined {
  const inline = parseDataUrl(url)
  return inline && { type: 'base64', ...inline }
}

// ---- canonical → wire

type WriteContent = (parts: readonly Part[]) => MessagesRawBlock[]

/** In lower case, since MIME types are case-insensitive, and with the official name of JPEG. */
function usualType(mime: string | undefined): string | undefined {
  const lower = mime?.toLowerCase()
  return lower === 'image/jpg' ? 'image/jpeg' : lower
}

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function encodeMedia(part: MediaPart, role: Message['role'], writing: Writing, write: WriteContent): MessagesRawBlock[] {
  const { report, to, native } = writing
  const { type: _, kind, source, filename, title, context, detail, citations, transcript, cache, signature: __, at, ext, ...rest } = part
  const inResult = to === 'client' && role === 'assistant'
  if (kind === 'audio' && transcript) {
    report.add('media.transcript', at)
    return [{ type: 'text', text: transcript }]
  }
  if (inResult && !native && !ownOf(ext)) {
    report.add('media.unsupported', at)
    return []
  }
  const block = encodeSource(part, writing, write)
  if (!block) return []
  // The server takes no image in an assistant message.
  if (block.type === 'image' && role === 'assistant' && !native && !ownOf(ext)) {
    report.add('media.unsupported', at)
    return []
  }
  report.rest({ ...rest, ...(transcript !== undefined && { transcript }) }, at)
  report.ext(ext, at)
  if (detail !== undefined && detail !== 'auto') report.add('media.detail', at, 'detail')
  if (block.type === 'image') {
    if (title !== undefined) report.add('field.unsupported', at, 'title')
    if (filename !== undefined) report.add('field.unsupported', at, 'filename')
    return [marked(wireOf({ ...block }, ext), part, writing)]
  }
  if (filename !== undefined && title === undefined) report.add('media.filename-as-title', at, 'filename')
  else if (filename !== undefined && filename !== title) report.add('field.unsupported', at, 'filename')
  if (writing.newest && role === 'assistant') {
    report.add('media.unsupported', at)
    return []
  }
  return [marked(wireOf({ ...block, title: title ?? filename, context, citations }, ext), part, writing)]
}

/** The block without its common fields. */
function encodeSource(part: MediaPart, writing: Writing, write: WriteContent): MessagesRawBlock | undefined {
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
      const native = ownOf(part.ext) !== undefined || writing.native
      const came = ownForm(part.ext)?.['url']
      if (typeof came === 'string') return { type, source: { type: 'url', url: dataUrl(source.mime ?? '', data, came) } }
      if (native) return { type, source: { type: 'base64', ...defined({ media_type: source.mime }), data } }
      const mime = usualType(source.mime)
      const isImage = mime !== undefined && imageTypes.has(mime)
      if (type === 'image' || isImage)
        return isImage ? { type: 'image', source: { type: 'base64', media_type: mime, data } } : (convert(part, mime, data, writing) ?? refuse())
      if (mime === undefined || mime === 'application/pdf') {
        const written = { type: 'base64', media_type: 'application/pdf', data }
        if (mime === undefined) report.addMade('media.mime', written, '/media_type')
        return { type, source: written }
      }
      const text = mime.startsWith('text/') || mime === 'application/json' ? fromBase64(data, /;\s*charset="?([\w-]+)/i.exec(mime)?.[1]) : undefined
      if (text === undefined) return refuse()
      report.add('media.file-as-document', at)
      return { type, source: { type: 'text', media_type: 'text/plain', data: text } }
    }
    case 'url':
      // A malformed `data:` URL; the server fetches no `data:` URLs.
      if (!writing.native && !ownOf(part.ext) && (/^data:/i.test(source.url) || !fetches(type, usualType(source.mime)))) return refuse()
      return { type, source: { type: 'url', url: source.url } }
    case 'file-id':
      if (source.issuer === protocolName) return { type, source: { type: 'file', file_id: source.id } }
      writing.unresolvable(part)
      return undefined
    case 'text':
      return { type: 'document', source: { media_type: spelledType(part, source.mime), ...ownUnder(part.ext, 'source'), type: 'text', data: source.text } }
    case 'parts': {
      const first = source.parts[0]
      const plain = ownForm(part.ext)?.['source'] === 'string' ? (first?.type === 'text' ? first.text : '') : undefined
      return { type: 'document', source: { type: 'content', content: plain ?? write(source.parts) } }
    }
    case 'reference':
      return refuse()
    default:
      return source satisfies never
  }
}

/** Does the server fetch a URL of this type? Of documents it fetches only PDFs. Undefined: the type is unknown, which counts as yes. */
function fetches(type: 'image' | 'document', mime: string | undefined): boolean {
  return mime === undefined || (type === 'image' ? imageTypes.has(mime) : mime === 'application/pdf')
}

/** The media type as it was on the wire, if it still means `mime`. */
function spelledType(part: MediaPart, mime: string): unknown {
  const came = ownForm(part.ext)?.['mediaType']
  return textTypeOf(came) === mime ? came : mime
}

/** The image converted by the option `convertMedia`. Undefined: not converted, or not to a type that the server takes. */
function convert({ at }: MediaPart, mime: string | undefined, data: string, { convertMedia, report }: Writing): MessagesRawBlock | undefined {
  const made = mime === undefined ? undefined : convertMedia?.({ mime, data })
  if (!made || !imageTypes.has(made.mime)) return undefined
  report.add('media.converted', at)
  return { type: 'image', source: { type: 'base64', media_type: made.mime, data: made.data } }
}

function fromBase64(data: string, charset = 'utf-8'): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(Uint8Array.from(atob(data), char => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}
