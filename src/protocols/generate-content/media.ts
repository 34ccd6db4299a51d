import type { MediaPart, Part, Place } from '../../canonical/message.ts'
import { inStandardAlphabet, inUrlSafeAlphabet, toBase64 } from '../../kit/base64.ts'
import { defined } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { pointerOf } from '../../kit/path.ts'
import { keep, nulls, ownForm, ownKeys, ownUnder, protocolName, under } from './own.ts'
import { decodeSignature, fieldsOf, sign, silenceOf } from './reasoning.ts'
import type { GeminiPart, GeminiPartOf } from './schema.ts'
import { kindOfMime, resolution } from './vocabulary.ts'
import { isInner, type Reading, type Writing } from './writing.ts'

/** Inline media, and media that a part refers to. */

// ---- wire → canonical

export function decodeMedia(part: GeminiPartOf<'inlineData'> | GeminiPartOf<'fileData'>, at: Place, { names }: Pick<Reading, 'names'>): MediaPart {
  const { thoughtSignature, videoMetadata, mediaResolution, ...others } = part
  const { source, unknown, nothing, fields, form } = decodeSource(fieldsOf(others))
  const { startOffset, endOffset, fps, ...ofVideo } = videoMetadata ?? {}
  const video = defined({ startOffset: startOffset ?? undefined, endOffset: endOffset ?? undefined, fps: fps ?? undefined })
  const { level, ...ofResolution } = mediaResolution ?? {}
  const detail = level == null ? undefined : resolution.toOurs(level)
  const { filename, mime, ...held } = source
  if (!part.inlineData && filename !== undefined) names[`${pointerOf(at)}:filename`] = 'fileData/displayName'
  return {
    type: 'media',
    kind: kindOf(mime, held),
    source: held.source,
    ...defined({ filename, detail }),
    ...(videoMetadata && { video }),
    ...defined({ signature: decodeSignature(thoughtSignature).signature }),
    at,
    ...keep(
      {
        ...fields,
        ...unknown,
        ...under('videoMetadata', ofVideo),
        ...under('mediaResolution', { ...ofResolution, ...(detail === undefined && level != null && { level }) }),
      },
      {
        ...nothing,
        ...silenceOf(part),
        ...nulls(part),
        ...under('videoMetadata', videoMetadata && nulls(videoMetadata)),
        ...(mediaResolution && { mediaResolution: nulls(mediaResolution) }),
      },
      form,
    ),
  }
}

type Held = { source: MediaPart['source']; mime?: string; filename?: string }

function decodeSource(part: JsonObject & { inlineData?: GeminiPartOf<'inlineData'>['inlineData']; fileData?: GeminiPartOf<'fileData'>['fileData'] }): {
  source: Held
  unknown: JsonObject
  nothing: JsonObject
  fields: JsonObject
  form?: JsonObject
} {
  if (part.inlineData) {
    const { inlineData, ...fields } = part
    const { mimeType, data, displayName, ...rest } = inlineData
    const mime = mimeType || undefined
    const isOther = isUrlSafe(data)
    return {
      source: {
        source: { type: 'base64', data: isOther ? inStandardAlphabet(data) : data, ...defined({ mime }) },
        ...defined({ mime, filename: displayName ?? undefined }),
      },
      ...(isOther && { form: { alphabet: 'url-safe' } }),
      unknown: under('inlineData', rest),
      nothing: under('inlineData', { ...nulls(inlineData), ...(mimeType === '' && { mimeType }) }),
      fields,
    }
  }
  const { fileData, ...fields } = part
  const { fileUri = '', mimeType, displayName, ...rest } = fileData ?? {}
  const mime = mimeType || undefined
  return {
    source: {
      source: isPublic(fileUri) ? { type: 'url', url: fileUri, ...defined({ mime }) } : { type: 'file-id', id: fileUri, issuer: protocolName },
      ...defined({ mime, filename: displayName ?? undefined }),
    },
    unknown: under('fileData', { ...rest, ...(mime !== undefined && !isPublic(fileUri) && { mimeType: mime }) }),
    nothing: under('fileData', { ...nulls(fileData ?? {}), ...(mimeType === '' && { mimeType }) }),
    fields,
  }
}

/** Servers accept both alphabets of base64, and the official Python SDK writes this one; other protocols accept only the standard one. */
const isUrlSafe = (data: string) => (data.includes('-') || data.includes('_')) && !data.includes('+') && !data.includes('/')

/** Can anyone fetch it? The URI of a file stored at the provider works only there. */
function isPublic(uri: string): boolean {
  return /^https?:\/\//i.test(uri) && !/^https:\/\/[\w.-]*googleapis\.com\/(?:upload\/)?v\d\w*\/files\//i.test(uri)
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
  return byExtension.get(/\.(\w+)(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '')
}

function kindOf(mime: string | undefined, { source }: Held): MediaPart['kind'] {
  if (mime !== undefined) return kindOfMime(mime)
  const address = source.type === 'url' ? source.url : ''
  if (/^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i.test(address)) return 'video'
  return kindOfMime(mimeOfUrl(address))
}

// ---- canonical → wire

type WriteParts = (parts: readonly Part[]) => GeminiPart[]

export function encodeMedia(part: MediaPart, writing: Writing, write: WriteParts): GeminiPart[] {
  const { report, native, inResult } = writing
  const { type: _, kind: __, source, filename, title, context, detail, citations, transcript, expiresAt, video, cache, signature: ___, at, ext, ...rest } = part
  if (source.type === 'parts') {
    report.add('media.flattened', at)
    report.rest({ ...rest, ...defined({ filename, title, context, citations, cache }) }, at)
    report.ext(ext, at)
    return write(source.parts.filter(part => !isInner(part, report)))
  }
  if (source.type === 'reference') {
    report.add(transcript ? 'media.transcript' : 'media.unsupported', at)
    return transcript ? [{ text: transcript }] : []
  }
  const written = encodeSource(part, writing)
  if (!written) return []
  // Only some hosts of this protocol accept a file name.
  const named = native ? {} : defined({ filename })
  report.rest({ ...rest, ...named, ...defined({ title, context, citations, transcript, expiresAt, cache }) }, at)
  report.ext(ext, at)
  if (inResult && !native) {
    report.rest(defined({ video, detail: detail === 'auto' ? undefined : detail }), at)
    return [{ ...ownKeys(part.ext), ...written }]
  }
  const level = detail === undefined || detail === 'auto' ? undefined : detail === 'original' ? 'MEDIA_RESOLUTION_ULTRA_HIGH' : resolution.toWire(detail)
  if (detail === 'original') report.add('media.detail', at, 'detail')
  const ownResolution = ownUnder(part.ext, 'mediaResolution')
  const ownVideo = ownUnder(part.ext, 'videoMetadata')
  return [
    {
      ...ownKeys(part.ext),
      ...written,
      ...((level !== undefined || ownResolution) && { mediaResolution: { ...ownResolution, ...defined({ level }) } }),
      ...((video || ownVideo) && { videoMetadata: { ...ownVideo, ...video } }),
      ...sign(part, writing),
    },
  ]
}

/** The MIME type that is written for data without one. */
const usualMime = { image: 'image/png', audio: 'audio/wav', video: 'video/mp4', document: 'application/pdf', file: 'application/pdf' } as const

const isEmpty = (source: MediaPart['source']) =>
  (source.type === 'text' && source.text === '') || (source.type === 'base64' && source.data === '') || (source.type === 'url' && source.url === '')

/** The part without its common fields. Undefined: it cannot be written. */
function encodeSource(part: MediaPart, { report, native, unresolvable }: Writing): GeminiPart | undefined {
  const { source, filename, at } = part
  const displayName = native && filename !== undefined ? { displayName: filename } : {}
  const own = part.ext?.[protocolName] !== undefined || native
  if (!own && isEmpty(source)) {
    report.add('media.unsupported', at)
    return undefined
  }
  switch (source.type) {
    case 'base64': {
      const extra = ownUnder(part.ext, 'inlineData')
      const { mime } = source
      const data = ownForm(part.ext)?.['alphabet'] === 'url-safe' ? inUrlSafeAlphabet(source.data) : source.data
      const inlineData = { ...extra, ...defined({ mimeType: mime ?? (own ? undefined : usualMime[part.kind]) }), data, ...displayName }
      if (mime === undefined && !own) report.addMade('media.mime', inlineData, '/mimeType')
      return { inlineData }
    }
    case 'text':
      return { inlineData: { ...ownUnder(part.ext, 'inlineData'), mimeType: source.mime, data: toBase64(source.text), ...displayName } }
    case 'url': {
      if (/^data:/i.test(source.url)) {
        report.add('media.unsupported', at)
        return undefined
      }
      if (!own) report.add('media.url', at)
      const mimeType = source.mime ?? (own ? undefined : mimeOfUrl(source.url))
      return { fileData: { ...ownUnder(part.ext, 'fileData'), fileUri: source.url, ...defined({ mimeType }), ...displayName } }
    }
    case 'file-id':
      if (source.issuer === protocolName) return { fileData: { ...ownUnder(part.ext, 'fileData'), fileUri: source.id, ...displayName } }
      unresolvable(part)
      return undefined
    case 'parts':
    case 'reference':
      return undefined
    default:
      return source satisfies never
  }
}
