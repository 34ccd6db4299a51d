import type { MediaPart, Message, OpaquePart, Part } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { decodeCache } from './cache.ts'
import { decodeEnabled } from './citations.ts'
import { keep, nulls, ownForm, ownKeys, ownUnder } from './own.ts'
import type { MessagesBlockOf, MessagesRawBlock } from './schema.ts'
import { name } from './vocabulary.ts'
import { mark, type Writing } from './writing.ts'

/** Images and documents. A document may be made of blocks itself: whoever reads or writes blocks hands in how. */

// ---- wire → canonical

type ReadContent = (content: string | MessagesRawBlock[], at: string) => Part[]

export function decodeMedia(block: MessagesBlockOf<'image' | 'document'>, at: string, read: ReadContent): MediaPart | OpaquePart {
  const { source } = decodeSource(block.source, at, read)
  const isOdd = block.type === 'image' && (source?.known.type === 'text' || source?.known.type === 'parts')
  if (!source || isOdd) return { type: 'opaque', protocol: name, raw: block, at }
  const from = block.source as JsonObject
  const spelled = { source: block.source['type'] === 'content' && typeof from['content'] === 'string' ? 'string' : undefined, more: source.more }
  if (block.type === 'image') {
    const { type: _, source: __, cache_control, ...fields } = block
    const cache = decodeCache(cache_control)
    return {
      type: 'media',
      kind: 'image',
      source: source.known,
      ...cache.known,
      at,
      ...keep({ ...fields, ...cache.fields }, cache.nothing, { ...defined(spelled) }),
    }
  }
  const { type: _, source: __, title, context, citations, cache_control, ...fields } = block
  const cache = decodeCache(cache_control)
  const cited = decodeEnabled(citations)
  return {
    type: 'media',
    kind: 'document',
    source: source.known,
    ...defined({ title: title ?? undefined, context: context ?? undefined }),
    ...cited.known,
    ...cache.known,
    at,
    ...keep({ ...fields, ...cited.fields, ...cache.fields }, { ...nulls({ title, context }), ...cited.nothing, ...cache.nothing }, { ...defined(spelled) }),
  }
}

/** Undefined: a kind of source that nobody modelled. `more`: its unknown keys. */
function decodeSource(wire: MessagesRawBlock, at: string, read: ReadContent): { source?: { known: MediaPart['source']; more?: JsonObject } } {
  const { type, media_type: mime, data, url, file_id: id, content, ...unknown } = wire
  const rest = { ...unknown, ...nulls({ media_type: mime }) }
  const more = Object.keys(rest).length > 0 ? { more: rest } : {}
  const named = typeof mime === 'string' ? { mime } : {}
  if (type === 'base64' && typeof data === 'string') return { source: { known: { type: 'base64', data, ...named }, ...more } }
  if (type === 'text' && typeof data === 'string' && typeof mime === 'string') return { source: { known: { type: 'text', text: data, mime }, ...more } }
  if (type === 'url' && typeof url === 'string') return { source: { known: { type: 'url', url }, ...more } }
  if (type === 'file' && typeof id === 'string') return { source: { known: { type: 'file-id', id, issuer: name }, ...more } }
  if (type === 'content' && (typeof content === 'string' || Array.isArray(content))) {
    const parts = read(content as string | MessagesRawBlock[], `${at}/source/content`)
    return { source: { known: { type: 'parts', parts }, ...more } }
  }
  return {}
}

// ---- canonical → wire

type WriteContent = (parts: readonly Part[]) => MessagesRawBlock[]

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function encodeMedia(part: MediaPart, role: Message['role'], writing: Writing, write: WriteContent): MessagesRawBlock[] {
  const { report, to, native } = writing
  const { type: _, kind, source, filename, title, context, detail, citations, transcript, cache, signature: __, at, ext, ...rest } = part
  const inResult = to === 'client' && role === 'assistant'
  if (kind === 'audio' && transcript) {
    report.add('media.transcript', at)
    return [{ type: 'text', text: transcript }]
  }
  if (inResult && !native && !ext?.[name]) {
    report.add('media.unsupported', at)
    return []
  }
  const block = encodeSource(part, writing, write)
  if (!block) return []
  report.rest({ ...rest, ...(transcript !== undefined && { transcript }) }, at)
  report.ext(ext, at)
  if (detail !== undefined && detail !== 'auto') report.add('media.detail', at, 'detail')
  const wire = { ...ownKeys(part), ...block }
  if (block.type === 'image') {
    if (title !== undefined) report.add('field.unsupported', at, 'title')
    if (filename !== undefined) report.add('field.unsupported', at, 'filename')
    return [{ ...wire, ...mark(cache, part, writing) }]
  }
  if (filename !== undefined && title === undefined) report.add('media.filename-as-title', at, 'filename')
  else if (filename !== undefined && filename !== title) report.add('field.unsupported', at, 'filename')
  if (writing.newest && role === 'assistant') {
    report.add('media.unsupported', at)
    return []
  }
  return [
    {
      ...wire,
      ...defined({ title: title ?? filename, context, citations: citations && { ...ownUnder(part, 'citations'), ...citations } }),
      ...mark(cache, part, writing),
    },
  ]
}

/** The block without its common fields. */
function encodeSource(part: MediaPart, writing: Writing, write: WriteContent): MessagesRawBlock | undefined {
  const { kind, source, at } = part
  const { report } = writing
  const more = ownForm(part)?.['more']
  const extra = isObject(more) ? more : {}
  const type = kind === 'image' ? 'image' : 'document'
  const refuse = () => {
    report.add('media.unsupported', at)
    return undefined
  }
  if (kind === 'audio' || kind === 'video') return refuse()
  switch (source.type) {
    case 'base64': {
      const { mime, data } = source
      const native = part.ext?.[name] !== undefined || writing.native
      if (native) return { type, source: { ...extra, type: 'base64', ...defined({ media_type: mime }), data } }
      const isImage = mime !== undefined && imageTypes.has(mime)
      if (type === 'image' || isImage) return isImage ? { type: 'image', source: { ...extra, type: 'base64', media_type: mime, data } } : refuse()
      if (mime === undefined || mime === 'application/pdf') return { type, source: { ...extra, type: 'base64', media_type: mime ?? 'application/pdf', data } }
      const text = mime.startsWith('text/') || mime === 'application/json' ? fromBase64(data) : undefined
      if (text === undefined) return refuse()
      report.add('media.file-as-document', at)
      return { type, source: { type: 'text', media_type: 'text/plain', data: text } }
    }
    case 'url':
      return { type, source: { ...extra, type: 'url', url: source.url } }
    case 'file-id':
      if (source.issuer === name) return { type, source: { ...extra, type: 'file', file_id: source.id } }
      writing.unresolvable(part)
      return undefined
    case 'text':
      return { type: 'document', source: { ...extra, type: 'text', media_type: source.mime, data: source.text } }
    case 'parts': {
      const first = source.parts[0]
      const plain = ownForm(part)?.['source'] === 'string' ? (first?.type === 'text' ? first.text : '') : undefined
      return { type: 'document', source: { ...extra, type: 'content', content: plain ?? write(source.parts) } }
    }
    case 'reference':
      return refuse()
    default:
      return source satisfies never
  }
}

function fromBase64(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(data), char => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}
