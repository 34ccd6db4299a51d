import { addDelta } from '../../../canonical/collect.ts'
import type { Delta, PartDelta } from '../../../canonical/event.ts'
import type {
  MediaPart,
  Place,
  ReasoningPart,
  Role,
  ServerToolPart,
  Signature,
  ToolCallPart,
} from '../../../canonical/message.ts'
import type { CanonicalResponse, Usage } from '../../../canonical/response.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import type { CutState } from '../../../kit/tools/cut-calls.ts'
import type { Emit, FieldNames, MachineState } from '../../../protocol.ts'
import { textField } from '../content/carriers.ts'
import type { Phase } from '../content/layout.ts'
import type { StoredSignatures } from '../content/signatures.ts'
import type { PartWriting } from '../content/writing.ts'
import type { Options } from '../options.ts'
import { type ChatCompletionsReport, createChatReport } from '../own.ts'
import { encodeHead } from '../response/response.ts'
import type {
  ChatCompletionsAudio,
  ChatCompletionsChunk,
  ChatCompletionsChunkChoice,
  ChatCompletionsDelta,
  ChatCompletionsHead,
  ChatCompletionsWire,
} from '../written.ts'

export type EmitWire = Emit<ChatCompletionsWire['event']>

export type CallOut = {
  kind: 'call'
  head: ToolCallPart
  /** Index on the wire. */
  index: number
  /** All input so far. */
  input: string
  /** Input has been written, or none is to be made up. */
  sent: boolean
  /** The parts that began between the previous call and this one. */
  since: Worded[]
}

export type TextOut = {
  kind: 'text'
  at?: Place
  text: string
  citations: Extract<Delta, { kind: 'citation' }>['citation'][]
  /** The index of its message, and the phase of that message. */
  message: number
  phase: Phase | undefined
  signature?: Signature
}

export type Worded =
  | TextOut
  | { kind: 'refusal'; text: string }
  | { kind: 'reasoning'; part: ReasoningPart; first: number }

export type PartOut =
  | CallOut
  | Worded
  | { kind: 'audio'; id: string; late: ChatCompletionsAudio; hasData: boolean }
  | { kind: 'tool'; head: ServerToolPart; image: MediaPart | undefined }
  | { kind: 'none' }

export type Choice = {
  index: number
  begun: boolean
  finished: boolean
  /** By part index, in the order in which they came. */
  parts: Map<number, PartOut>
  /** Which kinds of parts there are. */
  kinds: Set<PartOut['kind']>
  /** The parts that came after the last call. */
  since: Worded[]
  nextCall: number
  /** Images that have been written. */
  images: number
  /** The call that is written to. */
  open: CallOut | undefined
  name: string | undefined
  /** Unknown keys of its messages, for the last delta. */
  unknown: JsonObject
  /** By message index: its role and path. */
  roles: Record<number, { role?: Role; at?: Place }>
  /** Text or a refusal has been written. */
  shown: boolean
  /** The last delta was reasoning. */
  reasoned: boolean
  /** The phases and paths of messages, by message index. */
  phases: Map<number, { phase: Phase; at: Place | undefined }>
}

export type EncoderState = MachineState &
  CutState & {
    phase: 'before' | 'inside' | 'over'
    fieldNames: FieldNames | undefined
    settings: Pick<Options, 'reasoningField' | 'signatures' | 'signedReasoning' | 'truncated'>
    writeUsage: boolean
    /** The client knows only the older `function_call`. */
    single: boolean
    /** Head fields to use where the source sends none. */
    spare: { id: string; created: number; model: string }
    head: ChatCompletionsHead
    /** The head fields that the source has sent. */
    sentHead: Pick<CanonicalResponse, 'id' | 'model' | 'createdAt' | 'serviceTier'>
    /** The notes for made-up head fields are still to be made, with the first chunk. */
    owesHead: boolean
    /** Cache: a head, and the text of a chunk with it up to the index of the choice. */
    written: { head: ChatCompletionsHead; text: string } | undefined
    /** The response was read from this protocol. */
    native: boolean
    /** Unknown fields of this protocol that the next chunk carries. */
    fields: JsonObject
    usage: Usage | undefined
    blocked: CanonicalResponse['promptBlocked'] | undefined
    choices: Map<number, Choice>
    /** Signatures for the caller to store. */
    signatures: StoredSignatures
  }

export const reportOf = (state: EncoderState): ChatCompletionsReport =>
  createChatReport(state.fieldNames, state.notes)

export const writingOf = (state: EncoderState): PartWriting => ({
  report: reportOf(state),
  options: state.settings,
  native: state.native,
})

export function choiceOf(state: EncoderState, index: number): Choice {
  let choice = state.choices.get(index)
  if (!choice) {
    choice = {
      index,
      begun: false,
      finished: false,
      parts: new Map(),
      kinds: new Set(),
      since: [],
      nextCall: 0,
      images: 0,
      open: undefined,
      name: undefined,
      unknown: {},
      roles: {},
      shown: false,
      reasoned: false,
      phases: new Map(),
    }
    state.choices.set(index, choice)
  }
  return choice
}

/** Writes one chunk with one choice. */
export function write(
  state: EncoderState,
  choice: ChatCompletionsChunkChoice,
  emit: EmitWire,
): void {
  if (state.owesHead) {
    state.owesHead = false
    encodeHead(state.sentHead, {}, reportOf(state))
  }
  const chunk = chunkOf(state, [choice], state.writeUsage ? null : undefined)
  state.fields = {}
  emit(chunk)
}

/** A chunk of this stream, with the fields that wait for one. */
export function chunkOf(
  { head: { id, object, created, model, service_tier }, fields }: EncoderState,
  choices: ChatCompletionsChunkChoice[],
  usage: ChatCompletionsChunk['usage'],
): ChatCompletionsChunk {
  return {
    id,
    object,
    created,
    model,
    ...(service_tier !== undefined && { service_tier }),
    choices,
    ...(usage !== undefined && { usage }),
    ...fields,
  }
}

/**
 * The first delta of a choice has the role and the name of its message, and empty content, or null
 * if a call comes first.
 */
export function sendDelta(
  state: EncoderState,
  choice: Choice,
  { delta, emit }: { delta: ChatCompletionsDelta; emit: EmitWire },
): void {
  if (!choice.begun) {
    choice.begun = true
    const role = 'assistant' as const
    const named = choice.name !== undefined && { name: choice.name }
    if ('tool_calls' in delta || 'function_call' in delta) {
      choice.reasoned = false
      write(
        state,
        {
          index: choice.index,
          delta: { role, ...named, content: null, ...delta },
          finish_reason: null,
        },
        emit,
      )
      return
    }
    write(
      state,
      { index: choice.index, delta: { role, ...named, content: '' }, finish_reason: null },
      emit,
    )
  }
  if (Object.keys(delta).length === 0) return
  choice.reasoned = textField(state.settings) in delta
  write(state, { index: choice.index, delta, finish_reason: null }, emit)
}

/** See `ClientHalf`. */
export function writeDelta(
  given: MachineState,
  { candidate, part, delta }: PartDelta,
  literal: string,
): string | undefined {
  const state = given as EncoderState
  const choice = state.choices.get(candidate)
  const out = choice?.parts.get(part)
  if (state.phase !== 'inside' || !choice?.begun || choice.finished || !out) return undefined
  for (const _ in state.fields) return undefined
  const field = fieldOf(state, choice, { out, delta, literal })
  if (field === undefined) return undefined
  const rest = state.writeUsage
    ? '},"finish_reason":null}],"usage":null}\n\n'
    : '},"finish_reason":null}]}\n\n'
  return `${headText(state)}${choice.index},"delta":{${field}${rest}`
}

type Given = { out: PartOut; delta: PartDelta['delta']; literal: string }

function fieldOf(
  { settings, single }: EncoderState,
  choice: Choice,
  { out, delta, literal }: Given,
): string | undefined {
  if (out.kind === 'text' || out.kind === 'refusal') {
    if (delta.kind !== 'text') return undefined
    out.text += delta.text
    choice.shown = true
    choice.reasoned = false
    return out.kind === 'text' ? `"content":${literal}` : `"refusal":${literal}`
  }
  if (out.kind === 'reasoning') {
    if (delta.kind !== 'reasoning' || settings.reasoningField === 'details') return undefined
    if (!out.part.segments[delta.segment]?.text) return undefined
    addDelta(out.part, delta)
    choice.reasoned = true
    return `"${textField(settings)}":${literal}`
  }
  if (out.kind !== 'call' || delta.kind !== 'input' || choice.open !== out || single)
    return undefined
  out.input += delta.text
  out.sent = true
  choice.reasoned = false
  const inner =
    out.head.kind === 'function'
      ? `"function":{"arguments":${literal}}`
      : `"custom":{"input":${literal}}`
  return `"tool_calls":[{"index":${out.index},${inner}}]`
}

/** The text that every chunk begins with, cached in the state. */
function headText(state: EncoderState): string {
  if (state.written?.head !== state.head)
    state.written = {
      head: state.head,
      text: `data: ${JSON.stringify(state.head).slice(0, -1)},"choices":[{"index":`,
    }
  return state.written.text
}
