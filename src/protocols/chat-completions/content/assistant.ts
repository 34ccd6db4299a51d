import type {
  MediaPart,
  Message,
  OpaquePart,
  Part,
  Place,
  ReasoningPart,
  RefusalPart,
  ServerToolPart,
  TextPart,
} from '../../../canonical/message.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { append } from '../../../kit/text/append.ts'
import { extractTags } from '../../../kit/text/think-tags.ts'
import { keep, ownOf, protocolName, withUnknown } from '../own.ts'
import type { ChatCompletionsAssistantMessage, ChatCompletionsChoice } from '../schema.ts'
import type {
  ChatCompletionsBlock,
  ChatCompletionsWrittenAssistant,
  ChatCompletionsWrittenCall,
} from '../written.ts'
import {
  decodeCall,
  decodeLegacyCall,
  encodeCall,
  encodeLegacyCall,
  isOneTooMany,
  takesOneCall,
} from './calls.ts'
import {
  carriersIn,
  carriesReasoning,
  carryReasoning,
  encodeCarriers,
  noteTags,
  splitCarriers,
  unknownBeside,
  unknownOfCarriers,
} from './carriers.ts'
import {
  attachCitations,
  decodeContent,
  encodeCitations,
  encodeParts,
  isInContent,
  noteLostBoundaries,
  unknownOfAnnotations,
} from './content.ts'
import { arrange, restoreOrder } from './layout.ts'
import {
  decodeAudioOutput,
  decodeImages,
  encodeAudioOutput,
  encodeImageOutput,
  isAudible,
} from './media.ts'
import {
  type DecodedReasoning,
  decodeReasoning,
  emptySignature,
  reasoningText,
  withoutEmptySignature,
} from './reasoning.ts'
import { type AssistantToWrite, opensEnvelopes, type Reading, type Writing } from './writing.ts'

/** In a response the role may be missing. */
type ChatCompletionsAssistantWire =
  | NonNullable<ChatCompletionsChoice['message']>
  | ChatCompletionsAssistantMessage

const known = keysOf<ChatCompletionsAssistantMessage>()(
  'role content name refusal audio tool_calls function_call annotations',
)

/**
 * An assistant message of a conversation or a response. The wire has a field for each kind of part,
 * so their order is not known. The default is reasoning, text, refusal, media, calls; a recorded
 * layout overrides it.
 */
export function decodeAssistant(
  wire: ChatCompletionsAssistantWire,
  at: Place,
  reading: Reading,
): Message {
  const { content, name, refusal, audio, tool_calls, function_call, annotations } = wire
  const extra = unknownOf(wire, known)
  // Most messages have no further keys.
  const { carriers, rest } = extra ? splitCarriers(extra) : { carriers: {}, rest: {} }
  const reasoning = decodeReasoning(carriers, at, reading.from)
  const images = decodeImages(rest['images'], at)
  if (images) delete rest['images']

  const calls: Part[] = (tool_calls ?? []).map((call, i) =>
    decodeCall(call, { at: below(below(at, 'tool_calls'), i), ordinal: i, reading }),
  )
  // Some servers send an empty call with every text.
  if (function_call?.name === '') rest['function_call'] = function_call
  else if (function_call)
    calls.push(decodeLegacyCall(function_call, below(at, 'function_call'), reading.legacyId()))
  const others: Part[] = []
  if (refusal) others.push({ type: 'refusal', text: refusal, at: below(at, 'refusal') })
  if (images) append(others, images)
  if (audio) others.push(decodeAudioOutput(audio, at))
  const onlyEmpty =
    content === '' && (calls.length > 0 || others.length > 0 || reasoning.parts.length > 0)
  const contentParts = onlyEmpty ? [] : decodeContent(content, at, reading.report)
  const taken = reading.thinkTags ? extractTags(contentParts) : contentParts
  const body = [...taken]
  if (taken !== contentParts) noteTags(at, reading.report)
  const unread =
    annotations &&
    (attachCitations(body, annotations) ? unknownOfAnnotations(annotations) : annotations)
  if (unread) rest['annotations'] = unread
  const carried = reading.from === 'client' ? carriersIn(tool_calls, carriers, at) : undefined
  const textSignatures = signaturesOfTexts(reasoning, calls, carriers)
  const slots = { reasoning: reasoning.parts, body, others, calls }
  const parts = carried
    ? restoreOrder(
        slots,
        { carriers: carried, plainText: reasoningText(reasoning.parts) },
        reading.report,
      )
    : arrange(slots, { ...reasoning, textSignatures }, { report: reading.report, at })
  if (reading.seals) sealEmpty(parts)
  const message: Message = { role: 'assistant', origin: 'message', parts, at }
  if (name !== undefined && name !== null) message.name = name
  return keep(message, omitUndefinedOrNone(extra ? merge(rest, unknownOfCarriers(carriers)) : rest))
}

function sealEmpty(parts: readonly Part[]): void {
  for (const part of parts)
    if (part.type === 'reasoning' && part.segments.length > 0) part.signature ??= emptySignature
}

/** LiteLLM lists the signatures of calls again in the message. */
function signaturesOfTexts(
  { textSignatures }: DecodedReasoning,
  calls: readonly Part[],
  { provider_specific_fields: ofProxy }: JsonObject,
) {
  if (!isObject(ofProxy) || !('thought_signatures' in ofProxy)) return textSignatures
  const listed = new Set(calls.map(({ signature }) => signature?.value))
  return textSignatures.filter(({ signature }) => !listed.has(signature.value))
}

/** Writes an assistant message. Undefined: none of its parts could be written. */
export function encodeAssistant(
  from: AssistantToWrite,
  writing: Writing,
): ChatCompletionsWrittenAssistant | undefined {
  const { parts, name, ext, at, recipient } = from
  const { report, native } = writing
  report.ext(ext, at)

  const single = recipient === 'client' && takesOneCall(writing.options.context)
  const known: ChatCompletionsWrittenAssistant = { role: 'assistant', content: undefined, name }
  const slots: Slots = { known, calls: [], images: [], body: [], texts: [], reasoning: [] }
  fillAll(slots, parts, { recipient, single, writing })
  const { calls, images } = slots
  if (images.length > 0) known.images = images
  if (calls.length > 0) known.tool_calls = calls

  Object.assign(
    known,
    encodeBody(slots, { writing, recipient }),
    encodeCarriers(slots.reasoning, from, writing),
  )
  const isEmpty = known.content === undefined && Object.keys(omitUndefined(known)).length === 1
  if (isEmpty && recipient === 'server' && !native) return undefined
  const silent =
    calls.length > 0 ||
    known.function_call !== undefined ||
    known.refusal !== undefined ||
    known.audio !== undefined ||
    images.length > 0
  known.content ??= silent || native || recipient === 'client' ? null : ''
  if (recipient === 'client') known.refusal ??= null
  const fields = ownOf(ext)
  const message = fields
    ? withUnknown<ChatCompletionsWrittenAssistant>(
        known,
        unknownBeside(fields, known, { at, report }),
      )
    : omitUndefined<ChatCompletionsWrittenAssistant>(known)
  // They are those of citations, which have them.
  if (slots.texts.length > 0 && known.annotations === undefined) delete message.annotations
  return message
}

function fillAll(slots: Slots, parts: readonly Part[], filling: Filling): void {
  const { recipient, single, writing } = filling
  const carries =
    recipient === 'client' && !single && !writing.native && carriesReasoning(writing.options)
  let since: Part[] = []
  for (const read of parts) {
    const part = withoutEmptySignature(read)
    fill(slots, part, filling)
    if (!carries) continue
    if (part.type !== 'tool-call') since.push(part)
    else {
      Object.assign(slots.calls.at(-1) ?? {}, carryReasoning(since, part))
      since = []
    }
  }
}

/**
 * Where the parts of a message go. `known`: message fields as they are written; `texts`: the text
 * parts of `body`.
 */
type Slots = {
  known: ChatCompletionsWrittenAssistant
  calls: ChatCompletionsWrittenCall[]
  images: ChatCompletionsBlock[]
  body: Part[]
  texts: TextPart[]
  reasoning: ReasoningPart[]
}

/** `single`: the client knows only `function_call`. */
type Filling = { recipient: 'client' | 'server'; single: boolean; writing: Writing }

/** Puts a part into its slot. Makes a note for a part that has none. */
function fill(slots: Slots, part: Part, { recipient, single, writing }: Filling): void {
  const { known, calls, body, texts, reasoning } = slots
  const { report, native } = writing
  if (native && part.type !== 'text' && isInContent(part)) {
    body.push(part)
    return
  }
  switch (part.type) {
    case 'text':
      texts.push(part)
      body.push(part)
      break
    case 'reasoning':
      reasoning.push(part)
      break
    case 'refusal':
      report.ext(part.ext, part.at)
      known.refusal = joined(known.refusal, part.text)
      break
    case 'tool-call':
      if (!single) calls.push(encodeCall(part, recipient, writing))
      else if (!isOneTooMany(part, known.function_call !== undefined, writing))
        known.function_call = encodeLegacyCall(part, writing)
      break
    case 'media':
      fillMedia(slots, part, { recipient, single, writing })
      break
    case 'opaque':
      if (part.protocol !== protocolName) noteUnplaced(part, report)
      else if (isObject(part.raw) && isInCalls(part)) calls.push(asRead(part.raw))
      else body.push(part)
      break
    case 'server-tool': {
      const image = recipient === 'client' ? part.image : undefined
      noteServerTool(part, image, report)
      if (image) fillMedia(slots, image, { recipient, single, writing })
      break
    }
    case 'search-result':
    case 'tool-result':
    case 'control':
      noteUnplaced(part, report)
      break
    default:
      part satisfies never
  }
}

/** Makes the note for a part of a kind that has no place here. */
export const noteUnplaced = ({ type, at }: Part, report: Writing['report']) =>
  report.add(type === 'opaque' ? 'part.unknown' : 'part.unsupported', at)

/** Of what a tool of the server did, only the image that it made has a place. */
export function noteServerTool(
  part: ServerToolPart,
  image: MediaPart | undefined,
  report: Writing['report'],
): void {
  if (image) report.add('server-tool.image-only', part.at)
  else noteUnplaced(part, report)
}

/** A message has one field for audio. */
function fillMedia(
  { known, images }: Slots,
  part: MediaPart,
  { recipient, writing }: Filling,
): void {
  const { report, native } = writing
  const isSecond = known.audio !== undefined && part.kind === 'audio'
  if (isSecond || !(recipient === 'client' || native)) report.add('part.unsupported', part.at)
  else if (isAudible(part)) known.audio = encodeAudioOutput(part, writing)
  else images.push(...encodeImageOutput(part, images.length, writing))
}

/** Is it a call of a type that is not known? */
export const isInCalls = ({ at }: OpaquePart): boolean =>
  at !== undefined && /\/tool_calls\/\d+$/.test(pointerOf(at))

const joined = (before: unknown, text: string) =>
  typeof before === 'string' ? before + text : text

const handled = bookOf<TextPart>()(
  { 'cache.unsupported': 'cache' },
  'type text at ext citations logprobs signature phase',
)

/** Writes `content`, and, for clients, `annotations`. */
function encodeBody(
  { body, texts }: Pick<Slots, 'body' | 'texts'>,
  { writing, recipient }: Pick<Filling, 'writing' | 'recipient'>,
): Pick<ChatCompletionsWrittenAssistant, 'content' | 'annotations'> {
  const { report, native, options } = writing
  const opens = opensEnvelopes(recipient, options)
  const annotations = recipient === 'client' || native ? encodeCitations(texts, report) : []
  if (!opens) for (const { phase, at } of texts) if (phase) report.add('message.phase', at)
  if (recipient === 'server' && !native)
    for (const { citations, at } of texts)
      if (citations?.length) report.add('citation.unsupported', at, 'citations')
  const listed = annotations.length > 0 ? { annotations } : {}

  // A string holds no unknown keys. A layout counts in one text.
  const isList =
    native &&
    (body.length > texts.length ||
      texts.some(({ ext }) => ownOf(ext)) ||
      (!opens && (texts.length > 1 || texts.some(({ cache }) => cache))))
  if (isList) return { content: encodeParts(body.map(bare), writing), ...listed }
  for (const part of texts) noteUnwritten(part, recipient, report)
  for (const part of body) if (part.type !== 'text') report.add('part.unsupported', part.at)
  if (!native) noteLostBoundaries(texts, report)
  const content = texts.length > 0 ? texts.map(({ text }) => text).join('') : undefined
  return content === undefined || (content === '' && texts.every(({ signature }) => signature))
    ? listed
    : { content, ...listed }
}

export function noteUnwritten(
  part: TextPart | RefusalPart,
  recipient: Filling['recipient'],
  report: Writing['report'],
): void {
  report.node(part, handled)
  if (recipient === 'server') report.rest({ logprobs: part.logprobs }, part.at)
}

/**
 * The part without the fields that are written elsewhere: citations, log probabilities, signatures
 * and phases.
 */
function bare(part: Part): Part {
  if (part.type !== 'text') return part
  const {
    citations: _citations,
    logprobs: _logprobs,
    signature: _signature,
    phase: _phase,
    ...rest
  } = part
  return rest
}
