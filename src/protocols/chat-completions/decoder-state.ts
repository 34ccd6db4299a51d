import type { ReasoningPart, ReasoningSegment, Signature, TokenLogprob, ToolCallPart } from '../../canonical/message.ts'
import type { JsonObject, JsonProgress } from '../../kit/json.ts'
import type { EmitEvent, MachineState } from '../../protocol.ts'
import type { Told } from './layout.ts'
import { type ChatReport, createChatReport } from './notes.ts'
import type { Failure } from './stream-failure.ts'
import type { Tags } from './think-tags.ts'

/** What the files of the stream decoder share: what it remembers. */

export type Call = {
  id: string
  name: string
  input: string
  kind: ToolCallPart['kind']
  /** Ordinal of the part once it was announced, which waits for a name. */
  part: number | undefined
  json: JsonProgress
  /** Where it stood first. */
  at?: string
  /** What came beside the name and the arguments before the part was announced. */
  beside: Beside
}

export type Beside = { signature?: Signature | undefined; unknown: JsonObject; form: JsonObject }

/** One answer. */
export type Choice = {
  candidate: number
  nextPart: number
  /** The part that text of its kind goes to, and how much text stood before it. Only calls stay open beside it. */
  open: { kind: 'text' | 'refusal' | 'reasoning'; part: number; before: number; thought?: ReasoningPart } | undefined
  /** As of the stream. */
  seals: boolean
  /** How much text has come, in code points. */
  points: number
  audio: number | undefined
  calls: Call[]
  /** Index on the wire → place in `calls`. */
  byIndex: Map<number, number>
  /** Reasoning came in a plain field. */
  plain: boolean
  /** Index of the detail whose text came last. */
  detail: number | undefined
  /** What was told, in order, and of texts how long. */
  told: Told[]
  /** The order that the server recorded. */
  layout: string[] | undefined
  /** Reasoning that was told, with the index of its detail, if details told it. */
  thoughts: { part: number; said: ReasoningPart; detail: number | undefined }[]
  /** What details said beside a plain field, by index: by that a proof finds what it is of. */
  detailed: Map<number, ReasoningSegment>
  /** By which index the open reasoning was proven. */
  signer: number | undefined
  /** How many blocks of thinking were proven. */
  proven: number
  /** Where proofs stand whose text was told as one with others. */
  strays: string[]
  finish: string | undefined
  /** Absent: tags in the text mean nothing. */
  tags: Tags | undefined
  /** Probabilities that came before what they belong to. */
  logprobs: Record<'text' | 'refusal', TokenLogprob[]>
  /** How many probabilities have come. */
  tokens: Record<'text' | 'refusal', number>
  fields: JsonObject
  delta: JsonObject
  /** As they came, for a stream of this protocol. */
  details: unknown[]
  /** Blocks of thinking, as they came. */
  blocks: unknown[]
}

export type DecoderState = MachineState & {
  phase: 'before' | 'inside' | 'over'
  strictDone: boolean
  thinkTags: boolean
  /** Reasoning that nothing proves gets an empty proof. */
  seals: boolean
  /** Names of calls may come in pieces, so that a call is announced only when its arguments begin. */
  pieces: boolean
  id: string
  model: string
  createdAt: number | undefined
  /** What stood where it could have told them, and says nothing. */
  blank: { model?: unknown; created?: unknown }
  serviceTier: string | undefined
  /** Fields of chunks that nobody modelled, as they were last told. */
  fields: JsonObject
  choices: Map<number, Choice>
  /** What may have told of a failure, if no choice says how it ended. */
  suspect: Failure | undefined
}

export function choiceOf(state: DecoderState, index: unknown, emit: EmitEvent): Choice {
  const candidate = typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : 0
  let choice = state.choices.get(candidate)
  if (!choice) {
    choice = {
      candidate,
      nextPart: 0,
      points: 0,
      open: undefined,
      seals: state.seals,
      audio: undefined,
      calls: [],
      byIndex: new Map(),
      plain: false,
      detail: undefined,
      told: [],
      layout: undefined,
      thoughts: [],
      detailed: new Map(),
      signer: undefined,
      proven: 0,
      strays: [],
      finish: undefined,
      tags: state.thinkTags ? { inside: false, held: '' } : undefined,
      logprobs: { text: [], refusal: [] },
      tokens: { text: 0, refusal: 0 },
      fields: {},
      delta: {},
      details: [],
      blocks: [],
    }
    state.choices.set(candidate, choice)
    emit({ type: 'message.start', candidate, message: 0, role: 'assistant', at: placeOf(choice) })
  }
  return choice
}

/** Where the message of an answer stands in the whole reply. */
export function placeOf({ candidate }: Choice): string {
  return `/choices/${candidate}/message`
}

export const reportOf = ({ notes }: MachineState): ChatReport => createChatReport(undefined, notes)
