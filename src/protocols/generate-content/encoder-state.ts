import type { CanonicalEvent } from '../../canonical/event.ts'
import type { ExtMap, Part, TextPart, TokenLogprob } from '../../canonical/message.ts'
import type { CanonicalResponse, Finish, Usage } from '../../canonical/response.ts'
import { defined } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { EmitWire, FieldNames, MachineState } from '../../protocol.ts'
import { type Gathered, nothingGathered } from './carried-thoughts.ts'
import { createGeminiReport, type GeminiReport } from './notes.ts'
import { protocolName } from './own.ts'
import { writeTime } from './response.ts'

/** What the files of the stream encoder share: its state, and how an event is written. */

/** A part with all that came of it so far. */
export type Pending = {
  key: string
  part: Part
  /** Of text and thoughts: how much of it is written, in UTF-16 units. */
  sent: number
  ended: boolean
}

/** One candidate: its parts are written one after the other, whatever the order of their deltas. */
export type Lane = {
  candidate: number
  /** What nobody knew of its content, for the first event that has one. */
  around: JsonObject
  open: Pending | undefined
  queue: Pending[]
  called: boolean
  /** What was written last, where readers would go on with it. */
  goesOn: 'text' | 'thought' | undefined
  /** What follows a text: it waits for the finish, which needs a part to stand beside. */
  owed: { part: JsonObject; beside: JsonObject } | undefined
  /** Thoughts that are over, by key: how many stand before, and how long their segments are. */
  thoughts: Record<string, { nth: number; lengths: number[] }>
  /** What calls are to carry, for clients that forget thoughts. */
  gathered: Gathered | undefined
  /** Proofs that came when their thought was over; they are told last. */
  proofs: JsonObject[]
  /** Texts that are written, and what of their citations is told. */
  texts: TextPart[]
  told: { bytes: number; sources: string[] }
  /** Some of them went out before the end. */
  grounded: boolean
  finish: Finish | undefined
  finishAt: string | undefined
  /** Of tokens that stand in no text. */
  logprobs: TokenLogprob[] | undefined
  ext: ExtMap | undefined
}

export type EncoderState = MachineState & {
  fieldNames: FieldNames
  truncated: 'error' | 'length'
  /** Do calls carry what was thought before them? */
  carries: boolean
  done: boolean
  /** Something of the reply is written. */
  begun: boolean
  start: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>
  /** What every event says of it as JSON, and what that was made of. */
  written?: { start: EncoderState['start']; text: string }
  /** By candidate. */
  lanes: Record<string, Lane>
  usage: Usage | undefined
  promptBlocked: CanonicalResponse['promptBlocked']
  ext: ExtMap | undefined
}

export const reportOf = ({ notes, fieldNames }: EncoderState): GeminiReport => createGeminiReport(fieldNames, notes)

export function laneOf(state: EncoderState, candidate: number): Lane {
  const known = Object.hasOwn(state.lanes, candidate) ? state.lanes[candidate] : undefined
  if (known) return known
  const lane: Lane = {
    candidate,
    around: {},
    open: undefined,
    queue: [],
    called: false,
    goesOn: undefined,
    owed: undefined,
    thoughts: {},
    gathered: state.carries && state.start.ext?.[protocolName] === undefined ? nothingGathered() : undefined,
    proofs: [],
    texts: [],
    told: { bytes: 0, sources: [] },
    grounded: false,
    finish: undefined,
    finishAt: undefined,
    logprobs: undefined,
    ext: undefined,
  }
  state.lanes[candidate] = lane
  return lane
}

/** What every event says of the reply. */
export function headOf({ start: { id, model, createdAt } }: EncoderState): JsonObject {
  return defined({ modelVersion: model || undefined, responseId: id || undefined, createTime: writeTime(createdAt) })
}

/** Parts of one candidate. `beside`: what else is said of it. */
export function writeParts(state: EncoderState, lane: Lane, parts: readonly JsonObject[], beside: JsonObject, emit: EmitWire): void {
  if (parts.length === 0) return
  const { candidate, around } = lane
  state.begun = true
  lane.around = {}
  emit({ candidates: [{ index: candidate, content: { ...around, role: 'model', parts }, ...beside }], ...headOf(state) })
}
