import type { Message, Part, Place, RefusalPart, TextPart } from '../../../canonical/message.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { below } from '../../../kit/notes/path.ts'
import { noteTokens } from '../../../kit/response/logprobs.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { lengthLater } from '../../../kit/text/text.ts'
import type { ResponsesReport } from '../notes.ts'
import { keep, protocolName, wireOf } from '../own.ts'
import type {
  ResponsesContent,
  ResponsesContentOf,
  ResponsesInputAudio,
  ResponsesInputFile,
  ResponsesInputImage,
  ResponsesInputText,
  ResponsesOutputText,
  ResponsesRefusal,
  ResponsesWrittenContent,
} from '../schema.ts'
import { decodeMark, encodeMark } from './cache.ts'
import {
  decodeCitation,
  decodeLogprobs,
  encodeCitation,
  encodeLogprob,
  unreadOf,
} from './citations.ts'
import { decodeAudio, decodeFile, decodeImage } from './media.ts'
import { opensEnvelopes, type Writing } from './writing.ts'

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
  if (logprobs?.length) part.logprobs = decodeLogprobs(logprobs, below(at, 'logprobs'))
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
  if (logprobs?.length) return logprobs.map(one => encodeLogprob(one, true))
  return target === 'output' ? [] : undefined
}
