import type { MediaPart, MediaSource, Part, Place } from '../../../canonical/message.ts'
import { TranslationError } from '../../../errors.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { type Keys, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { toBase64 } from '../../../kit/media/base64.ts'
import { dataUrl, isInS3, parseDataUrl } from '../../../kit/media/data-url.ts'
import { nameOfFile, typeOfFile } from '../../../kit/media/file-types.ts'
import { fieldsOf, keep, protocolName, type ResponsesReport, wireOf } from '../own.ts'
import type { ResponsesInputAudio, ResponsesInputFile, ResponsesInputImage } from '../schema.ts'
import type { ResponsesContentOf, ResponsesItemOf, ResponsesMedia } from '../written.ts'
import { decodeMark, encodeMark, type Writing } from './writing.ts'

const details = new Map<unknown, NonNullable<MediaPart['detail']>>([
  ['auto', 'auto'],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'original'],
])

const imageKeys = keysOf<ResponsesInputImage>()(
  'type image_url file_id detail prompt_cache_breakpoint',
)
const fileKeys = keysOf<ResponsesInputFile>()(
  'type file_data file_url file_id filename detail prompt_cache_breakpoint',
)
const audioKeys = keysOf<ResponsesInputAudio>()('type input_audio')

export function decodeImage(wire: ResponsesInputImage, at: Place): Part {
  const { image_url: url, file_id: id } = wire
  if (typeof url === 'string')
    return decodedMedia(
      { type: 'media', kind: 'image', source: decodeUrl(url), at },
      wire,
      imageKeys,
      id != null ? { file_id: id } : undefined,
    )
  if (typeof id === 'string')
    return decodedMedia({ type: 'media', kind: 'image', source: fileOf(id), at }, wire, imageKeys)
  return { type: 'opaque', protocol: protocolName, raw: wire, at }
}

const fileOf = (id: string): MediaSource => ({ type: 'file-id', id, issuer: protocolName })

function decodeUrl(url: string): MediaSource {
  const inline = parseDataUrl(url)
  return inline ? { type: 'base64', ...inline } : { type: 'url', url }
}

export function decodeFile(wire: ResponsesInputFile, at: Place, report?: ResponsesReport): Part {
  const { file_data: data, file_url: url, file_id: id, filename } = wire
  let source: MediaSource
  if (typeof data === 'string') source = decodeData(data, filename, at, report)
  else if (typeof url === 'string') source = decodeUrl(url)
  else if (typeof id === 'string') source = fileOf(id)
  else return { type: 'opaque', protocol: protocolName, raw: wire, at }
  const part: MediaPart = { type: 'media', kind: 'document', source, at }
  if (typeof filename === 'string') part.filename = filename
  // Of several sources, the first one is used.
  const others = {
    ...(data != null && url != null && { file_url: url }),
    ...((data ?? url) != null && id != null && { file_id: id }),
  }
  return decodedMedia(part, wire, fileKeys, omitUndefinedOrNone(others))
}

/** A data URL, or base64 alone. */
function decodeData(
  data: string,
  filename: string | null | undefined,
  at: Place,
  report: ResponsesReport | undefined,
): MediaSource {
  const inline = parseDataUrl(data)
  if (inline) return { type: 'base64', ...inline }
  const mime = typeOfFile(filename)
  if (!mime) report?.add('media.guessed', at, 'file_data')
  return { type: 'base64', data, mime: mime ?? 'application/pdf' }
}

function decodedMedia(
  part: MediaPart,
  wire: ResponsesInputImage | ResponsesInputFile,
  known: Keys,
  others?: JsonObject,
): MediaPart {
  const { detail: word, prompt_cache_breakpoint: breakpoint } = wire
  const detail = details.get(word)
  if (detail) part.detail = detail
  const unread = decodeMark(part, breakpoint)
  const isOdd = others ?? unread ?? (!detail && word != null)
  return keep(
    part,
    unknownOf(wire, known),
    isOdd ? { ...others, ...(!detail && word != null && { detail: word }), ...unread } : undefined,
  )
}

export function decodeAudio(wire: ResponsesInputAudio, at: Place): Part {
  const { data, format, ...more } = wire.input_audio
  const mime = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`
  const part: MediaPart = {
    type: 'media',
    kind: 'audio',
    source: { type: 'base64', data, mime },
    at,
  }
  return keep(
    part,
    unknownOf(wire, audioKeys),
    omitUndefinedOrNone({ input_audio: omitUndefinedOrNone(more) }),
  )
}

// ---- canonical → wire

const handled = keysOf<MediaPart>()('type kind source filename title detail cache at ext signature')

/**
 * Media of a request. Undefined: this protocol has no form for it, which is noted.
 * @throws TranslationError `inexpressible` for another provider's file
 */
export function encodeMedia(part: MediaPart, writing: Writing): ResponsesMedia | undefined {
  const { kind, source, filename, title, detail, at, ext } = part
  const { report } = writing
  report.ext(ext, at)
  if (part.signature) report.add('signature.unplaced', at, 'signature')
  if (kind === 'audio') return encodeAudio(part, writing)
  if (kind === 'video') {
    report.add('media.unsupported', at)
    return undefined
  }
  const place = encodeSource(part, writing)
  if (!place) return undefined
  report.unwritten(part, handled, at)
  const breakpoint = encodeMark(part, writing)
  const isGuessed = source.type === 'base64' && !source.mime
  if (kind === 'image') {
    report.rest({ filename, title }, at)
    if (detail === 'ultra_high') report.add('media.detail', at, 'detail')
    const word =
      detail === 'ultra_high'
        ? 'original'
        : (detail ?? (fieldsOf(ext)?.['detail'] === undefined ? 'auto' : undefined))
    const wire = wireOf<ResponsesContentOf<'input_image'>>(
      { type: 'input_image', ...place, detail: word, prompt_cache_breakpoint: breakpoint },
      ext,
    )
    if (isGuessed) report.addMade('media.mime', wire, '/image_url')
    return wire
  }
  if (filename !== undefined) report.rest({ title }, at)
  else if (title !== undefined) report.add('media.title-as-filename', at, 'title')
  const isNameless = filename === undefined && title === undefined && 'file_data' in place
  const name = isNameless
    ? nameOfFile(
        (source.type === 'base64' || source.type === 'text' ? source.mime : undefined) ??
          'application/pdf',
      )
    : (filename ?? title)
  const wire = wireOf<ResponsesContentOf<'input_file'>>(
    { type: 'input_file', filename: name, ...place, detail, prompt_cache_breakpoint: breakpoint },
    ext,
  )
  if (isGuessed) report.addMade('media.mime', wire, '/file_data')
  if (isNameless) report.addMade('media.filename', wire, '/filename')
  return wire
}

/** Where the data of an image or file is. */
type Source = { image_url?: string; file_data?: string; file_url?: string; file_id?: string }

function encodeSource({ kind, source, at }: MediaPart, writing: Writing): Source | undefined {
  const isImage = kind === 'image'
  switch (source.type) {
    case 'base64': {
      const url = dataUrl(source.mime ?? (isImage ? 'image/png' : 'application/pdf'), source.data)
      return isImage ? { image_url: url } : { file_data: url }
    }
    case 'url':
      if (!writing.native && isInS3(source.url)) {
        writing.report.add('media.unsupported', at)
        return undefined
      }
      return isImage ? { image_url: source.url } : { file_url: source.url }
    case 'file-id':
      if (source.issuer === protocolName) return { file_id: source.id }
      if (writing.options.onUnresolvable !== 'note')
        throw new TranslationError(
          { code: 'inexpressible', protocol: protocolName, path: at ?? '' },
          "only the provider of a file id has the file: pass `resolveFile`, or set `onUnresolvable: 'note'`",
        )
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

function encodeAudio(part: MediaPart, writing: Writing): ResponsesMedia | undefined {
  const { source, at } = part
  if (source.type !== 'base64' || !writing.native) {
    writing.report.add('media.unsupported', at)
    return undefined
  }
  leave(part, writing)
  const format =
    source.mime === undefined || source.mime === 'audio/mpeg'
      ? 'mp3'
      : source.mime.replace(/^audio\/(x-)?/, '')
  return wireOf<ResponsesContentOf<'input_audio'>>(
    { type: 'input_audio', input_audio: { data: source.data, format } },
    part.ext,
  )
}

const handledOfClip = keysOf<MediaPart>()('type kind source cache at ext signature')

/** Notes what audio and video have no field for. */
function leave(part: MediaPart, { report, moved }: Writing): void {
  report.unwritten(part, handledOfClip, part.at)
  if (part.cache)
    report.add('cache.unsupported', moved.has(part) ? moved.get(part) : part.at, 'cache')
}

// ---- images made by the model

export type InlineImage = MediaPart & { source: { type: 'base64' } }

/** An image with inline data. */
export const isInlineImage = (part: MediaPart): part is InlineImage =>
  part.kind === 'image' && part.source.type === 'base64'

/** An image made by the model, as an `image_generation_call` item. */
export function imageItem(
  { source, at }: InlineImage,
  writing: Writing,
): ResponsesItemOf<'image_generation_call'> {
  writing.report.add('media.as-image-call', at)
  const format = source.mime?.startsWith('image/')
    ? { output_format: source.mime.slice(6).replace(/^svg\+xml$/, 'svg') }
    : {}
  return {
    type: 'image_generation_call',
    id: writing.itemId ? writing.itemId(undefined, 'ig_') : `ig_${hashId(source.data)}`,
    status: 'completed',
    result: source.data,
    ...format,
  }
}

/**
 * The image of an image generation call. Absent: there is none, or its data is not whole base64,
 * because logs and stores shorten it.
 */
export function imageOf(
  { result, output_format: format }: JsonObject,
  at: Place,
): { image?: MediaPart } {
  if (typeof result !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(result)) return {}
  const mime = `image/${typeof format === 'string' && format !== '' ? format.replace(/^svg$/, 'svg+xml') : 'png'}`
  return {
    image: { type: 'media', kind: 'image', source: { type: 'base64', data: result, mime }, at },
  }
}
