import type {
  Citation,
  Message,
  Part,
  Place,
  RefusalPart,
  Role,
  TextPart,
} from '../../../canonical/message.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { createTokens, noteTokens } from '../../../kit/response/logprobs.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { isOffset, lengthLater } from '../../../kit/text/text.ts'
import { keep, protocolName, type ResponsesReport, wireOf } from '../own.ts'
import type {
  ResponsesContent,
  ResponsesInputAudio,
  ResponsesInputFile,
  ResponsesInputImage,
  ResponsesInputText,
  ResponsesMessage,
  ResponsesOutputText,
  ResponsesRefusal,
} from '../schema.ts'
import type {
  ResponsesAnnotation,
  ResponsesContentOf,
  ResponsesItemOf,
  ResponsesWrittenContent,
} from '../written.ts'
import { decodeAudio, decodeFile, decodeImage, encodeMedia } from './media.ts'
import {
  decodeMark,
  encodeMark,
  opensEnvelopes,
  statusOf,
  type Writing,
  withHead,
} from './writing.ts'

/** The known keys of an annotation, by its type. */
const modelled = new Map<unknown, ReadonlySet<string>>([
  ['url_citation', new Set(['type', 'url', 'title', 'start_index', 'end_index'])],
  ['file_citation', new Set(['type', 'file_id', 'filename', 'index'])],
  [
    'container_file_citation',
    new Set(['type', 'container_id', 'file_id', 'filename', 'start_index', 'end_index']),
  ],
  ['file_path', new Set(['type', 'file_id', 'index'])],
])

const offsets = new Set(['start_index', 'end_index', 'index'])

/** Null counts as absent. */
const isRead = (key: string, value: unknown) =>
  value === null || (offsets.has(key) ? isOffset(value) : typeof value === 'string')

/**
 * The unknown keys of annotations, and known ones with a value of another type, as an `annotations`
 * field.
 */
function unreadOf(
  annotations: readonly JsonObject[] | null | undefined,
): { annotations: JsonObject[] } | undefined {
  if (!annotations?.length) return undefined
  const unread = flatMap(annotations, wire => {
    const known = modelled.get(wire['type'])
    const left = known
      ? Object.entries(wire).filter(([key, value]) => !known.has(key) || !isRead(key, value))
      : []
    return left.length > 0 ? [Object.fromEntries(left)] : []
  })
  return unread.length > 0 ? { annotations: unread } : undefined
}

/** An annotation of a text; its offsets count characters of that text. */
export function decodeCitation(raw: unknown): Citation {
  const wire = isObject(raw) ? raw : {}
  const asText = (key: string) => (typeof wire[key] === 'string' ? wire[key] : undefined)
  const asOffset = (key: string) => (isOffset(wire[key]) ? wire[key] : undefined)
  const span = { start: asOffset('start_index'), end: asOffset('end_index') }
  const file = {
    fileId: asText('file_id'),
    filename: asText('filename'),
    container: asText('container_id'),
    index: asOffset('index'),
  }
  switch (wire['type']) {
    case 'url_citation':
      return {
        kind: 'url',
        ...omitUndefined({ url: asText('url'), title: asText('title'), ...span }),
        protocol: protocolName,
        raw,
      }
    case 'file_citation':
    case 'container_file_citation':
    case 'file_path':
      return { kind: 'file', ...omitUndefined({ ...file, ...span }), protocol: protocolName, raw }
    default:
      return { kind: 'opaque', protocol: protocolName, raw }
  }
}

/**
 * Undefined: this protocol has no form for it, which is noted. `length`: of the text that has the
 * citation, in code points.
 */
export function encodeCitation(
  citation: Citation,
  length: () => number,
  report: ResponsesReport,
  at: Place | undefined,
): ResponsesAnnotation | undefined {
  const { kind, url, title, start, end, fileId, filename, index, citedText, encrypted, source } =
    citation
  if (citation.protocol === protocolName && isObject(citation.raw)) return asRead(citation.raw)
  if (kind === 'url' && url !== undefined) {
    if (
      start === undefined ||
      end === undefined ||
      title === undefined ||
      citedText !== undefined ||
      encrypted !== undefined
    )
      report.add('citation.approximated', at, 'citations')
    return {
      type: 'url_citation',
      start_index: start ?? 0,
      end_index: end ?? length(),
      title: title ?? '',
      url,
    }
  }
  if (kind === 'file' && fileId !== undefined) {
    if (citedText !== undefined || source !== undefined || start !== undefined)
      report.add('citation.approximated', at, 'citations')
    return {
      type: 'file_citation',
      file_id: fileId,
      filename: filename ?? title ?? '',
      index: index ?? 0,
    }
  }
  report.add('citation.unsupported', at, 'citations')
  return undefined
}

export const { decodeTokens, encodeToken } = createTokens(protocolName, { missing: 0, noBytes: [] })

const inputKeys = keysOf<ResponsesInputText>()('type text prompt_cache_breakpoint')
const outputKeys = keysOf<ResponsesOutputText>()('type text annotations logprobs')
const refusalKeys = keysOf<ResponsesRefusal>()('type refusal')

/** One content part of a message or tool result. */
export function decodeContent(
  wire: ResponsesContent,
  at: Place,
  role: Message['role'],
  report?: ResponsesReport,
): Part {
  switch (wire.type) {
    case 'input_text':
    case 'text':
      if (role === 'assistant') report?.once('content.input-by-assistant', at)
      return decodeInputText(wire as ResponsesInputText, at)
    case 'output_text':
      return decodeOutputText(wire as ResponsesOutputText, at)
    case 'refusal': {
      const part: RefusalPart = { type: 'refusal', text: String(wire['refusal']), at }
      return keep(part, unknownOf(wire, refusalKeys))
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

function decodeInputText(wire: ResponsesInputText, at: Place): Part {
  const part: TextPart = { type: 'text', text: wire.text, at }
  return keep(part, unknownOf(wire, inputKeys), decodeMark(part, wire.prompt_cache_breakpoint))
}

function decodeOutputText(wire: ResponsesOutputText, at: Place): Part {
  const { annotations, logprobs } = wire
  const part: TextPart = { type: 'text', text: wire.text, at }
  if (annotations?.length) part.citations = annotations.map(decodeCitation)
  if (logprobs?.length) part.logprobs = decodeTokens(logprobs, below(at, 'logprobs'))
  return keep(part, unknownOf(wire, outputKeys), unreadOf(annotations))
}

/** Text of a message in a request, or of a response. */
export function encodeText(
  part: TextPart,
  role: Message['role'],
  writing: Writing,
): ResponsesWrittenContent {
  const { text, citations, logprobs, cache, signature, at, ext } = part
  const { report, target } = writing
  report.ext(ext, at)
  if (signature && !opensEnvelopes(writing))
    report.add('reasoning.foreign-signature', at, 'signature')
  if (role !== 'assistant') {
    if (citations) report.add('citation.unsupported', at, 'citations')
    if (logprobs) report.rest({ logprobs }, at)
    return wireOf<ResponsesContentOf<'input_text'>>(
      { type: 'input_text', text, prompt_cache_breakpoint: encodeMark(part, writing) },
      ext,
    )
  }
  if (cache) report.add('cache.unsupported', at, 'cache')
  if (logprobs) noteTokens(logprobs, protocolName, report)
  const length = lengthLater(text)
  const annotations = flatMap(
    citations ?? [],
    citation => encodeCitation(citation, length, report, at) ?? [],
  )
  return wireOf<ResponsesContentOf<'output_text'>>(
    { type: 'output_text', text, annotations, logprobs: encodeLogprobs(logprobs, target) },
    ext,
  )
}

/** A response has the list even when it is empty. */
function encodeLogprobs(logprobs: TextPart['logprobs'], target: Writing['target']) {
  if (logprobs?.length) return logprobs.map(one => encodeToken(one, true))
  return target === 'output' ? [] : undefined
}

const roles = new Set<unknown>(['user', 'assistant', 'system', 'developer'])

const known = keysOf<ResponsesMessage>()('type role content id status phase')

/** A `message` item, whole or in its short form. */
export function decodeMessage(wire: JsonObject, at: Place, report?: ResponsesReport): Message {
  const { role: wireRole, content, id, phase } = wire
  const role = (roles.has(wireRole) ? wireRole : 'assistant') as Role
  const message: Message = {
    role,
    parts: decodeParts(content, below(at, 'content'), role, report),
    origin: 'message',
    at,
  }
  const isPhase = phase === 'commentary' || phase === 'final_answer'
  if (isPhase) message.phase = phase
  // The schema of the short form allows other ids and phases.
  const isOdd = (id != null && typeof id !== 'string') || (phase != null && !isPhase)
  const odd = isOdd
    ? {
        ...(id != null && typeof id !== 'string' && { id }),
        ...(phase != null && !isPhase && { phase }),
      }
    : undefined
  return withHead(message, wire, known, odd)
}

function decodeParts(
  content: unknown,
  at: Place,
  role: Role,
  report: ResponsesReport | undefined,
): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content, at }]
  return Array.isArray(content)
    ? content.map((part, index) =>
        decodeContent(part as ResponsesContent, below(at, index), role, report),
      )
    : []
}

/** A `message` item around its content. */
export function encodeContainer(
  message: Message,
  content: ResponsesWrittenContent[],
  writing: Writing,
): ResponsesItemOf<'message'> {
  const role = message.role === 'tool' ? 'user' : message.role
  const { phase, ext } = message
  if (writing.native || writing.target === 'output') {
    const id = writing.itemId ? writing.itemId(message.id, 'msg_') : message.id
    return wireOf<ResponsesItemOf<'message'>>(
      { type: 'message', id, status: statusOf(message, writing), role, content, phase },
      ext,
    )
  }
  const [only] = content
  const bare =
    role === 'assistant' &&
    content.length === 1 &&
    only?.type === 'output_text' &&
    isEmptyList(only.annotations) &&
    !only.logprobs
  return omitUndefined<ResponsesItemOf<'message'>>({
    type: 'message',
    role,
    content: bare ? only.text : content,
    phase,
  })
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/** May this part be in the content of a message or a result? */
export const isContent = (part: Part) =>
  part.type === 'text' ||
  part.type === 'refusal' ||
  part.type === 'media' ||
  part.type === 'search-result'

/** A text or a refusal. */
export function encodeWords(
  part: TextPart | RefusalPart,
  role: Role,
  writing: Writing,
): ResponsesWrittenContent {
  if (part.type === 'text') return encodeText(part, role, writing)
  writing.report.ext(part.ext, part.at)
  if (part.logprobs) writing.report.rest({ logprobs: part.logprobs }, part.at)
  return wireOf<ResponsesContentOf<'refusal'>>({ type: 'refusal', refusal: part.text }, part.ext)
}

/** A part of a message's content. Undefined: the content cannot hold it, which is noted. */
export function encodeContentPart(
  part: Part,
  role: Role,
  writing: Writing,
): ResponsesWrittenContent | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return encodeWords(part, role, writing)
    case 'media':
      if (part.signature && writing.target === 'output')
        writing.report.add('field.unsupported', part.at, 'signature')
      if (role === 'assistant' && part.transcript !== undefined) {
        writing.report.add('media.transcript', part.at)
        return encodeText({ type: 'text', text: part.transcript }, role, writing)
      }
      // Here media can only be input of the model, never its output.
      if (writing.native || (writing.target === 'input' && role !== 'assistant'))
        return encodeMedia(part, writing)
      writing.report.ext(part.ext, part.at)
      writing.report.add('media.unsupported', part.at)
      return undefined
    case 'opaque':
      if (part.protocol === protocolName && isObject(part.raw)) return asRead(part.raw)
      writing.report.add('part.unknown', part.at)
      return undefined
    default:
      writing.report.add('part.unsupported', part.at)
      return undefined
  }
}

/** The parts of a part that consists of parts; a text file by the model becomes a text part. */
function innerOf(part: Part, role: Role): readonly Part[] | undefined {
  if (part.type === 'search-result') return part.parts
  if (part.type !== 'media') return undefined
  const { source } = part
  if (source.type === 'parts') return source.parts
  return source.type === 'text' && role === 'assistant'
    ? [{ type: 'text', text: source.text }]
    : undefined
}

/**
 * A part as content of a message or a result. A part that consists of parts is written as those,
 * after its title.
 */
export function encodeContent(part: Part, role: Role, writing: Writing): ResponsesWrittenContent[] {
  const inner = innerOf(part, role)
  if (!inner || (part.type !== 'search-result' && part.type !== 'media')) {
    const wire = encodeContentPart(part, role, writing)
    return wire ? [wire] : []
  }
  const { report, uncached, moved } = writing
  const { at, ext, signature, cache, citations, title } = part
  report.add('content.as-text', at)
  report.ext(ext, at)
  report.rest(
    {
      signature,
      ...(citations?.enabled && { citations }),
      ...(part.type === 'media' && { filename: part.filename, detail: part.detail }),
    },
    at,
  )
  const heading = [title, part.type === 'search-result' ? part.source : part.context]
    .filter(Boolean)
    .join('\n')
  const parts: Part[] = [...(heading ? [{ type: 'text' as const, text: heading }] : []), ...inner]
  const last = parts.at(-1)
  const markAt = moved.has(part) ? moved.get(part) : at
  if (cache && (writing.target === 'output' || role === 'assistant'))
    report.add('cache.unsupported', markAt, 'cache')
  else if (cache && last) {
    const marked = { ...last, cache }
    moved.set(marked, markAt)
    parts.splice(-1, 1, marked)
    if (uncached.has(part)) uncached.add(marked)
  }
  return flatMap(parts, one => encodeContent(one, role, writing))
}
