import type { Message, Part, Place, TokenLogprob } from '../../canonical/message.ts'
import { some } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import type { JsonObject } from '../../kit/json.ts'
import { noteTokens } from '../../kit/logprobs.ts'
import { below } from '../../kit/path.ts'
import { decodeMark, encodeMark } from './cache.ts'
import { decodeCitation, decodeLogprobs, encodeCitation, encodeLogprob, unreadOf } from './citations.ts'
import { decodeAudio, decodeFile, decodeImage } from './media.ts'
import type { ResponsesReport } from './notes.ts'
import { absentOf, keep, nulls, ownForm, protocolName, wireOf } from './own.ts'
import type { ResponsesContent, ResponsesInputAudio, ResponsesInputFile, ResponsesInputImage, ResponsesInputText, ResponsesOutputText } from './schema.ts'
import { opensEnvelopes, type Writing } from './writing.ts'

/** One content part of a message or tool result. `role` decides the usual text type: `output_text` for the assistant, else `input_text`. */
export function decodeContent(wire: ResponsesContent, at: Place, role: Message['role'], report?: ResponsesReport): Part {
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

function decodeInputText(wire: ResponsesInputText, at: Place, role: Message['role'], report?: ResponsesReport): Part {
  const { type, text, prompt_cache_breakpoint: breakpoint, ...rest } = wire
  if (role === 'assistant') report?.once('content.input-by-assistant', at)
  const usual = role === 'assistant' ? 'output_text' : 'input_text'
  // Fast path for the usual text part, which has no other key.
  if (type === usual && Object.keys(wire).length === 2) return { type: 'text', text, at }
  const { cache, form, unread } = decodeMark(breakpoint)
  return { type: 'text', text, ...cache, at, ...keep({ ...rest, ...unread }, nulls(wire), some({ ...form, ...(type !== usual && { type }) })) }
}

function decodeOutputText(wire: ResponsesOutputText, at: Place, role: Message['role']): Part {
  const { type, text, annotations, logprobs, ...rest } = wire
  const form: JsonObject = { ...absentOf(wire, ['annotations', 'logprobs']), ...(role !== 'assistant' && { type }), ...(logprobs?.length && { logprobs }) }
  return {
    type: 'text',
    text,
    ...(annotations?.length && { citations: annotations.map(decodeCitation) }),
    ...(logprobs?.length && { logprobs: decodeLogprobs(logprobs, below(at, 'logprobs')) }),
    at,
    ...keep({ ...rest, ...unreadOf(annotations) }, nulls(wire), form),
  }
}

/** Text of a message in a request, or of an answer. */
export function encodeText(part: Extract<Part, { type: 'text' }>, role: Message['role'], writing: Writing): JsonObject {
  const { type: _, text, citations, logprobs, cache, signature, at, ext } = part
  const form = ownForm(part.ext)
  const spoken = role === 'assistant'
  const type = typeof form?.['type'] === 'string' ? form['type'] : spoken ? 'output_text' : 'input_text'
  writing.report.ext(ext, at)
  if (signature && !opensEnvelopes(writing)) writing.report.add('reasoning.foreign-signature', at, 'signature')
  if (type !== 'output_text') {
    if (citations) writing.report.add('citation.unsupported', at, 'citations')
    if (logprobs) writing.report.rest({ logprobs }, at)
    const breakpoint = encodeMark(part, writing)
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

/** The log probabilities as they were on the wire, if they are unchanged. */
function tokensOf(raw: unknown, logprobs: readonly TokenLogprob[] = []): unknown[] | undefined {
  const written = (tokens: readonly TokenLogprob[]) => JSON.stringify(tokens.map(one => encodeLogprob(one, false)))
  return Array.isArray(raw) && written(decodeLogprobs(raw, '')) === written(logprobs) ? raw : undefined
}
