import type { MediaPart, Place } from '../../../canonical/message.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject } from '../../../kit/json/json.ts'
import { dataUrl, isInS3, parseDataUrl, sniff } from '../../../kit/media/data-url.ts'
import { isDocument, nameOfFile, typeOfFile } from '../../../kit/media/file-types.ts'
import { below } from '../../../kit/notes/path.ts'
import { keep, protocolName, wireOf, withInner } from '../own.ts'
import type {
  ChatCompletionsAssistantMessage,
  ChatCompletionsAudioPart,
  ChatCompletionsFilePart,
  ChatCompletionsImagePart,
} from '../schema.ts'
import type {
  ChatCompletionsAudio,
  ChatCompletionsBlock,
  ChatCompletionsBlockOf,
} from '../written.ts'
import { encodeMark, type Marks, type PartWriting, readMark, type Writing } from './writing.ts'

const knownOfImage = keysOf<ChatCompletionsImagePart & Marks>()(
  'type image_url prompt_cache_breakpoint cache_control',
)
const knownInImage = keysOf<{ url: string; detail: unknown }>()('url detail')
const details: ReadonlySet<unknown> = new Set<MediaPart['detail']>([
  'auto',
  'low',
  'high',
  'original',
])

export function decodeImage(wire: ChatCompletionsImagePart, at: Place): MediaPart {
  const image = typeof wire.image_url === 'string' ? { url: wire.image_url } : wire.image_url
  const data = parseDataUrl(image.url)
  const part: MediaPart = {
    type: 'media',
    kind: 'image',
    source: data ? { type: 'base64', ...data } : { type: 'url', url: image.url },
    at,
  }
  const { detail } = image
  const isKnown = details.has(detail)
  if (isKnown) part.detail = detail as NonNullable<MediaPart['detail']>
  const inner = unknownOf(image, knownInImage)
  const left = isKnown || detail === undefined || detail === null ? inner : { ...inner, detail }
  return readMark(part, wire, withInner(unknownOf(wire, knownOfImage), 'image_url', left))
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

const knownOfAudio = keysOf<ChatCompletionsAudioPart & Marks>()(
  'type input_audio prompt_cache_breakpoint cache_control',
)
const knownInAudio = keysOf<ChatCompletionsAudioPart['input_audio']>()('data format')

export function decodeAudio(wire: ChatCompletionsAudioPart, at: Place): MediaPart {
  const { data, format } = wire.input_audio
  const source: MediaPart['source'] = {
    type: 'base64',
    data,
    mime: audioMimes.get(format) ?? `audio/${format}`,
  }
  const fields = withInner(
    unknownOf(wire, knownOfAudio),
    'input_audio',
    unknownOf(wire.input_audio, knownInAudio),
  )
  return readMark<MediaPart>({ type: 'media', kind: 'audio', source, at }, wire, fields)
}

const knownOfFile = keysOf<ChatCompletionsFilePart & Marks>()(
  'type file prompt_cache_breakpoint cache_control',
)
const knownInFile = keysOf<ChatCompletionsFilePart['file']>()('file_data file_id filename')

/**
 * `file_data` should be a data URL. The type of bare base64 is taken from the file name or the
 * first bytes; if unknown, it is read as a document.
 */
export function decodeFile(wire: ChatCompletionsFilePart, at: Place): MediaPart {
  const { file } = wire
  const { file_data, file_id, filename } = omitNullish({
    file_data: file.file_data,
    file_id: file.file_id,
    filename: file.filename,
  })
  const data = file_data === undefined ? undefined : parseDataUrl(file_data)
  const mime = data ? data.mime : (typeOfFile(filename) ?? sniff(file_data ?? ''))
  let source: MediaPart['source']
  if (file_data === undefined) source = { type: 'file-id', id: file_id ?? '', issuer: protocolName }
  else if (isLink(file_data)) source = { type: 'url', url: file_data }
  else source = omitUndefined({ type: 'base64' as const, data: data ? data.data : file_data, mime })
  const isRead = source.type === 'base64' && (isDocument(mime) || (mime === undefined && !data))
  const part: MediaPart = { type: 'media', kind: isRead ? 'document' : 'file', source, at }
  if (filename !== undefined) part.filename = filename
  const inner = unknownOf(file, knownInFile)
  const left = file_data !== undefined && file_id !== undefined ? { ...inner, file_id } : inner
  return readMark(part, wire, withInner(unknownOf(wire, knownOfFile), 'file', left))
}

const isLink = (text: string) => /^https?:\/\//.test(text)

// ---- canonical → wire

/**
 * Media → one block, or an empty list with a note if no block type can hold it. For text documents
 * see `content.ts`.
 */
export function encodeMedia(part: MediaPart, writing: PartWriting): ChatCompletionsBlock[] {
  const { kind, source, at } = part
  const { report, options, native } = writing
  // There is no field for videos, wherever they are.
  if (
    source.type === 'file-id' &&
    kind !== 'video' &&
    (source.issuer !== protocolName || (kind === 'image' && !native))
  ) {
    if (options.onUnresolvable !== 'note')
      throw new TranslationError(
        { code: 'inexpressible', protocol: protocolName, path: at ?? '' },
        "only the provider of a file id has the file: pass `resolveFile`, or set `onUnresolvable: 'note'`",
      )
    report.add('file.foreign-id', at)
    return []
  }
  const block = encodeKind(part, writing)
  if (block) return [block]
  report.add('part.unsupported', at)
  return []
}

function encodeKind(part: MediaPart, writing: PartWriting): ChatCompletionsBlock | undefined {
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

function encodeImage(part: MediaPart, writing: PartWriting): ChatCompletionsBlock | undefined {
  const { source, filename, title, detail, at, ext } = part
  const { report } = writing
  const isStored = source.type === 'file-id'
  if (source.type !== 'url' && source.type !== 'base64' && !isStored) return undefined
  if (source.type === 'url' && !writing.native && isInS3(source.url)) return undefined
  leave(part, { filename, title }, writing)
  // A client has left this form of another protocol in its history, and the own protocol has none.
  if (isStored)
    return wireOf<ChatCompletionsBlockOf<'input_image'>>(
      { type: 'input_image', file_id: source.id, detail, ...encodeMark(part, writing) },
      ext,
    )
  const url = source.type === 'url' ? source.url : dataUrl(source.mime ?? 'image/png', source.data)
  const isFiner = detail === 'ultra_high' || (detail === 'original' && !writing.native)
  if (isFiner) report.add('media.detail', at, 'detail')
  const image = detail === undefined ? { url } : { url, detail: isFiner ? 'high' : detail }
  const block = wireOf<ChatCompletionsBlockOf<'image_url'>>(
    { type: 'image_url', image_url: image, ...encodeMark(part, writing) },
    ext,
  )
  if (source.type === 'base64' && source.mime === undefined)
    report.addMade('media.mime', block, '/image_url/url')
  return block
}

function encodeAudio(part: MediaPart, writing: PartWriting): ChatCompletionsBlock | undefined {
  const { source, filename, title, detail, ext } = part
  if (source.type !== 'base64') return undefined
  const { mime = '' } = source
  const format =
    audioFormats.get(mime) ??
    (writing.native && mime.startsWith('audio/') ? mime.slice('audio/'.length) : undefined)
  if (format === undefined) return undefined
  leave(part, { filename, title, detail }, writing)
  return wireOf<ChatCompletionsBlockOf<'input_audio'>>(
    {
      type: 'input_audio',
      input_audio: { data: source.data, format },
      ...encodeMark(part, writing),
    },
    ext,
  )
}

/** A file that is only an id has no data. */
function dataOf(source: MediaPart['source']): string | undefined {
  if (source.type === 'base64') return dataUrl(source.mime ?? 'application/pdf', source.data)
  return source.type === 'url' ? source.url : undefined
}

function encodeFile(part: MediaPart, writing: PartWriting): ChatCompletionsBlock | undefined {
  const { source, filename, title, detail, at, ext } = part
  const { report, native } = writing
  if (source.type !== 'base64' && source.type !== 'file-id' && !(source.type === 'url' && native))
    return undefined
  leave(part, { detail, ...(filename !== undefined && { title }) }, writing)
  if (filename === undefined && title !== undefined)
    report.add('media.title-as-filename', at, 'title')
  const isNameless =
    filename === undefined && title === undefined && source.type === 'base64' && !native
  const file = omitUndefined<ChatCompletionsBlockOf<'file'>['file']>({
    file_data: dataOf(source),
    file_id: source.type === 'file-id' ? source.id : undefined,
    filename: isNameless
      ? nameOfFile((source.type === 'base64' && source.mime) || 'application/pdf')
      : (filename ?? title),
  })
  const block = wireOf<ChatCompletionsBlockOf<'file'>>(
    { type: 'file', file, ...encodeMark(part, writing) },
    ext,
  )
  if (source.type === 'base64' && source.mime === undefined)
    report.addMade('media.mime', block, '/file/file_data')
  if (isNameless) report.addMade('media.filename', block, '/file/filename')
  return block
}

const handled = keysOf<MediaPart>()(
  'type kind source filename title detail id cache citations at ext',
)

/** Makes notes for fields that no block type has. `unplaced`: fields that this block type lacks. */
function leave(part: MediaPart, unplaced: object, { report }: PartWriting): void {
  const { citations, at } = part
  report.rest(unplaced, at)
  report.node(part, handled)
  if (citations?.enabled) report.rest({ citations }, at)
}

const knownOfOutput = keysOf<NonNullable<ChatCompletionsAssistantMessage['audio']>>()(
  'id data transcript expires_at',
)

/** `audio` of a message → a part. */
export function decodeAudioOutput(
  wire: NonNullable<ChatCompletionsAssistantMessage['audio']>,
  at: Place,
): MediaPart {
  const { id, data, transcript, expiresAt } = omitNullish({
    id: wire.id,
    data: wire.data,
    transcript: wire.transcript,
    expiresAt: wire.expires_at,
  })
  const source: MediaPart['source'] =
    data === undefined ? { type: 'reference', id: id ?? '' } : { type: 'base64', data }
  const part = omitUndefined({
    type: 'media' as const,
    kind: 'audio' as const,
    source,
    transcript,
    id: id || undefined,
    expiresAt,
    at: below(at, 'audio'),
  })
  return keep<MediaPart>(part, unknownOf(wire, knownOfOutput))
}

/** Audio that is complete in the part, or that the provider of this protocol stores. */
export const isAudible = ({ kind, source }: MediaPart) =>
  kind === 'audio' && (source.type === 'base64' || source.type === 'reference')

const handledOfOutput = keysOf<MediaPart>()('type kind source transcript id expiresAt at ext')

/** `audio` of a message: complete in a response, by id in a request. */
export function encodeAudioOutput(
  part: MediaPart,
  { report, native }: Pick<Writing, 'report' | 'native'>,
): ChatCompletionsAudio {
  const { source, transcript, id, expiresAt, at, ext } = part
  report.node(part, handledOfOutput)
  if (source.type === 'base64' && source.mime !== undefined) report.add('audio.type', at, 'mime')
  const shown = id ?? (source.type === 'reference' ? source.id || undefined : undefined)
  const data = source.type === 'base64' ? source.data : undefined
  if (native)
    return wireOf<ChatCompletionsAudio>({ id: shown, data, transcript, expires_at: expiresAt }, ext)
  return {
    id: shown ?? 'audio_0',
    ...omitUndefined({ data }),
    expires_at: expiresAt ?? 0,
    transcript: transcript ?? '',
  }
}

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
export function encodeImageOutput(
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
