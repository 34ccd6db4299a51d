import type { CanonicalEvent, PartDelta } from '../../../canonical/event.ts'
import type {
  ExtMap,
  Part,
  Place,
  Role,
  TextPart,
  TokenLogprob,
} from '../../../canonical/message.ts'
import type { CanonicalResponse, Finish, Usage } from '../../../canonical/response.ts'
import type { StreamedPhase } from '../../../kit/conversation/phases.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import type { CutState } from '../../../kit/tools/cut-calls.ts'
import type { Emit, FieldNames, MachineState } from '../../../protocol.ts'
import { type Gathered, nothingGathered } from '../content/reasoning.ts'
import { createGeminiReport, type GenerateContentReport } from '../own.ts'
import { writeTime } from '../response/response.ts'
import type {
  GenerateContentWire,
  GenerateContentWrittenCandidate,
  GenerateContentWrittenPart,
  GenerateContentWrittenResponse,
} from '../written.ts'

export type EmitWire = Emit<GenerateContentWire['event']>

/** Of a candidate, what is written next to a text. */
export type Beside = Pick<GenerateContentWrittenCandidate, 'logprobsResult' | 'groundingMetadata'>

/** Shared by the files of the stream encoder: its state, and the writing of an event. */

/** A part with everything received of it so far. */
export type Pending = {
  key: string
  part: Part
  /** For texts and reasoning: the length that is already written, in UTF-16 units. */
  sent: number
}

/** One candidate. Its parts arrive one after the other. */
export type Lane = {
  candidate: number
  /** Unknown fields of its content, for the first event that has a content. */
  around: JsonObject
  /** Messages of somebody other than the model, by number. */
  voices: Record<number, { role: Role; at: Place | undefined }>
  /** The phases of messages, by their number. `carried`: a text carries it. */
  phases: Record<number, { at: Place | undefined } & StreamedPhase>
  /** The message whose part has begun last. */
  message: number
  open: Pending | undefined
  called: boolean
  /**
   * The kind of the last written part, if decoders would append the next text of that kind to it.
   */
  openKind: 'text' | 'thought' | undefined
  /**
   * What follows a text (signature, logprobs, citations): held back for the last event, which needs
   * a part, or until the next part.
   */
  pending: { part: GenerateContentWrittenPart; beside: Beside } | undefined
  /**
   * Ended reasoning by part key: `nth` counts from 0, `lengths` are those of the segments in UTF-16
   * units.
   */
  reasoning: Record<string, { nth: number; lengths: number[] }>
  /** How many there are. */
  thoughts: number
  /**
   * What the next call will carry, for clients that drop reasoning. Undefined: calls carry nothing.
   */
  gathered: Gathered | undefined
  /** Parts with signatures that came after their thought had ended; written in the last event. */
  signatures: GenerateContentWrittenPart[]
  /**
   * The written texts. `written`: their length in bytes, and the sources that are already written.
   */
  texts: TextPart[]
  written: { bytes: number; sources: Map<string, number> }
  /** Some citations were already written. */
  grounded: boolean
  finish: Finish | undefined
  finishAt: Place | undefined
  /** Of tokens that belong to no text. */
  logprobs: TokenLogprob[] | undefined
  /** See `Candidate`. */
  grounding: unknown
  ext: ExtMap | undefined
}

export type EncoderState = MachineState &
  CutState & {
    fieldNames: FieldNames
    truncated: 'error' | 'length'
    /** Do calls carry the reasoning before them? */
    carries: boolean
    done: boolean
    /** Some part of the response is written. */
    begun: boolean
    start: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>
    /** `text`: the end of every event as JSON, cached for this `start`. */
    written?: { start: EncoderState['start']; text: string }
    /** By candidate index. */
    lanes: Record<string, Lane>
    usage: Usage | undefined
    promptBlocked: CanonicalResponse['promptBlocked']
    ext: ExtMap | undefined
  }

export const reportOf = ({ notes, fieldNames }: EncoderState): GenerateContentReport =>
  createGeminiReport(fieldNames, notes)

export function laneOf(state: EncoderState, candidate: number): Lane {
  const known = Object.hasOwn(state.lanes, candidate) ? state.lanes[candidate] : undefined
  if (known) return known
  const lane: Lane = {
    candidate,
    around: {},
    voices: {},
    phases: {},
    message: 0,
    open: undefined,
    called: false,
    openKind: undefined,
    pending: undefined,
    reasoning: {},
    thoughts: 0,
    gathered: state.carries ? nothingGathered() : undefined,
    signatures: [],
    texts: [],
    written: { bytes: 0, sources: new Map() },
    grounded: false,
    finish: undefined,
    finishAt: undefined,
    logprobs: undefined,
    grounding: undefined,
    ext: undefined,
  }
  state.lanes[candidate] = lane
  return lane
}

/** The fields of the response that every event has. */
export function headOf({
  start: { id, model, createdAt },
}: EncoderState): Pick<
  GenerateContentWrittenResponse,
  'modelVersion' | 'responseId' | 'createTime'
> {
  return omitUndefined({
    modelVersion: model || undefined,
    responseId: id || undefined,
    createTime: writeTime(createdAt),
  })
}

/** Writes parts of one candidate as an event. `beside`: other fields of the candidate. */
export function writeParts(
  state: EncoderState,
  lane: Lane,
  parts: GenerateContentWrittenPart[],
  beside: Beside,
  emit: EmitWire,
): void {
  if (parts.length === 0) return
  const { candidate, around } = lane
  state.begun = true
  lane.around = {}
  emit({
    candidates: [{ index: candidate, content: { ...around, role: 'model', parts }, ...beside }],
    ...headOf(state),
  })
}

/** See `ClientHalf`. */
export function writeDelta(
  given: MachineState,
  { candidate, part, delta }: PartDelta,
  literal: string,
): string | undefined {
  const state = given as EncoderState
  const lane = Object.hasOwn(state.lanes, candidate) ? state.lanes[candidate] : undefined
  const { open } = lane ?? {}
  // The first chunk of a part is written with the part's other fields.
  if (state.done || !lane || lane.pending || open?.key !== String(part) || open.sent === 0)
    return undefined
  const { part: whole } = open
  if (delta.kind === 'text' && whole.type === 'text') whole.text += delta.text
  else if (delta.kind === 'reasoning' && whole.type === 'reasoning') {
    const segment = whole.segments[delta.segment]
    if (!segment?.text || delta.segment !== whole.segments.length - 1) return undefined
    segment.text += delta.text
  } else return undefined
  open.sent += delta.text.length
  const fields = delta.kind === 'reasoning' ? `${literal},"thought":true` : literal
  return `data: {"candidates":[{"index":${candidate},"content":{"role":"model","parts":[{"text":${fields}}]}}]${headText(state)}\r\n\r\n`
}

/** The JSON that ends every event, cached. */
function headText(state: EncoderState): string {
  if (state.written?.start !== state.start) {
    const text = JSON.stringify(headOf(state)).slice(1)
    state.written = { start: state.start, text: text === '}' ? text : `,${text}` }
  }
  return state.written.text
}
