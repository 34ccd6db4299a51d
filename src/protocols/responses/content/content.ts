import type {
  Citation,
  Message,
  Part,
  Place,
  RefusalPart,
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
import type { ResponsesReport } from '../notes.ts'
import { keep, protocolName, wireOf } from '../own.ts'
import type {
  ResponsesContent,
  ResponsesInputAudio,
  ResponsesInputFile,
  ResponsesInputImage,
  ResponsesInputText,
  ResponsesOutputText,
  ResponsesRefusal,
} from '../schema.ts'
import type {
  ResponsesAnnotation,
  ResponsesContentOf,
  ResponsesWrittenContent,
} from '../written.ts'
import { decodeAudio, decodeFile, decodeImage } from './media.ts'
import { decodeMark, encodeMark, opensEnvelopes, type Writing } from './writing.ts'

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
