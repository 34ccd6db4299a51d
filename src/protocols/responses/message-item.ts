import type { MediaPart, Message, Part, Place, Role } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { decodeContent, encodeText } from './content.ts'
import { itemStatus, ownItem, statusOf, strangeStatus, unknownStatus } from './item-head.ts'
import { encodeMedia } from './media.ts'
import type { ResponsesReport } from './notes.ts'
import { absentOf, keep, nulls, ownForm, protocolName, wireOf, words } from './own.ts'
import type { ResponsesContent } from './schema.ts'
import type { Writing } from './writing.ts'

const roles = new Set<unknown>(['user', 'assistant', 'system', 'developer'])

/** An id that is not a string: the schema of the short form allows it. */
const strange = ({ id }: JsonObject) => (id === undefined || id === null || typeof id === 'string' ? {} : { id })

/** A `message` item, whole or in its short form. */
export function decodeMessage(wire: JsonObject, at: Place, report?: ResponsesReport): Message {
  const { type, role: said, content, id, status: _status, phase, ...fields } = wire
  const role = (roles.has(said) ? said : 'assistant') as Role
  const whole = typeof content === 'string'
  const parts: Part[] = whole
    ? [{ type: 'text', text: content, at: below(at, 'content') }]
    : Array.isArray(content)
      ? content.map((part, index) => decodeContent(part as ResponsesContent, below(below(at, 'content'), index), role, report))
      : []
  const form: JsonObject = { item: 'message', ...absentOf(wire, ['type', 'content', 'role']), ...(whole && { content: 'string' }), ...strangeStatus(wire) }
  if (type === null) form['type'] = null
  const known = phase === 'commentary' || phase === 'final_answer'
  return {
    role,
    parts,
    origin: 'item',
    ...(typeof id === 'string' && { id }),
    ...statusOf(wire),
    ...(known ? { phase } : phase === null ? { phase } : {}),
    at,
    ...keep({ ...fields, ...strange({ id }), ...(phase !== undefined && phase !== null && !known && { phase }), ...unknownStatus(wire) }, nulls(wire), form),
  }
}

/** A `message` item around its content. */
export function encodeContainer(message: Message, content: JsonObject[], writing: Writing): JsonObject {
  const form = ownForm(message.ext)
  const role = message.role === 'tool' ? 'user' : message.role
  if (form?.['item'] === 'message') {
    const only = content[0]
    const short = form['content'] === 'string' && content.length === 1 && typeof only?.['text'] === 'string'
    const wire: JsonObject = wireOf(
      { type: 'message', id: idFor(message, writing), status: itemStatus(message), role, content: short ? only['text'] : content, phase: message.phase },
      message.ext,
    )
    if (words(form['absent']).includes('type')) delete wire['type']
    if (form['type'] === null) wire['type'] = null
    return wire
  }
  if (writing.target === 'output')
    return defined({ type: 'message', id: idFor(message, writing), status: message.status ?? 'completed', role, content, phase: message.phase })
  const [only] = content
  const bare = role === 'assistant' && content.length === 1 && only?.['type'] === 'output_text' && isEmptyList(only['annotations']) && !only['logprobs']
  return { type: 'message', role, content: bare ? only['text'] : content, ...(message.phase && { phase: message.phase }) }
}

const idFor = (message: Message, writing: Writing) =>
  writing.target === 'output' ? writing.itemId?.(message.id, 'msg_', ownItem(message, 'message')) : message.id

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/** May this part stand in the content of a message or a result? */
export const isContent = (part: Part) => part.type === 'text' || part.type === 'refusal' || part.type === 'media' || part.type === 'search-result'

/** A part of a message's content. Undefined: the content cannot hold it, which is noted. */
export function encodeContentPart(part: Part, role: Role, writing: Writing): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return encodeText(part, role, writing)
    case 'refusal':
      writing.report.ext(part.ext, part.at)
      if (part.logprobs) writing.report.rest({ logprobs: part.logprobs }, part.at)
      return wireOf({ type: 'refusal', refusal: part.text }, part.ext)
    case 'media':
      if (role === 'assistant' && part.transcript !== undefined) {
        writing.report.add('media.transcript', part.at)
        return encodeText({ type: 'text', text: part.transcript }, role, writing)
      }
      // Here media can only be input of the model, never its output.
      if (ownForm(part.ext) || (writing.target === 'input' && role !== 'assistant')) return encodeMedia(part, writing)
      writing.report.ext(part.ext, part.at)
      writing.report.add('media.unsupported', part.at)
      return undefined
    case 'opaque':
      if (part.protocol === protocolName && isObject(part.raw)) return part.raw
      writing.report.add('part.unknown', part.at)
      return undefined
    default:
      writing.report.add('part.unsupported', part.at)
      return undefined
  }
}

/** The parts of a document that consists of parts; a text file by the model becomes a text part. */
function innerOf(part: MediaPart, role: Role): readonly Part[] | undefined {
  const { source } = part
  if (source.type === 'parts') return source.parts
  return source.type === 'text' && role === 'assistant' && !ownForm(part.ext) ? [{ type: 'text', text: source.text }] : undefined
}

/** A part as content of a message or a result. A part that consists of parts is written as those, after its title. */
export function encodeContent(part: Part, role: Role, writing: Writing): JsonObject[] {
  const inner = part.type === 'search-result' ? part.parts : part.type === 'media' ? innerOf(part, role) : undefined
  if (!inner || (part.type !== 'search-result' && part.type !== 'media')) {
    const wire = encodeContentPart(part, role, writing)
    return wire ? [wire] : []
  }
  const { report, uncached, moved } = writing
  const { at, ext, signature, cache, citations, title } = part
  report.add('content.as-text', at)
  report.ext(ext, at)
  report.rest({ signature, ...(citations?.enabled && { citations }), ...(part.type === 'media' && { filename: part.filename, detail: part.detail }) }, at)
  const heading = [title, part.type === 'search-result' ? part.source : part.context].filter(Boolean).join('\n')
  const pieces: Part[] = [...(heading ? [{ type: 'text' as const, text: heading }] : []), ...inner]
  const last = pieces.at(-1)
  const markAt = moved.has(part) ? moved.get(part) : at
  if (cache && (writing.target === 'output' || role === 'assistant')) report.add('cache.place', markAt, 'cache')
  else if (cache && last) {
    const marked = { ...last, cache }
    moved.set(marked, markAt)
    pieces.splice(-1, 1, marked)
    if (uncached.has(part)) uncached.add(marked)
  }
  return flatMap(pieces, piece => encodeContent(piece, role, writing))
}
