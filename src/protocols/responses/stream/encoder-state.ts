import { copyOf } from '../../../canonical/copy.ts'
import type { PartDelta } from '../../../canonical/event.ts'
import type {
  Citation,
  ExtMap,
  Message,
  Part,
  Place,
  ReasoningSegment,
  TokenLogprob,
} from '../../../canonical/message.ts'
import type { CanonicalResponse, Finish, Usage } from '../../../canonical/response.ts'
import type { UsedNames } from '../../../kit/text/free-names.ts'
import type { CutState } from '../../../kit/tools/cut-calls.ts'
import type { Emit, MachineState } from '../../../protocol.ts'
import { encodeContainer } from '../content/content.ts'
import { encodeMessage } from '../content/items.ts'
import { startWriting, type Writing } from '../content/writing.ts'
import type { Options } from '../options.ts'
import { createResponsesReport, type ResponsesReport } from '../own.ts'
import {
  type Envelope,
  type Fallbacks,
  itemIdOf,
  snapshot,
  startEnvelope,
  type UsedIds,
} from '../response/envelope.ts'
import { isRefusal } from '../response/response.ts'
import type {
  ResponsesEventType,
  ResponsesPayload,
  ResponsesPlace,
  ResponsesWire,
  ResponsesWrittenContent,
  ResponsesWrittenEvent,
  ResponsesWrittenItem,
} from '../written.ts'

export type EmitWire = Emit<ResponsesWire['event']>

/** An item of the output. `wire`: its form in a snapshot taken now. */
export type Item = {
  wire: ResponsesWrittenItem
  done: boolean
  message: number
  /** Of a message: the number of its parts that have not ended. */
  open: number
  /** It takes no more parts, and ends when its last open part ends. */
  closing: boolean
}

/** A message that has begun. */
export type OpenMessage = {
  /** The message without its parts. */
  head: Message
  /** The open `message` item for its texts. */
  item: number | undefined
  /**
   * Its parts so far, where the item is written whole at its end: only texts of the assistant are
   * streamed.
   */
  kept?: Part[]
}

/**
 * A part that has begun, with its content so far. `item` undefined: nothing of it is written before
 * its end.
 */
export type OpenPart = {
  message: number
  value: Part
  item: number | undefined
  content: number
  /**
   * Number of announced reasoning segments; the last one is open. `places`: the place of each among
   * those of its kind.
   */
  segments: number
  places: number[]
  ofKind: Record<ReasoningSegment['kind'], number>
  /**
   * Citations and log probabilities that wait for the text they belong to. `annotations`: number of
   * annotations written.
   */
  waiting: { citations: Citation[]; logprobs: TokenLogprob[]; annotations: number }
  /** The frame of its last delta, reused for the next one of the same kind. */
  written?: Written
}

/**
 * The SSE frame of a delta around its `sequence_number` and text, and the values that it was built
 * from.
 */
export type Written = {
  type: string
  place: number | undefined
  id: unknown
  item: number | undefined
  before: string
  between: string
  behind: string
}

export function startPartState(message: number, head: Part): OpenPart {
  const waiting = { citations: [], logprobs: [], annotations: 0 }
  return {
    message,
    value: copyOf(head),
    item: undefined,
    content: 0,
    segments: 0,
    places: [],
    ofKind: { summary: 0, raw: 0 },
    waiting,
  }
}

/** What the stream encoder remembers between two events. */
export type EncoderState = MachineState &
  CutState & {
    /**
     * `held`: begun, but nothing is written yet, so that an error right at the start can still be
     * an HTTP status.
     */
    phase: 'before' | 'held' | 'inside' | 'ended'
    options: Pick<Options, 'truncated' | 'rawReasoning' | 'fieldNames'>
    fallbacks: Fallbacks
    start: Pick<
      CanonicalResponse,
      'id' | 'model' | 'createdAt' | 'serviceTier' | 'transformations' | 'echo' | 'ext' | 'source'
    >
    envelope: Envelope | undefined
    usedIds: UsedIds
    usedCalls: UsedNames
    /** See `Writing`. */
    expanded: ReadonlySet<string>
    sequence: number
    items: Item[]
    /** All items before this one have ended. */
    firstOpen: number
    messages: Map<number, OpenMessage>
    parts: Map<number, OpenPart>
    /** Index of the item whose end is not written yet, because a limit may have cut it off. */
    held: number | undefined
    /**
     * Reasoning items, by part: a signature may still come for them. `nth`: their number, from 0.
     */
    reasoning: Record<number, { nth: number; message: number }>
    /** How many there are. */
    thoughts: number
    /** There was a call of any kind. */
    called: boolean
    finish: Finish | undefined
    finishExt: ExtMap | undefined
    finishAt: Place | undefined
    blocked: CanonicalResponse['promptBlocked']
    usage: Usage | undefined
  }

export const reportOf = ({ options, notes }: EncoderState): ResponsesReport =>
  createResponsesReport(options.fieldNames, notes)

/** The `Writing` for the encoders of whole items. */
export function writingOf(state: EncoderState): Writing {
  const writing = startWriting(
    'output',
    state.envelope?.native ?? false,
    state.options,
    state.notes,
  )
  writing.expanded = state.expanded
  writing.itemId = (wanted, prefix, native) => {
    const envelope = envelopeOf(state)
    return itemIdOf(
      wanted,
      prefix,
      { id: envelope.id, native: native ?? envelope.native },
      state.usedIds,
    )
  }
  return writing
}

/** The envelope, made at the first use. */
export function envelopeOf(state: EncoderState): Envelope {
  state.envelope ??= startEnvelope(
    Object.assign({}, state.start, state.usage && { usage: state.usage }),
    state.fallbacks,
    startWriting('output', false, state.options, state.notes).report,
  )
  return state.envelope
}

/** Emits an event with its `sequence_number`. */
export function write<Type extends ResponsesEventType>(
  state: EncoderState,
  type: Type,
  payload: ResponsesPayload<Type>,
  emit: EmitWire,
): void {
  // The compiler does not follow that the payload is that of the type.
  emit({ type, sequence_number: state.sequence++, ...payload } as ResponsesWrittenEvent)
}

/** Writes the first two events, before any other. */
export function open(state: EncoderState, emit: EmitWire): void {
  if (state.phase === 'inside') return
  state.phase = 'inside'
  const response = snapshot(envelopeOf(state), { status: 'in_progress', output: [] })
  write(state, 'response.created', { response }, emit)
  write(state, 'response.in_progress', { response }, emit)
}

/** The item of a part, as in every event about the part. */
export function placeOf(state: EncoderState, part: OpenPart): ResponsesPlace {
  return {
    item_id: part.item === undefined ? undefined : state.items[part.item]?.wire.id,
    output_index: part.item,
  }
}

/** A message without its parts. */
export function headOf(state: EncoderState, message: number): Message {
  return state.messages.get(message)?.head ?? { role: 'assistant', origin: 'message', parts: [] }
}

/** Adds an item to the output. */
export function addItem(
  state: EncoderState,
  message: number,
  wire: ResponsesWrittenItem,
  emit: EmitWire,
): number {
  flushHeld(state, emit)
  const index = state.items.length
  state.items.push({ wire, done: false, message, open: 0, closing: false })
  write(state, 'response.output_item.added', { output_index: index, item: copyOf(wire) }, emit)
  return index
}

/** Adds an item and ends it at once. */
export function wholeItem(
  state: EncoderState,
  message: number,
  wire: ResponsesWrittenItem,
  emit: EmitWire,
): void {
  const index = addItem(state, message, wire, emit)
  finishItem(state, index, emit)
}

export function finishItem(state: EncoderState, index: number, emit: EmitWire): void {
  const item = state.items[index]
  if (!item || item.done) return
  item.done = true
  write(state, 'response.output_item.done', { output_index: index, item: copyOf(item.wire) }, emit)
}

/**
 * Holds back the end of a complete item, because only the next event shows whether a limit cut it
 * off.
 */
export function hold(state: EncoderState, index: number, emit: EmitWire): void {
  if (state.held !== index) flushHeld(state, emit)
  state.held = index
}

/** Ends the item whose end was held back. */
export function flushHeld(state: EncoderState, emit: EmitWire): void {
  const { held } = state
  if (held === undefined) return
  state.held = undefined
  const item = state.items[held]
  const cut = state.finish !== undefined && isIncomplete(state.finish, state.items)
  if (item && cut && !state.envelope?.native && typeof item.wire.status === 'string')
    item.wire = { ...item.wire, status: 'incomplete' }
  finishItem(state, held, emit)
}

const isIncomplete = (finish: Finish, items: readonly Item[]) =>
  ['length', 'context_window', 'content_filter', 'recitation', 'pause'].includes(finish.reason) &&
  !isRefusal(
    finish,
    items.map(({ wire }) => wire),
  )

/** Index of the `message` item for the texts of a message; it is opened if needed. */
export function messageItem(state: EncoderState, message: number, emit: EmitWire): number {
  const opened = state.messages.get(message)
  if (opened?.item !== undefined) return opened.item
  const head = headOf(state, message)
  const begun = encodeContainer(
    Object.assign({}, head, { status: 'in_progress' as const }),
    [],
    writingOf(state),
  )
  const wire: ResponsesWrittenItem = {
    ...begun,
    type: 'message',
    status: 'in_progress',
    content: [],
  }
  const index = addItem(state, message, wire, emit)
  if (opened) opened.item = index
  return index
}

/** Puts a part that has begun into the `message` item of its message. */
export function enterItem(state: EncoderState, part: OpenPart, emit: EmitWire): Item | undefined {
  part.item = messageItem(state, part.message, emit)
  const item = state.items[part.item]
  if (item) item.open++
  return item
}

export function leaveItem(state: EncoderState, { item: index }: OpenPart): void {
  const item = index === undefined ? undefined : state.items[index]
  if (item && item.open > 0) item.open--
}

/** The content of a `message` item, to push to. */
export function contentOf(item: Item | undefined): ResponsesWrittenContent[] {
  const content = item?.wire.type === 'message' ? item.wire.content : undefined
  return Array.isArray(content) ? content : []
}

/** Closes the `message` item of a message: texts that follow go into another item. */
export function closeMessageItem(
  state: EncoderState,
  message: number,
  status: Message['status'],
  emit: EmitWire,
): void {
  const opened = state.messages.get(message)
  if (opened?.kept) {
    const whole = { ...opened.head, parts: opened.kept, ...(status && { status }) }
    delete opened.kept
    const writing = writingOf(state)
    const items = encodeMessage(whole, writing)
    writing.report.resolvePending(items, `/output/${state.items.length}`)
    for (const item of items) hold(state, addItem(state, message, item, emit), emit)
    return
  }
  if (opened?.item === undefined) return
  const item = state.items[opened.item]
  if (item) {
    item.wire = { ...item.wire, status: status ?? 'completed' }
    item.closing = true
  }
  endClosing(state, opened.item, emit)
  opened.item = undefined
}

/** Ends an item that takes no more parts, when its last part is done. */
export function endClosing(state: EncoderState, index: number | undefined, emit: EmitWire): void {
  const item = index === undefined ? undefined : state.items[index]
  if (index !== undefined && item?.closing && item.open === 0) hold(state, index, emit)
}

/** See `ClientHalf`. */
export function writeDelta(
  given: MachineState,
  { part: key, delta }: PartDelta,
  literal: string,
): string | undefined {
  const state = given as EncoderState
  const part = state.parts.get(key)
  if (state.phase !== 'inside' || part?.item === undefined) return undefined
  const { value, waiting } = part
  switch (delta.kind) {
    case 'text':
      if ((value.type !== 'text' && value.type !== 'refusal') || waiting.logprobs.length > 0)
        return undefined
      value.text += delta.text
      return frame(
        state,
        around(state, part, value.type === 'text' ? ways.text : ways.refusal, part.content),
        literal,
      )
    case 'input':
      if (value.type !== 'tool-call') return undefined
      value.input += delta.text
      return frame(
        state,
        around(state, part, value.kind === 'freeform' ? ways.freeform : ways.input),
        literal,
      )
    case 'reasoning': {
      const segment = value.type === 'reasoning' ? value.segments[delta.segment] : undefined
      if (value.type !== 'reasoning' || !segment || delta.segment !== part.segments - 1)
        return undefined
      segment.text += delta.text
      return frame(
        state,
        around(state, part, ways[segment.kind], part.places[delta.segment]),
        literal,
      )
    }
    default:
      return undefined
  }
}

/** `index`: the key for the place within the item; `rest`: the JSON after the text. */
type Way = { type: string; index?: string; rest: string }

const ways = {
  text: { type: 'response.output_text.delta', index: 'content_index', rest: ',"logprobs":[]' },
  refusal: { type: 'response.refusal.delta', index: 'content_index', rest: '' },
  input: { type: 'response.function_call_arguments.delta', rest: '' },
  freeform: { type: 'response.custom_tool_call_input.delta', rest: '' },
  summary: { type: 'response.reasoning_summary_text.delta', index: 'summary_index', rest: '' },
  raw: { type: 'response.reasoning_text.delta', index: 'content_index', rest: '' },
} as const satisfies Record<string, Way>

const frame = (state: EncoderState, { before, between, behind }: Written, literal: string) =>
  `${before}${state.sequence++}${between}${literal}${behind}`

/**
 * The frame of a part's deltas around number and text, built once per part: built for each delta,
 * it was half of a stream's garbage.
 */
function around(
  { items }: EncoderState,
  part: OpenPart,
  { type, index, rest }: Way,
  place?: number,
): Written {
  const { item, written } = part
  const id = item === undefined ? undefined : items[item]?.wire['id']
  if (
    written?.type === type &&
    written.place === place &&
    written.id === id &&
    written.item === item
  )
    return written
  const within = index === undefined ? '' : `"${index}":${place},`
  part.written = {
    type,
    place,
    id,
    item,
    before: `event: ${type}\ndata: {"type":"${type}","sequence_number":`,
    between: `,${id === undefined ? '' : `"item_id":${JSON.stringify(id)},`}"output_index":${item},${within}"delta":`,
    behind: `${rest}}\n\n`,
  }
  return part.written
}
