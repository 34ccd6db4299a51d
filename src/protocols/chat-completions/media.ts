import type { MediaPart, Place } from '../../canonical/message.ts'
import { TranslationError } from '../../errors.ts'
import { dataUrl, parseDataUrl, sniff } from '../../kit/data-url.ts'
import { defined } from '../../kit/defined.ts'
import { nameOfFile, typeOfFile } from '../../kit/file-types.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { decodeMark, encodeMark } from './cache.ts'
import { ownForm, ownOf, protocolName, splitNulls, under, wireOf } from './own.ts'
import type { ChatAudioPart, ChatFilePart, ChatImagePart } from './schema.ts'
import type { PartWriting } from './writing.ts'

export function decodeImage(wire: ChatImagePart, at: Place): MediaPart {
  const { present: part, nothing } = splitNulls(wire)
  const { type: _, image_url: image, prompt_cache_breakpoint, cache_control, ...unknown } = part
  const { present: picture, nothing: unsaid } = splitNulls(typeof image === 'string' ? { url: image } : image)
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
      { ...unknown, ...under('image_url', { ...inner, ...(known === undefined && detail !== undefined && { detail }) }) },
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

export function decodeAudio(wire: ChatAudioPart, at: Place): MediaPart {
  const { present: part, nothing } = splitNulls(wire)
  const { type: _, input_audio, prompt_cache_breakpoint, cache_control, ...unknown } = part
  const { data, format, ...inner } = input_audio
  return {
    type: 'media',
    kind: 'audio',
    source: { type: 'base64', data, mime: audioMimes.get(format) ?? `audio/${format}` },
    at,
    ...decodeMark({ prompt_cache_breakpoint, cache_control }, { ...unknown, ...under('input_audio', inner) }, { nothing, form: { format } }),
  }
}

/** `file_data` should be a data URL. The type of bare base64 is taken from the file name or the first bytes; if unknown, it is read as a document. */
export function decodeFile(wire: ChatFilePart, at: Place): MediaPart {
  const { present: part, nothing } = splitNulls(wire)
  const { type: _, file, prompt_cache_breakpoint, cache_control, ...unknown } = part
  const { present: held, nothing: unsaid } = splitNulls(file)
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
      { ...unknown, ...under('file', file_data !== undefined && file_id !== undefined ? { ...inner, file_id } : inner) },
      { nothing: { ...nothing, ...under('file', unsaid) }, form: { file } },
    ),
  })
}

const isDocument = (mime: string | undefined) => mime === 'application/pdf' || mime?.startsWith('text/')

// ---- canonical → wire

/** Media → one block, or an empty list with a note if no block type can hold it. For text documents see `content.ts`. */
export function encodeMedia(part: MediaPart, writing: PartWriting): JsonObject[] {
  const { kind, source, at } = part
  const { report, options } = writing
  if (source.type === 'file-id' && (source.issuer !== protocolName || kind === 'image')) {
    if (options.onUnresolvable !== 'note')
      throw new TranslationError({ code: 'inexpressible', protocol: protocolName, path: at ?? '' }, 'a file id means something only to its issuer')
    report.add('file.foreign-id', at)
    return []
  }
  const block = encodeKind(part, writing)
  if (block) return [block]
  report.add('part.unsupported', at)
  return []
}

function encodeKind(part: MediaPart, writing: PartWriting): JsonObject | undefined {
  switch (part.kind) {
    case 'image':
      return encodeImage(part, writing)
    case 'audio':
      return encodeAudio(part, writing)
    case 'video':
      return undefined
    case 'document':
    case 'file':
      return encodeFile(part, writing)
    default:
      return part.kind satisfies never
  }
}

function encodeImage(part: MediaPart, writing: PartWriting): JsonObject | undefined {
  const { source, filename, title, detail, at, ext } = part
  const { report } = writing
  if (source.type !== 'url' && source.type !== 'base64') return undefined
  leave(part, { filename, title }, writing)
  const { image_url } = ownForm(ext) ?? {}
  const came = isObject(image_url) ? image_url['url'] : image_url
  const url = source.type === 'url' ? source.url : dataUrl(source.mime ?? 'image/png', source.data, came)
  if (detail === 'ultra_high') report.add('field.unsupported', at, 'detail')
  const asString = typeof image_url === 'string' && detail === undefined
  const image = asString ? url : { url, ...(detail !== undefined && detail !== 'ultra_high' && { detail }) }
  const block = wireOf({ type: 'image_url', image_url: image, ...encodeMark(part, writing) }, ext)
  if (source.type === 'base64' && source.mime === undefined && url !== came) report.addMade('media.mime', block, asString ? '/image_url' : '/image_url/url')
  return block
}

function encodeAudio(part: MediaPart, writing: PartWriting): JsonObject | undefined {
  const { source, filename, title, detail, ext } = part
  if (source.type !== 'base64') return undefined
  const { format: came } = ownForm(ext) ?? {}
  const format = typeof came === 'string' && (audioMimes.get(came) ?? `audio/${came}`) === source.mime ? came : audioFormats.get(source.mime ?? '')
  if (format === undefined) return undefined
  leave(part, { filename, title, detail }, writing)
  return wireOf({ type: 'input_audio', input_audio: { data: source.data, format }, ...encodeMark(part, writing) }, ext)
}

function encodeFile(part: MediaPart, writing: PartWriting): JsonObject | undefined {
  const { source, filename, title, detail, at, ext } = part
  const { report } = writing
  const own = ownOf(ext) !== undefined
  if (source.type !== 'base64' && source.type !== 'file-id' && !(source.type === 'url' && own)) return undefined
  leave(part, { detail, ...(filename !== undefined && { title }) }, writing)
  const { file } = ownForm(ext) ?? {}
  const came = isObject(file) ? file : {}
  if (filename === undefined && title !== undefined) report.add('media.title-as-filename', at, 'title')
  const isNameless = filename === undefined && title === undefined && source.type === 'base64' && !own
  const known = defined({
    file_data: encodeFileData(source, came['file_data']),
    file_id: source.type === 'file-id' ? source.id || (came['file_id'] === '' ? '' : undefined) : undefined,
    filename: isNameless ? nameOfFile(source.mime ?? 'application/pdf') : (filename ?? title),
  })
  const block = wireOf({ type: 'file', file: known, ...encodeMark(part, writing) }, ext)
  if (source.type === 'base64' && source.mime === undefined && known.file_data !== came['file_data']) report.addMade('media.mime', block, '/file/file_data')
  if (isNameless) report.addMade('media.filename', block, '/file/filename')
  return block
}

function encodeFileData(source: MediaPart['source'], came: unknown): string | undefined {
  if (source.type === 'url') return source.url
  if (source.type !== 'base64') return undefined
  // Bare base64 stays bare, because its type was guessed.
  if (came === source.data) return source.data
  return dataUrl(source.mime ?? 'application/pdf', source.data, came)
}

/** Makes notes for fields that no block type has. `unplaced`: fields that this block type lacks. */
function leave(part: MediaPart, unplaced: object, { report }: PartWriting): void {
  const {
    type: _,
    kind: _kind,
    source: _source,
    filename: _filename,
    title: _title,
    detail: _detail,
    id: _id,
    cache: _cache,
    citations,
    at,
    ext,
    ...rest
  } = part
  report.rest({ ...unplaced, ...rest, ...(citations?.enabled && { citations }) }, at)
  report.ext(ext, at)
}
