import type { MediaPart, MediaSource, Part, Place } from '../../canonical/message.ts'
import { TranslationError } from '../../errors.ts'
import { toBase64 } from '../../kit/base64.ts'
import { dataUrl, parseDataUrl } from '../../kit/data-url.ts'
import { defined } from '../../kit/defined.ts'
import { nameOfFile, typeOfFile } from '../../kit/file-types.ts'
import { hashId } from '../../kit/ids.ts'
import type { JsonObject } from '../../kit/json.ts'
import { decodeMark, encodeMark } from './cache.ts'
import type { ResponsesReport } from './notes.ts'
import { keep, nulls, ownForm, protocolName, wireOf } from './own.ts'
import type { ResponsesInputAudio, ResponsesInputFile, ResponsesInputImage } from './schema.ts'
import type { Writing } from './writing.ts'

const details = new Map<unknown, NonNullable<MediaPart['detail']>>([
  ['auto', 'auto'],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'original'],
])

export function decodeImage(wire: ResponsesInputImage, at: Place): Part {
  const { type: _, image_url: url, file_id: id, detail, prompt_cache_breakpoint: breakpoint, ...rest } = wire
  const source: MediaSource | undefined =
    typeof url === 'string' ? decodeUrl(url) : typeof id === 'string' ? { type: 'file-id', id, issuer: protocolName } : undefined
  if (!source) return { type: 'opaque', protocol: protocolName, raw: wire, at }
  return decodedMedia('image', source, {
    detail,
    breakpoint,
    rest: typeof url === 'string' && typeof id === 'string' ? { ...rest, file_id: id } : rest,
    wire,
    at,
    form: oddUrl(url, source),
  })
}

function decodeUrl(url: string): MediaSource {
  const inline = parseDataUrl(url)
  return inline ? { type: 'base64', ...inline } : { type: 'url', url }
}

/** The data URL, if it is not spelled as the encoder would write it. */
function oddUrl(url: unknown, source: MediaSource): JsonObject {
  return source.type === 'base64' && url !== dataUrl(source.mime ?? '', source.data) ? { url } : {}
}

export function decodeFile(wire: ResponsesInputFile, at: Place, report?: ResponsesReport): Part {
  const { type: _, file_data: data, file_url: url, file_id: id, filename, detail, prompt_cache_breakpoint: breakpoint, ...rest } = wire
  const others: JsonObject = { ...rest }
  let source: MediaSource
  let form: JsonObject = {}
  if (typeof data === 'string') {
    const inline = parseDataUrl(data)
    if (inline) {
      source = { type: 'base64', ...inline }
      form = oddUrl(data, source)
    } else {
      const known = typeOfFile(filename)
      if (!known) report?.add('media.guessed', at, 'file_data')
      source = { type: 'base64', data, mime: known ?? 'application/pdf' }
      form = { bare: true }
    }
    if (typeof url === 'string') others['file_url'] = url
    if (typeof id === 'string') others['file_id'] = id
  } else if (typeof url === 'string') {
    source = decodeUrl(url)
    if (source.type === 'base64') form = { inlineUrl: true, ...oddUrl(url, source) }
    if (typeof id === 'string') others['file_id'] = id
  } else if (typeof id === 'string') source = { type: 'file-id', id, issuer: protocolName }
  else return { type: 'opaque', protocol: protocolName, raw: wire, at }
  return { ...decodedMedia('document', source, { detail, breakpoint, rest: others, wire, at, form }), ...(typeof filename === 'string' && { filename }) }
}

type MediaRest = { detail: unknown; breakpoint: JsonObject | null | undefined; rest: JsonObject; wire: JsonObject; at: Place; form?: JsonObject }

function decodedMedia(kind: MediaPart['kind'], source: MediaSource, { detail: word, breakpoint, rest, wire, at, form }: MediaRest): MediaPart {
  const detail = details.get(word)
  const { cache, form: marked, unread } = decodeMark(breakpoint)
  const fields = { ...rest, ...(typeof word === 'string' && !detail && { detail: word }), ...unread }
  return { type: 'media', kind, source, ...defined({ detail }), ...cache, at, ...keep(fields, nulls(wire), { ...marked, ...form }) }
}

export function decodeAudio(wire: ResponsesInputAudio, at: Place): Part {
  const { type: _, input_audio: audio, ...rest } = wire
  const { data, format, ...more } = audio
  const fields = Object.keys(more).length > 0 ? { ...rest, input_audio: more } : rest
  return {
    type: 'media',
    kind: 'audio',
    source: { type: 'base64', data, mime: format === 'mp3' ? 'audio/mpeg' : `audio/${format}` },
    at,
    ...keep(fields, {}, {}),
  }
}

// ---- canonical → wire

/** Media of a request. Undefined: this protocol has no form for it, which is noted. @throws TranslationError `inexpressible` for another provider's file */
export function encodeMedia(part: MediaPart, writing: Writing): JsonObject | undefined {
  const { type: _, kind, source, filename, title, detail, cache: _cache, at, ext, signature, ...rest } = part
  const { report } = writing
  report.ext(ext, at)
  if (signature) report.add('signature.unplaced', at, 'signature')
  if (kind === 'audio') return encodeAudio(part, writing)
  if (kind === 'video') return encodeVideo(part, writing)
  const place = encodeSource(part, writing)
  if (!place) return undefined
  report.rest(rest, at)
  const form = ownForm(part.ext)
  const breakpoint = encodeMark(part, writing)
  const isGuessed = source.type === 'base64' && !source.mime && !form
  if (kind === 'image') {
    report.rest({ filename, title }, at)
    if (detail === 'ultra_high') report.add('media.detail', at, 'detail')
    const word = detail === 'ultra_high' ? 'original' : (detail ?? (form ? undefined : 'auto'))
    const wire = wireOf({ type: 'input_image', ...place, detail: word, prompt_cache_breakpoint: breakpoint }, part.ext)
    if (isGuessed) report.addMade('media.mime', wire, '/image_url')
    return wire
  }
  if (filename !== undefined) report.rest({ title }, at)
  else if (title !== undefined) report.add('media.title-as-filename', at, 'title')
  const isNameless = filename === undefined && title === undefined && 'file_data' in place && !form
  const name = isNameless
    ? nameOfFile((source.type === 'base64' || source.type === 'text' ? source.mime : undefined) ?? 'application/pdf')
    : (filename ?? title)
  const wire = wireOf({ type: 'input_file', filename: name, ...place, detail, prompt_cache_breakpoint: breakpoint }, part.ext)
  if (isGuessed) report.addMade('media.mime', wire, '/file_data')
  if (isNameless) report.addMade('media.filename', wire, '/filename')
  return wire
}

function encodeSource(part: MediaPart, writing: Writing): JsonObject | undefined {
  const { kind, source, at } = part
  const image = kind === 'image'
  switch (source.type) {
    case 'base64': {
      const form = ownForm(part.ext)
      if (form?.['bare']) return { file_data: source.data }
      const url = dataUrl(source.mime ?? (form ? '' : image ? 'image/png' : 'application/pdf'), source.data, form?.['url'])
      return image ? { image_url: url } : form?.['inlineUrl'] ? { file_url: url } : { file_data: url }
    }
    case 'url':
      return image ? { image_url: source.url } : { file_url: source.url }
    case 'file-id':
      if (source.issuer === protocolName) return { file_id: source.id }
      if (writing.options.onUnresolvable !== 'note')
        throw new TranslationError({ code: 'inexpressible', protocol: protocolName, path: at ?? '' }, 'a file id is valid only where it was issued')
      writing.report.add('file.foreign-id', at)
      return undefined
    case 'text':
      return { file_data: dataUrl(source.mime, toBase64(source.text)) }
    case 'parts':
    case 'reference':
      writing.report.add('media.unsupported', at)
      return undefined
    default:
      return source satisfies never
  }
}

function encodeAudio(part: MediaPart, writing: Writing): JsonObject | undefined {
  const { source, at } = part
  if (source.type !== 'base64' || (!ownForm(part.ext) && !writing.options.rsInputAudio)) {
    writing.report.add('media.unsupported', at)
    return undefined
  }
  leave(part, writing)
  const format = source.mime === undefined || source.mime === 'audio/mpeg' ? 'mp3' : source.mime.replace(/^audio\/(x-)?/, '')
  return wireOf({ type: 'input_audio', input_audio: { data: source.data, format } }, part.ext)
}

function encodeVideo(part: MediaPart, writing: Writing): JsonObject | undefined {
  const { source, at } = part
  const url = source.type === 'url' ? source.url : source.type === 'base64' ? dataUrl(source.mime ?? 'video/mp4', source.data) : undefined
  if (!writing.options.openResponses || url === undefined) {
    writing.report.add('media.unsupported', at)
    return undefined
  }
  leave(part, writing)
  return { type: 'input_video', video_url: url }
}

/** Notes what audio and video have no field for. */
function leave(part: MediaPart, { report, moved }: Writing): void {
  const { type: _, kind: _kind, source: _source, cache, at, ext: _ext, signature: _signature, ...rest } = part
  report.rest(rest, at)
  if (cache) report.add('cache.place', moved.has(part) ? moved.get(part) : at, 'cache')
}

// ---- images made by the model

export type Picture = MediaPart & { source: { type: 'base64' } }

/** An image with inline data. */
export const isPicture = (part: MediaPart): part is Picture => part.kind === 'image' && part.source.type === 'base64'

/** An image made by the model, as an `image_generation_call` item. */
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

/** The image of an image generation call. Absent: there is none, or its data is not whole base64, because logs and stores shorten it. */
export function pictureOf({ result, output_format: format }: JsonObject, at: Place): { picture?: MediaPart } {
  if (typeof result !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(result)) return {}
  const mime = `image/${typeof format === 'string' && format !== '' ? format.replace(/^svg$/, 'svg+xml') : 'png'}`
  return { picture: { type: 'media', kind: 'image', source: { type: 'base64', data: result, mime }, at } }
}
