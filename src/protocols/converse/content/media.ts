import type { MediaPart, Message, OpaquePart, Part, Place } from '../../../canonical/message.ts'
import { decodeEnabled, unknownOfEnabled } from '../../../kit/fields/enabled.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { isInS3, parseDataUrl } from '../../../kit/media/data-url.ts'
import { extensionOf } from '../../../kit/media/file-types.ts'
import { below } from '../../../kit/notes/path.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { takeName, type UsedNames } from '../../../kit/text/free-names.ts'
import { blockOf, keepBoth, ownUnder, protocolName, withInner } from '../own.ts'
import type { ConverseBlockOf, ConverseInside, ConverseSource } from '../schema.ts'
import { formats } from '../vocabulary.ts'
import type {
  ConverseWrittenBlock,
  ConverseWrittenDocument,
  ConverseWrittenSource,
} from '../written.ts'
import type { Writing } from './writing.ts'

/** Images, documents, video and audio. */

export type MediaKind = keyof typeof formats

// ---- wire → canonical

const imageKeys = keysOf<ConverseInside<'image'>>()('format source')
const documentKeys = keysOf<ConverseInside<'document'>>()('format name source context citations')

/** `inside`: what the block holds under the key `kind`. */
export function decodeMedia(
  block: ConverseBlockOf<MediaKind>,
  kind: MediaKind,
  inside: ConverseInside<'document'>,
  at: Place,
): MediaPart | OpaquePart {
  const { format, name, context, citations } = inside
  const mime =
    format == null
      ? undefined
      : (formats[kind].get(format) ?? (format.includes('/') ? format : undefined))
  const read = inside.source
    ? decodeSource(inside.source, { kind, mime, at: below(at, kind) })
    : undefined
  if (!read) return { type: 'opaque', protocol: protocolName, raw: block, at }
  const part: MediaPart = omitNullish({
    type: 'media' as const,
    kind,
    source: read.source,
    ...(kind === 'document' && { title: name, context, citations: decodeEnabled(citations) }),
    at: below(at, kind),
  })
  let unknown = unknownOf(inside, kind === 'document' ? documentKeys : imageKeys)
  // A format without a media type, and one that the media type does not restore.
  if (format != null && (read.keepsFormat || mime === undefined || mime === format))
    unknown = { ...unknown, format }
  unknown = withInner(unknown, 'source', read.unknown)
  if (kind === 'document') unknown = withInner(unknown, 'citations', unknownOfEnabled(citations))
  return keepBoth(part, unknown, withoutKey(block, kind))
}

function withoutKey(block: JsonObject, kind: string): JsonObject | undefined {
  return unknownOf(block, { [kind]: true })
}

type Read = { source: MediaPart['source']; unknown: JsonObject | undefined; keepsFormat?: boolean }

const bytesKeys = keysOf<ConverseSource>()('bytes')
const textKeys = keysOf<ConverseSource>()('text')
const contentKeys = keysOf<ConverseSource>()('content')
const storedKeys = keysOf<ConverseSource>()('s3Location')
const uriKeys = keysOf<{ uri: string }>()('uri')

/** Undefined: an unknown kind of source. */
function decodeSource(
  wire: ConverseSource,
  { kind, mime, at }: { kind: MediaKind; mime: string | undefined; at: Place },
): Read | undefined {
  const { bytes, s3Location, text, content } = wire
  if (bytes != null)
    return {
      source: { type: 'base64', data: bytes, ...omitUndefined({ mime }) },
      unknown: unknownOf(wire, bytesKeys),
    }
  if (s3Location)
    return {
      source: { type: 'url', url: s3Location.uri, ...omitUndefined({ mime }) },
      unknown: withInner(unknownOf(wire, storedKeys), 's3Location', unknownOf(s3Location, uriKeys)),
    }
  if (kind !== 'document') return undefined
  if (text != null)
    return {
      source: { type: 'text', text, mime: mime ?? 'text/plain' },
      unknown: unknownOf(wire, textKeys),
    }
  if (
    !content?.every(
      ({ text, ...others }) => typeof text === 'string' && Object.keys(others).length === 0,
    )
  )
    return undefined
  const inside = below(below(at, 'source'), 'content')
  const parts: Part[] = content.map(({ text }, index) => ({
    type: 'text',
    text: text ?? '',
    at: below(inside, index),
  }))
  return {
    source: { type: 'parts', parts },
    unknown: unknownOf(wire, contentKeys),
    keepsFormat: true,
  }
}

// ---- canonical → wire

/**
 * In lower case without parameters, since MIME types are case-insensitive, and with the official
 * names.
 */
function commonType(mime: string | undefined): string | undefined {
  const lower = mime?.split(';', 1)[0]?.trim().toLowerCase()
  return (lower && aliases.get(lower)) ?? lower
}

const aliases = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/m4a', 'audio/x-m4a'],
  ['video/mov', 'video/quicktime'],
  ['video/mkv', 'video/x-matroska'],
  ['application/xhtml+xml', 'text/html'],
])

/**
 * The kind of block for a media type, and its format. Text files of other types are written as
 * plain text.
 */
function formOf(
  mime: string,
  kind: MediaPart['kind'],
): { kind: MediaKind; format: string; exact: boolean } | undefined {
  for (const one of kinds)
    for (const [format, type] of formats[one])
      if (type === mime) return { kind: one, format, exact: true }
  const isText =
    mime.startsWith('text/') || mime === 'application/json' || mime === 'application/xml'
  return isText && (kind === 'document' || kind === 'file')
    ? { kind: 'document', format: 'txt', exact: false }
    : undefined
}

const kinds = Object.keys(formats) as MediaKind[]

const written = keysOf<MediaPart>()(
  'type kind source filename title context detail citations cache signature at ext',
)

export function encodeMedia(
  part: MediaPart,
  role: Message['role'],
  writing: Writing,
  write: (parts: readonly Part[]) => ConverseWrittenBlock[],
): ConverseWrittenBlock[] {
  const { report, to, native } = writing
  const { kind, filename, title, context, detail, citations, transcript, at, ext } = part
  if (kind === 'audio' && transcript) {
    report.add('media.transcript', at)
    return [{ text: transcript }]
  }
  // Only image models generate media, and only with images. Servers take none of them back.
  const isResponse = to === 'client'
  const isTaken = isResponse ? kind === 'image' : role !== 'assistant' || native
  const form = isTaken ? encodeSource(part, writing, write) : refused(part, writing)
  if (!form) return []
  // Results hold no audio.
  if (
    (isResponse && form.kind !== 'image') ||
    (role === 'tool' && form.kind === 'audio' && !native)
  ) {
    refused(part, writing)
    return []
  }
  report.node(part, written)
  if (detail !== undefined && detail !== 'auto') report.add('media.detail-dropped', at, 'detail')
  const own = { format: form.format, source: { ...ownUnder(ext, 'source'), ...form.source } }
  if (form.kind !== 'document') {
    report.rest({ title, filename, context, citations }, at)
    return [blockOf<ConverseWrittenBlock, MediaKind>(form.kind, own, ext)]
  }
  const named = native
    ? { name: title ?? filename ?? 'document', isChanged: false }
    : documentName(part, writing.documents)
  if (filename !== undefined && title !== undefined && filename !== title)
    report.add('field.unsupported', at, 'title')
  if (named.isChanged)
    report.add('media.document-name', at, filename === undefined ? 'title' : 'filename')
  else if (filename !== undefined && named.name !== filename)
    report.add('media.filename-as-title', at, 'filename')
  const document: ConverseWrittenDocument = omitUndefined<ConverseWrittenDocument>({
    format: own.format,
    source: own.source,
    name: named.name,
    context,
    citations,
  })
  return [blockOf<ConverseWrittenBlock, 'document'>('document', document, ext)]
}

function refused({ at }: MediaPart, { report }: Writing): undefined {
  report.add('media.unsupported', at)
  return undefined
}

type Form = { kind: MediaKind; format?: string | undefined; source: ConverseWrittenSource }

/** Undefined: it has no form here, which is noted. */
function encodeSource(
  part: MediaPart,
  writing: Writing,
  write: (parts: readonly Part[]) => ConverseWrittenBlock[],
): Form | undefined {
  const { kind, source } = part
  const { report, native } = writing
  const common: MediaKind = kind === 'file' ? 'document' : kind
  switch (source.type) {
    case 'base64': {
      const { data } = source
      if (!native && !isBase64(data)) return refused(part, writing)
      const form = formFor(part, source.mime, writing)
      if (form) return { source: { bytes: data }, ...form }
      if (native) return { kind: common, source: { bytes: data } }
      return converted(part, source.mime, data, writing) ?? refused(part, writing)
    }
    case 'url': {
      const inline = parseDataUrl(source.url)
      if (inline)
        return encodeSource({ ...part, source: { type: 'base64', ...inline } }, writing, write)
      // The server fetches nothing but objects of S3.
      if (!isInS3(source.url)) return refused(part, writing)
      const form =
        formFor(part, source.mime, writing) ??
        (native ? { kind: common } : formOfName(source.url, common))
      if (!form) return refused(part, writing)
      return {
        ...form,
        source: { s3Location: { ...ownUnder(part.ext, 'source'), uri: source.url } },
      }
    }
    case 'text':
      return {
        kind: 'document',
        format: formOf(commonType(source.mime) ?? '', 'document')?.format ?? 'txt',
        source: { text: source.text },
      }
    case 'parts': {
      const content = flatMap(write(source.parts), ({ text }) =>
        text === undefined ? [] : [{ text }],
      )
      for (const inner of source.parts)
        if (inner.type !== 'text') report.add('part.unsupported', inner.at)
      return content.length === 0 && !native
        ? refused(part, writing)
        : { kind: 'document', format: native ? undefined : 'txt', source: { content } }
    }
    case 'file-id':
    case 'reference':
      writing.unresolvable(part)
      return undefined
    default:
      return source satisfies never
  }
}

/** The form by the extension of an address, which the server requires to be named. */
function formOfName(url: string, kind: MediaKind): Omit<Form, 'source'> | undefined {
  const extension = extensionOf(url)
  const format = extensions.get(extension) ?? extension
  const found = [kind, ...kinds].find(one => formats[one].has(format))
  return found && { kind: found, format }
}

/** Those that are no format. */
const extensions = new Map([
  ['jpg', 'jpeg'],
  ['htm', 'html'],
  ['3gp', 'three_gp'],
])

/** Does it begin as base64? Clients also put addresses of their providers there. */
const isBase64 = (data: string) => /^[A-Za-z0-9+/=\s]+$/.test(data.slice(0, 64))

/** Block and format of a media type. Undefined: the server has none. */
function formFor(
  part: MediaPart,
  mime: string | undefined,
  { report, native }: Writing,
): Omit<Form, 'source'> | undefined {
  const type = commonType(mime)
  if (type === undefined) {
    if (native || part.kind !== 'document') return undefined
    // Documents without a type are PDF in the other protocols.
    return { kind: 'document', format: 'pdf' }
  }
  const form = formOf(type, part.kind)
  if (!form) return undefined
  if (!form.exact && !native) report.add('media.file-as-document', part.at)
  return { kind: form.kind, format: form.format }
}

/**
 * The media converted by the option `convertMedia`. Undefined: not converted, or not to a type that
 * the server takes.
 */
function converted(
  { kind, at }: MediaPart,
  mime: string | undefined,
  data: string,
  { convertMedia, report }: Writing,
): Form | undefined {
  const made = mime === undefined ? undefined : convertMedia?.({ mime, data })
  const form = made && formOf(made.mime, kind)
  if (!made || !form) return undefined
  report.add('media.converted', at)
  return { kind: form.kind, format: form.format, source: { bytes: made.data } }
}

/** The most characters of a name. */
const longest = 200

/**
 * The name of a document as the server takes it: letters, digits, single spaces, hyphens and
 * brackets. `isChanged`: not only the extension is gone.
 */
function nameOf({ filename, title }: MediaPart): { name: string; isChanged: boolean } {
  const given = (filename || title || '').replace(/\.[^./\\]{1,10}$/, '')
  const name = given
    .normalize('NFC')
    .replaceAll(/[^A-Za-z0-9()[\]-]+/g, ' ')
    .trim()
    .slice(0, longest)
    .trim()
  return { name: name || 'document', isChanged: given !== '' && name !== given }
}

/**
 * The same, unlike the other names in the request, to which it is added. A later document gets a
 * number.
 */
function documentName(part: MediaPart, used: UsedNames): { name: string; isChanged: boolean } {
  const { name, isChanged } = nameOf(part)
  const stem = name.slice(0, longest - 8)
  const free = takeName(used, name, stem, nth => `${stem}-${nth}`)
  return {
    name: free,
    isChanged: isChanged || (free !== name && (part.filename ?? part.title) !== undefined),
  }
}
