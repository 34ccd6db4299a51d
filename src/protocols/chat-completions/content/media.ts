import type { MediaPart, Place } from '../../../canonical/message.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { dataUrl, parseDataUrl, sniff } from '../../../kit/media/data-url.ts'
import { isDocument, nameOfFile, typeOfFile } from '../../../kit/media/file-types.ts'
import { protocolName, wireOf, withInner } from '../own.ts'
import type {
  ChatCompletionsAudioPart,
  ChatCompletionsBlock,
  ChatCompletionsBlockOf,
  ChatCompletionsFilePart,
  ChatCompletionsImagePart,
} from '../schema.ts'
import { encodeMark, type Marks, readMark } from './cache.ts'
import type { PartWriting } from './writing.ts'

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
  if (
    source.type === 'file-id' &&
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
