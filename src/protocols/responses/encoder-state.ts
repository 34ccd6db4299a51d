import { copyOf } from '../../canonical/copy.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Citation, ExtMap, Message, Part, TokenLogprob } from '../../canonical/message.ts'
import type { Finish, Usage } from '../../canonical/response.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { EmitWire, MachineState } from '../../protocol.ts'
import { type Envelope, type Fallbacks, itemIdOf, snapshot, startEnvelope } from './envelope.ts'
import { createResponsesReport, type ResponsesReport } from './notes.ts'
import type { Options } from './options.ts'
import { startWriting, type Writing } from './writing.ts'

/** An item of the output. `wire`: as it would be in a snapshot taken now. */
export type Item = {
  wire: JsonObject
  done: boolean
  message: number
  /** Takes no more parts, and ends with the last of those that are open. */
  closing: boolean
}

/** A message that has begun. */
export type OpenMessage = {
  /** Without its parts. */
  head: Message
  /** The `message` item that takes its texts. */
  item: number | undefined
  /** Its parts so far, where the item comes whole at its end: only texts of the assistant are streamed. */
  kept?: Part[]
}

/** A part that has begun, with what was told of it so far. `item` undefined: nothing of it is written before its end. */
export type OpenPart = {
  message: number
  value: Part
  item: number | undefined
  content: number
  /** Segments of reasoning that were announced; the last one is open. */
  segments: number
  /** Offsets and log probabilities that wait for the text they belong to. */
  waiting: { citations: Citation[]; logprobs: TokenLogprob[]; annotations: number }
  /** Its last delta, for one like it. */
  written?: Written
}

/** The frame of a delta around its number and its text, and what it was made of. */
export type Written = { type: string; place: number | undefined; id: unknown; item: number | undefined; before: string; between: string; behind: string }

export function startPartState(message: number, head: Part): OpenPart {
  const waiting = { citations: [], logprobs: [], annotations: 0 }
  return { message, value: copyOf(head), item: undefined, content: 0, segments: 0, waiting }
}

/** What the stream encoder remembers between two events. */
export type EncoderState = MachineState & {
  /** `held`: begun, but nothing is written, so that an error that comes at once can still be an HTTP status. */
  phase: 'before' | 'held' | 'inside' | 'ended'
  options: Pick<Options, 'truncated' | 'strictEnums' | 'deferStart' | 'rsMidStreamError' | 'rsSequential' | 'rsRawReasoning' | 'rsMissingUsage' | 'fieldNames'>
  fallbacks: Fallbacks
  start: { id?: string; model?: string; createdAt?: number; serviceTier?: string; ext?: ExtMap }
  envelope: Envelope | undefined
  usedIds: string[]
  usedCalls: string[]
  sequence: number
  items: Item[]
  messages: Record<number, OpenMessage>
  parts: Record<number, OpenPart>
  /** The item whose end is not written yet, because a limit may have cut it off. */
  held: number | undefined
  /** Items of reasoning, by the part that each is; a proof may still come for them. */
  thoughts: Record<number, { nth: number; message: number }>
  /** There was a call, of whatever kind. */
  called: boolean
  finish: Finish | undefined
  finishExt: ExtMap | undefined
  finishAt: string | undefined
  blocked: boolean
  usage: Usage | undefined
  /** Candidates beyond the first, which were noted. */
  passedOver: number[]
  /** With `rsSequential`: the part being written, and the events that wait for its end. */
  active: number | undefined
  queue: CanonicalEvent[]
}

export const reportOf = ({ options, notes }: EncoderState): ResponsesReport => createResponsesReport(options.fieldNames, notes)

/** For the encoders of whole items. */
export function writingOf(state: EncoderState): Writing {
  const writing = startWriting('output', state.envelope?.native ?? false, state.options, state.notes)
  writing.itemId = (wanted, prefix, _, native) => {
    const envelope = envelopeOf(state)
    return itemIdOf(wanted, prefix, { id: envelope.id, native: native ?? envelope.native }, state.usedIds)
  }
  return writing
}

/** Made when it is first asked for. */
export function envelopeOf(state: EncoderState): Envelope {
  state.envelope ??= startEnvelope(state.start, state.fallbacks, startWriting('output', false, state.options, state.notes).report)
  return state.envelope
}

/** Emits an event with its number. */
export function write(state: EncoderState, type: string, payload: JsonObject, emit: EmitWire): void {
  emit({ type, sequence_number: state.sequence++, ...payload })
}

/** The first two events, before anything else is written. */
export function open(state: EncoderState, emit: EmitWire): void {
  if (state.phase === 'inside') return
  state.phase = 'inside'
  const response = snapshot(envelopeOf(state), { status: 'in_progress', output: [] })
  write(state, 'response.created', { response }, emit)
  write(state, 'response.in_progress', { response }, emit)
}

/** Where a content part stands, as every event about it says. */
export function placeOf(state: EncoderState, part: OpenPart): JsonObject {
  return { item_id: part.item === undefined ? undefined : state.items[part.item]?.wire['id'], output_index: part.item }
}
