import type { Delta } from '../../canonical/event.ts'
import type { Part, ReasoningPart, Role, Signature, ToolCallPart } from '../../canonical/message.ts'
import type { CanonicalResponse, Usage } from '../../canonical/response.ts'
import type { JsonObject, JsonProgress } from '../../kit/json.ts'
import type { EmitWire, FieldNames, MachineState } from '../../protocol.ts'
import type { Phase } from './layout.ts'
import { type ChatReport, createChatReport } from './notes.ts'
import type { Options } from './options.ts'
import { encodeHead } from './response.ts'
import type { StoredProofs } from './stored-proofs.ts'

export type CallOut = {
  kind: 'call'
  head: ToolCallPart
  /** Index on the wire, once it was opened. */
  index: number | undefined
  /** What came while another call was open. */
  buffer: string
  json: JsonProgress
  /** All input that came, for comparing with what the source says at the end. */
  input: string
  sent: boolean
  ended: boolean
  closed: boolean
  /** What began between the call before and it. */
  since: Laned[]
}

/** What came for a part while another of its kind, or an earlier message, was open. */
type Held = { held: Delta[]; ended: boolean; final: Part | undefined }

type TextOut = {
  kind: 'text'
  at?: string
  text: string
  start: number
  end: number | undefined
  citations: Extract<Delta, { kind: 'citation' }>['citation'][]
  /** The message that it stands in, and the phase of that. */
  message: number
  phase: Phase | undefined
  signature?: Signature
}

export type Laned = (TextOut | { kind: 'refusal'; text: string } | { kind: 'reasoning'; part: ReasoningPart }) & Held

export type PartOut = CallOut | Laned | { kind: 'audio'; id: string; late: JsonObject; heard: boolean } | { kind: 'none' }

/** All text of an answer is one field, as are all refusals and all reasoning: parts of one kind must not mix. */
type Lane = { open: number | undefined; queue: Waiting[] }

type Waiting = { part: number; message: number }

export type Choice = {
  index: number
  begun: boolean
  finished: boolean
  /** In the order in which they came. */
  parts: Map<number, PartOut>
  /** Those that came after the last call. */
  since: Laned[]
  nextCall: number
  /** The one call that may be written to; clients take a call for complete when another begins. */
  open: number | undefined
  queue: number[]
  lanes: Record<Laned['kind'], Lane>
  /** Those that have not ended: what later messages say waits for them. */
  openMessages: number[]
  name: string | undefined
  /** What nobody knew of its messages, for the first delta. */
  beside: JsonObject
  /** `reasoning_details` of a whole answer of this protocol, as they came. */
  details: unknown
  /** By message: whose words its parts are, and where it stood. */
  roles: Record<number, { role?: Role; at?: string }>
  /** Code points of content so far. */
  length: number
  /** There is something for the reader to see. */
  shown: boolean
  /** The last delta was of reasoning. */
  reasoned: boolean
  /** Of messages, with where they stood. */
  phases: Map<number, { phase: Phase; at: string | undefined }>
}

export type EncoderState = MachineState & {
  phase: 'before' | 'inside' | 'over'
  fieldNames: FieldNames | undefined
  settings: Pick<Options, 'ccReasoning' | 'ccSignature' | 'ccThoughts' | 'ccErrorDetails' | 'ccImages' | 'truncated'>
  writeUsage: boolean
  /** The client knows no calls but the older single one. */
  single: boolean
  spare: { id: string; created: number; model: string }
  head: JsonObject
  /** What the source has told of the head. */
  told: Pick<CanonicalResponse, 'id' | 'model' | 'createdAt' | 'serviceTier'>
  /** What was made up of the head is noted with the first chunk. */
  owesHead: boolean
  /** A head, and how a chunk with it begins, up to the number of its choice. */
  written: { head: JsonObject; text: string } | undefined
  /** The reply was read from this protocol: what it left out is left out again, without a note. */
  native: boolean
  /** Fields of this protocol that the next chunk takes along. */
  fields: JsonObject
  usage: Usage | undefined
  blocked: CanonicalResponse['promptBlocked'] | undefined
  choices: Map<number, Choice>
  /** Proofs for the caller to keep. */
  signatures: StoredProofs
}

export const reportOf = (state: EncoderState): ChatReport => createChatReport(state.fieldNames, state.notes)

export function choiceOf(state: EncoderState, index: number): Choice {
  let choice = state.choices.get(index)
  if (!choice) {
    choice = {
      index,
      begun: false,
      finished: false,
      parts: new Map(),
      since: [],
      nextCall: 0,
      open: undefined,
      queue: [],
      openMessages: [],
      name: undefined,
      beside: {},
      details: undefined,
      roles: {},
      lanes: { text: { open: undefined, queue: [] }, refusal: { open: undefined, queue: [] }, reasoning: { open: undefined, queue: [] } },
      length: 0,
      shown: false,
      reasoned: false,
      phases: new Map(),
    }
    state.choices.set(index, choice)
  }
  return choice
}

/** One chunk with one choice. */
export function write(state: EncoderState, choice: JsonObject, emit: EmitWire): void {
  if (state.owesHead) {
    state.owesHead = false
    encodeHead(state.told, {}, reportOf(state))
  }
  const chunk: JsonObject = { ...state.head, ...state.fields, choices: [choice] }
  if (state.writeUsage) chunk['usage'] = null
  state.fields = {}
  emit(chunk)
}

/** The first delta of a choice says its role and name, and what nobody knew of its message, with an empty text unless a call comes first. */
export function writeDelta(state: EncoderState, choice: Choice, { delta, emit }: { delta: JsonObject; emit: EmitWire }): void {
  if (!choice.begun) {
    choice.begun = true
    const head = { role: 'assistant', ...(choice.name !== undefined && { name: choice.name }), ...choice.beside }
    if ('tool_calls' in delta || 'function_call' in delta) {
      choice.reasoned = false
      write(state, { index: choice.index, delta: { ...head, content: null, ...delta }, finish_reason: null }, emit)
      return
    }
    write(state, { index: choice.index, delta: { ...head, content: '' }, finish_reason: null }, emit)
  }
  if (Object.keys(delta).length === 0) return
  choice.reasoned = reasoningField(state.settings) in delta
  write(state, { index: choice.index, delta, finish_reason: null }, emit)
}

export const held = (): Held => ({ held: [], ended: false, final: undefined })

export function isLaned(out: PartOut): out is Laned {
  return out.kind === 'text' || out.kind === 'refusal' || out.kind === 'reasoning'
}

export function reasoningField({ ccReasoning }: EncoderState['settings']): string {
  return ccReasoning === 'reasoning' ? ccReasoning : 'reasoning_content'
}
