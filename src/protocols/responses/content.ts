import type { CacheTtl, MediaPart, MediaSource, Message, Part, TokenLogprob } from '../../canonical/message.ts'
import { TranslationError } from '../../errors.ts'
import { toBase64 } from '../../kit/base64.ts'
import { dataUrl, parseDataUrl } from '../../kit/data-url.ts'
import { defined, some } from '../../kit/defined.ts'
import { nameOfFile, typeOfFile } from '../../kit/file-types.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { noteTokens } from '../../kit/logprobs.ts'
import { decodeCitation, decodeLogprobs, encodeCitation, encodeLogprob, unreadOf } from './citations.ts'
import type { ResponsesReport } from './notes.ts'
import { absentOf, keep, nulls, ownForm, protocolName, wireOf } from './own.ts'
import type { ResponsesContent, ResponsesInputAudio, ResponsesInputFile, ResponsesInputImage, ResponsesInputText, ResponsesOutputText } from './schema.ts'
import type { Writing } from './writing.ts'

/** One part of a message's or a tool result's content. `role`: whose text is usually marked as output. */
export function decodeContent(wire: ResponsesContent, at: string, role: Message['role'], report?: ResponsesReport): Part {
  switch (wire.type) {
    case 'input_text':
    case 'text':
      return decodeInputText(wire as ResponsesInputText, at, role, report)
    case 'output_text':
      return decodeOutputText(wire as ResponsesOutputText, at, role)
    case 'refusal': {
      const { type: _, refusal, ...rest } = wire
      return { type: 'refusal', text: String(refusal), at, ...keep(rest, {}) }
    }
    case 'input_image':
      return decodeImage(wire as ResponsesInputImage, at)
    case 'input_file':
      return decodeFile(wire as ResponsesInputFile, at, report)
    case 'input_audio':
      return decodeAudio(wire as ResponsesInputAudio, at)
    default:
      return { type: 'opaque', protocol: protocolName, raw: wire, at }
  }
}

function decodeInputText(wire: ResponsesInputText, at: string, role: Message['role'], report?: ResponsesReport): Part {
  const { type, text, prompt_cache_breakpoint: breakpoint, ...rest } = wire
  if (role === 'assistant') report?.once('content.input-by-assistant', at)
  const usual = role === 'assistant' ? 'output_text' : 'input_text'
  // The usual text part has no other key: the short way.
  if (type === usual && Object.keys(wire).length === 2) return { type: 'text', text, at }
  const { cache, form, unread } = decodeBreakpoint(breakpoint)
  return { type: 'text', text, ...cache, at, ...keep({ ...rest, ...unread }, nulls(wire), some({ ...form, ...(type !== usual && { type }) })) }
}

function decodeOutputText(wire: ResponsesOutputText, at: string, role: Message['role']): Part {
  const { type, text, annotations, logprobs, ...rest } = wire
  const form: JsonObject = { ...absentOf(wire, ['annotations', 'logprobs']), ...(role !== 'assistant' && { type }), ...(logprobs?.length && { logprobs }) }
  return {
    type: 'text',
    text,
    ...(annotations?.length && { citations: annotations.map(decodeCitation) }),
    ...(logprobs?.length && { logprobs: decodeLogprobs(logprobs, `${at}/logprobs`) }),
    at,
    ...keep({ ...rest, ...unreadOf(annotations) }, nulls(wire), form),
  }
}

const ttls = new Map<unknown, CacheTtl>([
  ['5m', '5m'],
  ['30m', '30m'],
  ['1h', '1h'],
  ['12h', '12h'],
])

type Mark = { cache: { cache?: { ttl?: CacheTtl } }; form: JsonObject; unread: JsonObject }

function decodeBreakpoint(wire: JsonObject | null | undefined): Mark {
  if (!wire) return { cache: {}, form: {}, unread: {} }
  const { mode, ttl: word, ...rest } = wire
  const ttl = ttls.get(word)
  const odd = { ...(mode !== 'explicit' && mode !== undefined && { mode }), ...(word != null && ttl === undefined && { ttl: word }), ...rest }
  const unread = Object.keys(odd).length > 0 ? { prompt_cache_breakpoint: odd } : {}
  return { cache: { cache: defined({ ttl }) }, form: { breakpoint: wire }, unread }
}

const details = new Map<unknown, NonNullable<MediaPart['detail']>>([
  ['auto', 'auto'],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'original'],
])

function decodeImage(wire: ResponsesInputImage, at: string): Part {
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

/** A data URL in another spelling than the one that is written. */
function oddUrl(url: unknown, source: MediaSource): JsonObject {
  return source.type === 'base64' && url !== dataUrl(source.mime ?? '', source.data) ? { url } : {}
}

function decodeFile(wire: ResponsesInputFile, at: string, report?: ResponsesReport): Part {
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

type MediaRest = { detail: unknown; breakpoint: JsonObject | null | undefined; rest: JsonObject; wire: JsonObject; at: string; form?: JsonObject }

function decodedMedia(kind: MediaPart['kind'], source: MediaSource, { detail: word, breakpoint, rest, wire, at, form }: MediaRest): MediaPart {
  const detail = details.get(word)
  const { cache, form: marked, unread } = decodeBreakpoint(breakpoint)
  const fields = { ...rest, ...(typeof word === 'string' && !detail && { detail: word }), ...unread }
  return { type: 'media', kind, source, ...defined({ detail }), ...cache, at, ...keep(fields, nulls(wire), { ...marked, ...form }) }
}

function decodeAudio(wire: ResponsesInputAudio, at: string): Part {
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

/** Text of a message in a request, or of an answer. */
export function encodeText(part: Extract<Part, { type: 'text' }>, role: Message['role'], writing: Writing): JsonObject {
  const { type: _, text, citations, logprobs, cache, signature, at, ext } = part
  const form = ownForm(part.ext)
  const spoken = role === 'assistant'
  const type = typeof form?.['type'] === 'string' ? form['type'] : spoken ? 'output_text' : 'input_text'
  writing.report.ext(ext, at)
  if (signature && writing.target === 'input') writing.report.add('reasoning.foreign-signature', at, 'signature')
  if (type !== 'output_text') {
    if (citations) writing.report.add('citation.unsupported', at, 'citations')
    if (logprobs) writing.report.rest({ logprobs }, at)
    const breakpoint = encodeBreakpoint(part, writing)
    return wireOf({ type, text, ...(breakpoint && { prompt_cache_breakpoint: breakpoint }) }, part.ext)
  }
  if (cache) writing.report.add('cache.place', at, 'cache')
  const annotations = flatMap(citations ?? [], citation => encodeCitation(citation, text, writing.report, at) ?? [])
  const whole = form === undefined
  if (logprobs) noteTokens(logprobs, protocolName, writing.report)
  const tokens = tokensOf(form?.['logprobs'], logprobs) ?? (logprobs ?? []).map(one => encodeLogprob(one, whole))
  if (!whole) return wireOf({ type, text, annotations, logprobs: tokens }, part.ext)
  return { type, text, annotations, ...((writing.target === 'output' || tokens.length > 0) && { logprobs: tokens }) }
}

/** Log probabilities as they came, when they are still the same. */
function tokensOf(raw: unknown, logprobs: readonly TokenLogprob[] = []): unknown[] | undefined {
  const written = (tokens: readonly TokenLogprob[]) => JSON.stringify(tokens.map(one => encodeLogprob(one, false)))
  return Array.isArray(raw) && written(decodeLogprobs(raw, '')) === written(logprobs) ? raw : undefined
}

/** Undefined: there is none, or it may not stand here. */
function encodeBreakpoint(part: Part, { report, moved, uncached, options }: Writing): JsonObject | undefined {
  const { cache } = part
  const at = moved.has(part) ? moved.get(part) : part.at
  if (!cache) return undefined
  const raw = ownForm(part.ext)?.['breakpoint']
  if (isObject(raw) && ttls.get(raw['ttl']) === cache.ttl) return raw
  if (uncached.has(part)) {
    report.add('cache.too-many', at, 'cache')
    return undefined
  }
  const ttl = cache.ttl === '5m' || cache.ttl === '1h' ? (options.cacheTtlRound === 'up' && cache.ttl === '1h' ? '12h' : undefined) : cache.ttl
  if (ttl !== cache.ttl) report.add('cache.ttl', at, 'cache.ttl')
  return defined({ mode: 'explicit', ttl })
}

/** Media of a request. Undefined: it cannot be said here, which is noted. @throws TranslationError `inexpressible` for a file of another provider */
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
  const breakpoint = encodeBreakpoint(part, writing)
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

/** What sound and moving pictures have here no field for. */
function leave(part: MediaPart, { report, moved }: Writing): void {
  const { type: _, kind: _kind, source: _source, cache, at, ext: _ext, signature: _signature, ...rest } = part
  report.rest(rest, at)
  if (cache) report.add('cache.place', moved.has(part) ? moved.get(part) : at, 'cache')
}
