import type { MediaPart, Part, RefusalPart, TextPart } from '../../canonical/message.ts'
import { TranslationError } from '../../errors.ts'
import { dataUrl, parseDataUrl, sniff } from '../../kit/data-url.ts'
import { defined } from '../../kit/defined.ts'
import { nameOfFile, typeOfFile } from '../../kit/file-types.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import type { Options } from './options.ts'
import { keep, ownForm, ownOf, protocolName, told, under, wireOf } from './own.ts'
import { decodeThinkingBlock, encodeThinkingBlock } from './reasoning.ts'
import type { ChatAudioPart, ChatFilePart, ChatImagePart, ChatPart, ChatRefusalPart, ChatTextPart, ChatThinkingPart } from './schema.ts'
import type { Writing } from './writing.ts'

type Content = string | readonly ChatPart[] | null | undefined

/** `content` of any message; `at` is the message. Null and absence are no parts. */
export function decodeContent(content: Content, at: string): Part[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content, at: `${at}/content` }]
  return content.map((part, i) => decodePart(part, `${at}/content/${i}`))
}

// The casts: the schema has checked each kind, but `ChatPart` also allows unknown kinds with any `type`, so the compiler cannot narrow.
function decodePart(part: ChatPart, at: string): Part {
  switch (part.type) {
    case 'text':
      return decodeText(part as ChatTextPart, at)
    case 'image_url':
      return decodeImage(part as ChatImagePart, at)
    case 'input_audio':
      return decodeAudio(part as ChatAudioPart, at)
    case 'file':
      return decodeFile(part as ChatFilePart, at)
    case 'refusal': {
      const { type, refusal, ...unknown } = part as ChatRefusalPart
      return { type, text: refusal, at, ...keep(unknown, {}, { place: 'content' }) }
    }
    case 'thinking':
      return decodeThinkingBlock(part as ChatThinkingPart, at)
    default:
      return { type: 'opaque', protocol: protocolName, raw: part, at }
  }
}

function decodeText(wire: ChatTextPart, at: string): TextPart {
  const { told: part, nothing } = told(wire)
  const { type, text, prompt_cache_breakpoint, cache_control, ...unknown } = part
  return { type, text, at, ...decodeMark({ prompt_cache_breakpoint, cache_control }, unknown, { nothing }) }
}

function decodeImage(wire: ChatImagePart, at: string): MediaPart {
  const { told: part, nothing } = told(wire)
  const { type: _, image_url: image, prompt_cache_breakpoint, cache_control, ...unknown } = part
  const { told: picture, nothing: unsaid } = told(typeof image === 'string' ? { url: image } : image)
  const { url, detail, ...inner } = picture
  const data = parseDataUrl(url)
  const known: MediaPart['detail'] = detail === 'auto' || detail === 'low' || detail === 'high' || detail === 'original' ? detail : undefined
  return defined({
    type: 'media' as const,
    kind: 'image' as const,
    source: data ? { type: 'base64' as const, ...data } : { type: 'url' as const, url },
    detail: known,
    at,
    ...decodeMark(
      { prompt_cache_breakpoint, cache_control },
      inside('image_url', { ...inner, ...(known === undefined && detail !== undefined && { detail }) }, unknown),
      { nothing: { ...nothing, ...under('image_url', unsaid) }, form: { image_url: image } },
    ),
  })
}

const audioMimes = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
])
const audioFormats = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
])

function decodeAudio(wire: ChatAudioPart, at: string): MediaPart {
  const { told: part, nothing } = told(wire)
  const { type: _, input_audio, prompt_cache_breakpoint, cache_control, ...unknown } = part
  const { data, format, ...inner } = input_audio
  return {
    type: 'media',
    kind: 'audio',
    source: { type: 'base64', data, mime: audioMimes.get(format) ?? `audio/${format}` },
    at,
    ...decodeMark({ prompt_cache_breakpoint, cache_control }, inside('input_audio', inner, unknown), { nothing, form: { format } }),
  }
}

/** `file_data` should be a data URL; bare base64 takes its type from the name of the file or its first bytes. What tells none is taken for a document. */
function decodeFile(wire: ChatFilePart, at: string): MediaPart {
  const { told: part, nothing } = told(wire)
  const { type: _, file, prompt_cache_breakpoint, cache_control, ...unknown } = part
  const { told: held, nothing: unsaid } = told(file)
  const { file_data, file_id, filename, ...inner } = held
  const data = file_data === undefined ? undefined : parseDataUrl(file_data)
  const mime = data ? data.mime : (typeOfFile(filename) ?? sniff(file_data ?? ''))
  const url = file_data !== undefined && /^https?:\/\//.test(file_data)
  let source: MediaPart['source']
  if (file_data === undefined) source = { type: 'file-id', id: file_id ?? '', issuer: protocolName }
  else if (url) source = { type: 'url', url: file_data }
  else source = defined({ type: 'base64' as const, data: data ? data.data : file_data, mime })
  return defined({
    type: 'media' as const,
    kind: source.type === 'base64' && (isDocument(mime) || (mime === undefined && !data)) ? ('document' as const) : ('file' as const),
    source,
    filename,
    at,
    ...decodeMark(
      { prompt_cache_breakpoint, cache_control },
      inside('file', file_data !== undefined && file_id !== undefined ? { ...inner, file_id } : inner, unknown),
      { nothing: { ...nothing, ...under('file', unsaid) }, form: { file } },
    ),
  })
}

const isDocument = (mime: string | undefined) => mime === 'application/pdf' || mime?.startsWith('text/')

/** Unknown keys of an inner object, put where they belong when the outer object is written. */
const inside = (key: string, inner: JsonObject, outer: JsonObject): JsonObject => ({ ...outer, ...under(key, inner) })

type Marks = { prompt_cache_breakpoint?: unknown; cache_control?: unknown }
type Spelled = { nothing: JsonObject; form?: JsonObject }

/** A breakpoint, in the protocol's own spelling or that of servers which took it from the messages protocol; and what else is kept of the node. */
export function decodeMark(marks: Marks, unknown: JsonObject, { nothing, form }: Spelled): Pick<TextPart, 'cache' | 'ext'> {
  const { prompt_cache_breakpoint: breakpoint, cache_control: control } = marks
  const mark = breakpoint ?? control
  const cache = cacheIn(marks)
  if (!cache || !isObject(mark)) return keep(mark === undefined ? unknown : { ...unknown, ...defined(marks) }, nothing, form)
  const key = breakpoint === undefined || breakpoint === null ? 'cache_control' : 'prompt_cache_breakpoint'
  return { cache, ...keep(inside(key, beside(mark, cache), unknown), nothing, { ...form, mark: defined(marks) }) }
}

export function cacheIn({ prompt_cache_breakpoint: breakpoint, cache_control: control }: Marks): TextPart['cache'] {
  const mark = breakpoint ?? control
  if (!isObject(mark)) return undefined
  const { ttl } = mark
  return ttl === '5m' || ttl === '30m' || ttl === '1h' || ttl === '12h' ? { ttl } : {}
}

/** The keys of a cache mark that have no canonical place. */
function beside(mark: JsonObject, { ttl }: NonNullable<TextPart['cache']>): JsonObject {
  const { ttl: told, mode, type, ...rest } = mark
  return defined({
    ...rest,
    ttl: told === null || told === ttl ? undefined : told,
    mode: mode === 'explicit' ? undefined : mode,
    type: type === 'ephemeral' ? undefined : type,
  })
}

/** The breakpoint of a part, as its keys on the wire. */
export function encodeMark(part: Pick<Part, 'cache' | 'at' | 'ext'>, { report, options, native }: Writing): JsonObject {
  if (!part.cache) return {}
  const { mark } = ownForm(part.ext) ?? {}
  if (isObject(mark) && same(cacheIn(mark), part.cache)) return mark
  if (options.ccCacheMarks === 'drop' && !native) {
    report.add('cache.place', part.at, 'cache')
    return {}
  }
  return {
    prompt_cache_breakpoint: defined({
      mode: 'explicit',
      ttl: encodeTtl(part.cache.ttl, () => report.add('cache.ttl', part.at, 'cache.ttl'), options),
    }),
  }
}

/** `30m` and `12h` are the lifetimes of this provider. Others get its default, or with `cacheTtlRound` the next longer one. */
function encodeTtl(ttl: string | undefined, approximated: () => void, { cacheTtlRound }: Options): string | undefined {
  if (ttl === undefined || ttl === '30m' || ttl === '12h') return ttl
  approximated()
  return ttl === '1h' && cacheTtlRound === 'up' ? '12h' : undefined
}

/** Text without anything beside it, which may stand as a plain string. */
export function isPlainText(wire: JsonObject): wire is { type: 'text'; text: string } {
  return wire['type'] === 'text' && typeof wire['text'] === 'string' && Object.keys(wire).length === 2
}

/** Parts of a system, user or tool message → blocks. What has no block here is noted. */
export function encodeParts(parts: readonly Part[], writing: Writing): JsonObject[] {
  return flatMap(parts, part => encodePart(part, writing))
}

function encodePart(part: Part, writing: Writing): JsonObject[] {
  const { report } = writing
  switch (part.type) {
    case 'text': {
      const block = encodeText(part, writing)
      // Text without content vanishes, unless it stood so on this wire.
      return part.text || writing.native ? [block] : []
    }
    case 'refusal':
      return [encodeRefusal(part, writing)]
    case 'media':
      return encodeMedia(part, writing)
    case 'search-result': {
      const { type: _, source, title, parts, citations, at, ext, cache, signature, ...rest } = part
      report.add('document.flattened', at)
      report.ext(ext, at)
      report.rest({ ...rest, ...(citations?.enabled && { citations }), signature }, at)
      const blocks = encodeParts(parts, writing)
      return [{ type: 'text', text: `${title}\n${source}` }, ...withMark(blocks, encodeMark({ ...defined({ cache, at }) }, writing))]
    }
    case 'opaque':
      if (part.protocol === protocolName && isObject(part.raw)) return [{ ...part.raw }]
      report.add('part.unknown', part.at)
      return []
    case 'reasoning': {
      // Some servers have it among the blocks.
      const block = encodeThinkingBlock(part)
      if (block) return [{ ...block }]
      report.add('part.unsupported', part.at)
      return []
    }
    case 'tool-call':
    case 'tool-result':
    case 'server-tool':
    case 'control':
      report.add('part.unsupported', part.at)
      return []
    default:
      return part satisfies never
  }
}

function withMark(blocks: JsonObject[], mark: JsonObject): JsonObject[] {
  // It was made here, and notes on what was made up look for it.
  const last = blocks.at(-1)
  if (last) Object.assign(last, mark)
  return blocks
}

export function encodeText(part: TextPart, writing: Writing): JsonObject {
  const { type, text, at, ext, cache: _, citations, signature, ...rest } = part
  const { report } = writing
  for (const _citation of citations ?? []) report.add('citation.unsupported', at, 'citations')
  if (signature) report.add('reasoning.foreign-signature', at, 'signature')
  report.rest(rest, at)
  report.ext(ext, at)
  return wireOf({ type, text, ...encodeMark(part, writing) }, ext)
}

function encodeRefusal({ text, at, ext, cache, signature, ...rest }: RefusalPart, { report }: Writing): JsonObject {
  const { type: _, ...left } = rest
  report.rest({ ...left, cache, signature }, at)
  report.ext(ext, at)
  return wireOf({ type: 'refusal', refusal: text }, ext)
}

/** Which block holds the media here; none: a note has been made. */
export function encodeMedia(part: MediaPart, writing: Writing): JsonObject[] {
  const { type: _, kind, source, filename, title, context, detail, citations, transcript, id: _id, expiresAt, video, at, ext, cache, signature, ...rest } = part
  const { report, options } = writing
  const leave = (left: object) => {
    report.rest({ ...left, ...rest, context, transcript, expiresAt, video, signature, ...(citations?.enabled && { citations }) }, at)
    report.ext(ext, at)
  }
  const unsupported = () => {
    report.add('part.unsupported', at)
    return []
  }
  const { image_url, format, file } = ownForm(ext) ?? {}

  if (source.type === 'file-id' && (source.issuer !== protocolName || kind === 'image')) {
    if (options.onUnresolvable !== 'note')
      throw new TranslationError({ code: 'inexpressible', protocol: protocolName, path: at ?? '' }, 'a file id means something only to its issuer')
    report.add('file.foreign-id', at)
    return []
  }
  if (source.type === 'reference') return unsupported()
  if (source.type === 'text' || source.type === 'parts') {
    report.add('document.flattened', at)
    leave({})
    const blocks = source.type === 'text' ? [{ type: 'text', text: source.text }] : encodeParts(source.parts, writing)
    const heading = title ?? filename
    return [...(heading === undefined ? [] : [{ type: 'text', text: heading }]), ...withMark(blocks, encodeMark(part, writing))]
  }
  if (kind === 'image') {
    const came = isObject(image_url) ? image_url['url'] : image_url
    const url = source.type === 'url' ? source.url : source.type === 'base64' ? dataUrl(source.mime ?? 'image/png', source.data, came) : ''
    leave({ filename, title })
    if (detail === 'ultra_high') report.add('field.unsupported', at, 'detail')
    const asString = typeof image_url === 'string' && detail === undefined
    const image = asString ? url : { url, ...(detail !== undefined && detail !== 'ultra_high' && { detail }) }
    const block = wireOf({ type: 'image_url', image_url: image, ...encodeMark(part, writing) }, ext)
    if (source.type === 'base64' && source.mime === undefined && url !== came) report.addMade('media.mime', block, asString ? '/image_url' : '/image_url/url')
    return [block]
  }
  if (kind === 'audio') {
    if (source.type !== 'base64') return unsupported()
    const word = typeof format === 'string' && (audioMimes.get(format) ?? `audio/${format}`) === source.mime ? format : audioFormats.get(source.mime ?? '')
    if (word === undefined) return unsupported()
    leave({ filename, title, detail })
    return [wireOf({ type: 'input_audio', input_audio: { data: source.data, format: word }, ...encodeMark(part, writing) }, ext)]
  }
  if (kind === 'video') return unsupported()
  if (source.type === 'url' && !ownOf(ext)) return unsupported()
  leave({ detail, ...(filename !== undefined && { title }) })
  const spelling = isObject(file) ? file : {}
  if (filename === undefined && title !== undefined) report.add('media.title-as-filename', at, 'title')
  const isNameless = filename === undefined && title === undefined && source.type === 'base64' && !ownOf(ext)
  const known = defined({
    file_data: encodeFileData(part, spelling['file_data']),
    file_id: source.type === 'file-id' ? source.id || (spelling['file_id'] === '' ? '' : undefined) : undefined,
    filename: isNameless ? nameOfFile(source.mime ?? 'application/pdf') : (filename ?? title),
  })
  const block = wireOf({ type: 'file', file: known, ...encodeMark(part, writing) }, ext)
  if (source.type === 'base64' && source.mime === undefined && known.file_data !== spelling['file_data']) report.addMade('media.mime', block, '/file/file_data')
  if (isNameless) report.addMade('media.filename', block, '/file/filename')
  return [block]
}

function encodeFileData(part: MediaPart, came: unknown): string | undefined {
  const { source } = part
  if (source.type === 'url') return source.url
  if (source.type !== 'base64') return undefined
  // Bare base64 stays bare: its type was guessed.
  if (came === source.data) return source.data
  return dataUrl(source.mime ?? 'application/pdf', source.data, came)
}
