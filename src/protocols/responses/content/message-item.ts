import type {
  Message,
  Part,
  Place,
  RefusalPart,
  Role,
  TextPart,
} from '../../../canonical/message.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { ResponsesReport } from '../notes.ts'
import { protocolName, wireOf } from '../own.ts'
import type { ResponsesContent, ResponsesMessage } from '../schema.ts'
import type { ResponsesContentOf, ResponsesItemOf, ResponsesWrittenContent } from '../written.ts'
import { decodeContent, encodeText } from './content.ts'
import { encodeMedia } from './media.ts'
import { statusOf, type Writing, withHead } from './writing.ts'

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
