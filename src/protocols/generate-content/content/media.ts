import type { MediaPart, Part, Place } from '../../../canonical/message.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { inStandardAlphabet, toBase64 } from '../../../kit/media/base64.ts'
import { isInS3 } from '../../../kit/media/data-url.ts'
import { extensionOf } from '../../../kit/media/file-types.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { extOf, ownFields, ownObject, protocolName, under } from '../own.ts'
import type { GenerateContentPartOf } from '../schema.ts'
import { kindOfMime, resolution } from '../vocabulary.ts'
import type { GenerateContentWrittenPart } from '../written.ts'
import { decodeSignature, sign, unknownOfPart } from './reasoning.ts'
import { isInner, type Reading, type Writing } from './writing.ts'

/** Inline media, and media that a part refers to. */

// ---- wire → canonical

const knownInlinePart = keysOf<GenerateContentPartOf<'inlineData'>>()(
  'inlineData videoMetadata mediaResolution thought thoughtSignature',
)
const knownFilePart = keysOf<GenerateContentPartOf<'fileData'>>()(
  'fileData videoMetadata mediaResolution thought thoughtSignature',
)
const knownInline = keysOf<GenerateContentPartOf<'inlineData'>['inlineData']>()(
  'mimeType data displayName',
)
const knownFile = keysOf<GenerateContentPartOf<'fileData'>['fileData']>()(
  'mimeType fileUri displayName',
)
const knownVideo = keysOf<NonNullable<GenerateContentPartOf<'inlineData'>['videoMetadata']>>()(
  'startOffset endOffset fps',
)
const knownResolution =
  keysOf<NonNullable<GenerateContentPartOf<'inlineData'>['mediaResolution']>>()('level')

export function decodeMedia(
  part: GenerateContentPartOf<'inlineData'> | GenerateContentPartOf<'fileData'>,
  at: Place,
  { names }: Pick<Reading, 'names'>,
): MediaPart {
  const { videoMetadata: video, mediaResolution } = part
  const { source, mime, filename, left } = isInline(part)
    ? decodeInline(part.inlineData)
    : decodeFile(part.fileData)
  if (filename && !isInline(part)) names[`${pointerOf(at)}:filename`] = 'fileData/displayName'
  const level = mediaResolution?.level
  const detail = level == null ? undefined : resolution.toOurs(level)
  const unknownLevel = detail === undefined && level != null ? { level } : undefined
  return {
    type: 'media',
    kind: kindOf(mime, source),
    source,
    ...omitNullish({
      filename,
      detail,
      video:
        video &&
        omitUndefinedOrNone(
          omitNullish({
            startOffset: video.startOffset,
            endOffset: video.endOffset,
            fps: video.fps,
          }),
        ),
      signature: decodeSignature(part.thoughtSignature).signature,
      at,
      ext: extOf({
        ...unknownOfPart(part, isInline(part) ? knownInlinePart : knownFilePart),
        ...left,
        ...under('videoMetadata', video && unknownOf(video, knownVideo)),
        ...under(
          'mediaResolution',
          mediaResolution && { ...unknownOf(mediaResolution, knownResolution), ...unknownLevel },
        ),
      }),
    }),
  }
}

const isInline = (
  part: GenerateContentPartOf<'inlineData'> | GenerateContentPartOf<'fileData'>,
): part is GenerateContentPartOf<'inlineData'> => part['inlineData'] != null

type Held = {
  source: MediaPart['source']
  mime: string | undefined
  filename: string | null | undefined
  left: JsonObject
}

function decodeInline(inlineData: GenerateContentPartOf<'inlineData'>['inlineData']): Held {
  const { data, displayName: filename } = inlineData
  const mime = inlineData.mimeType || undefined
  return {
    source: {
      type: 'base64',
      data: isUrlSafe(data) ? inStandardAlphabet(data) : data,
      ...omitUndefined({ mime }),
    },
    mime,
    filename,
    left: under('inlineData', unknownOf(inlineData, knownInline)),
  }
}

function decodeFile(fileData: GenerateContentPartOf<'fileData'>['fileData']): Held {
  const { fileUri, displayName: filename } = fileData
  const mime = fileData.mimeType || undefined
  const unknown = unknownOf(fileData, knownFile)
  return isPublic(fileUri)
    ? {
        source: { type: 'url', url: fileUri, ...omitUndefined({ mime }) },
        mime,
        filename,
        left: under('fileData', unknown),
      }
    : {
        source: { type: 'file-id', id: fileUri, issuer: protocolName },
        mime,
        filename,
        left: under('fileData', { ...unknown, ...omitUndefined({ mimeType: mime }) }),
      }
}

/**
 * Servers accept both alphabets of base64, and the official Python SDK writes this one; other
 * protocols accept only the standard one.
 */
const isUrlSafe = (data: string) =>
  (data.includes('-') || data.includes('_')) && !data.includes('+') && !data.includes('/')

/** Can anyone fetch it? The URI of a file stored at the provider works only there. */
function isPublic(uri: string): boolean {
  return (
    /^https?:\/\//i.test(uri) &&
    !/^https:\/\/[\w.-]*googleapis\.com\/(?:upload\/)?v\d\w*\/files\//i.test(uri)
  )
}

const byExtension = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
])

function mimeOfUrl(url: string): string | undefined {
  return byExtension.get(extensionOf(url))
}

function kindOf(mime: string | undefined, source: MediaPart['source']): MediaPart['kind'] {
  if (mime !== undefined) return kindOfMime(mime)
  const address = source.type === 'url' ? source.url : ''
  if (/^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i.test(address)) return 'video'
  return kindOfMime(mimeOfUrl(address))
}

// ---- canonical → wire

type WriteParts = (parts: readonly Part[]) => GenerateContentWrittenPart[]

const handled = keysOf<MediaPart>()(
  'type kind source filename detail transcript expiresAt video signature at ext',
)

export function encodeMedia(
  part: MediaPart,
  writing: Writing,
  write: WriteParts,
): GenerateContentWrittenPart[] {
  const { report, native, inResult } = writing
  const { source, filename, detail, transcript, expiresAt, video, at, ext } = part
  if (source.type === 'reference') {
    report.add(transcript ? 'media.transcript' : 'media.unsupported', at)
    return transcript ? [{ text: transcript }] : []
  }
  if (source.type === 'parts') {
    report.add('media.flattened', at)
    report.node(part, handled)
    report.rest({ filename }, at)
    return write(source.parts.filter(inner => !isInner(inner, report)))
  }
  const written = encodeSource(part, writing)
  if (!written) return []
  report.node(part, handled)
  // Only some hosts of this protocol accept a file name.
  report.rest({ filename: native ? undefined : filename, transcript, expiresAt }, at)
  if (inResult && !native) {
    report.rest({ video, detail: detail === 'auto' ? undefined : detail }, at)
    return [{ ...ownFields(ext), ...written }]
  }
  const level = levelOf(detail)
  if (detail === 'original') report.add('media.detail', at, 'detail')
  return [
    {
      ...ownFields(ext),
      ...written,
      ...omitUndefined({
        mediaResolution: omitUndefinedOrNone({
          ...ownObject(ext, 'mediaResolution'),
          ...omitUndefined({ level }),
        }),
        videoMetadata: omitUndefinedOrNone({ ...ownObject(ext, 'videoMetadata'), ...video }),
      }),
      ...sign(part, writing),
    },
  ]
}

function levelOf(detail: MediaPart['detail']) {
  if (detail === undefined || detail === 'auto') return undefined
  return detail === 'original' ? 'MEDIA_RESOLUTION_ULTRA_HIGH' : resolution.toWire(detail)
}

/** The MIME type that is written for data without one. */
const defaultMime = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  document: 'application/pdf',
  file: 'application/pdf',
} as const

const isEmpty = (source: MediaPart['source']) =>
  (source.type === 'text' && source.text === '') ||
  (source.type === 'base64' && source.data === '') ||
  (source.type === 'url' && source.url === '')

/**
 * No model reads them, and the server refuses the whole request.
 * Source: https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats, 2026-11-29
 */
const isRefused = (source: MediaPart['source']) =>
  (source.type === 'url' && isInS3(source.url)) ||
  ('mime' in source
    ? source.mime === 'image/gif'
    : source.type === 'url' && mimeOfUrl(source.url) === 'image/gif')

/** The part without its common fields. Undefined: it cannot be written. */
function encodeSource(
  part: MediaPart,
  { report, native, unresolvable, to }: Writing,
): GenerateContentWrittenPart | undefined {
  const { source, filename: displayName, at, ext } = part
  if (!native && (isEmpty(source) || (to === 'provider' && isRefused(source)))) {
    report.add('media.unsupported', at)
    return undefined
  }
  const named = native ? omitUndefined({ displayName }) : {}
  switch (source.type) {
    case 'base64': {
      const { mime: mimeType = native ? undefined : defaultMime[part.kind], data } = source
      const inlineData = {
        ...ownObject(ext, 'inlineData'),
        ...omitUndefined({ mimeType }),
        data,
        ...named,
      }
      if (source.mime === undefined && !native)
        report.addMade('media.mime', inlineData, '/mimeType')
      return { inlineData }
    }
    case 'text':
      return {
        inlineData: {
          ...ownObject(ext, 'inlineData'),
          mimeType: source.mime,
          data: toBase64(source.text),
          ...named,
        },
      }
    case 'url': {
      if (/^data:/i.test(source.url)) {
        report.add('media.unsupported', at)
        return undefined
      }
      if (!native) report.add('media.url', at)
      const mimeType = source.mime ?? (native ? undefined : mimeOfUrl(source.url))
      return {
        fileData: {
          ...ownObject(ext, 'fileData'),
          fileUri: source.url,
          ...omitUndefined({ mimeType }),
          ...named,
        },
      }
    }
    case 'file-id':
      if (source.issuer === protocolName)
        return { fileData: { ...ownObject(ext, 'fileData'), fileUri: source.id, ...named } }
      unresolvable(part)
      return undefined
    case 'parts':
    case 'reference':
      return undefined
    default:
      return source satisfies never
  }
}
