import type { Part, Place, Signature, ToolCallPart } from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { type JsonObject, merge } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import {
  encodeCall,
  encodeLegacyCall,
  encodeSignature,
  noteLostSignature,
  validCallId,
} from '../content/calls.ts'
import { carriesReasoning, carryReasoning } from '../content/carried-reasoning.ts'
import { finishCarriers, textField } from '../content/carriers.ts'
import { notePhases } from '../content/layout.ts'
import { encodeCarried, keep, noteUnstored } from '../content/signatures.ts'
import type {
  ChatCompletionsCallDelta,
  ChatCompletionsCarriers,
  ChatCompletionsSignatureFields,
} from '../written.ts'
import {
  type CallOut,
  type Choice,
  type EmitWire,
  type EncoderState,
  type PartOut,
  reportOf,
  sendDelta,
  writingOf,
} from './encoder-state.ts'

/**
 * The fields to write next to a call that carries the reasoning before it. Undefined: it carries
 * none.
 */
function carriedTo(
  { settings, native }: EncoderState,
  { since, head }: CallOut,
): ChatCompletionsSignatureFields | undefined {
  return native || !carriesReasoning(settings) ? undefined : carryReasoning(partsOf(since), head)
}

/** What has been written of reasoning, texts and calls. */
function partsOf(outs: readonly PartOut[]): Part[] {
  return outs.flatMap((out): Part[] => {
    if (out.kind === 'reasoning') return [out.part]
    if (out.kind === 'call') return [out.head]
    if (out.kind !== 'text') return []
    const { text, phase, signature, at } = out
    return [omitUndefined({ type: 'text' as const, text, phase, signature, at })]
  })
}

/**
 * Puts the signatures of a complete choice into the store of the caller. False: there is no call
 * whose id could be the key.
 */
export function storeSignatures(state: EncoderState, choice: Choice, details: unknown): boolean {
  const calls = [...choice.parts.values()].flatMap(out => (out.kind === 'call' ? [out.head] : []))
  const extra = Object.fromEntries(
    calls.flatMap(head =>
      head.signature ? [[shownId(state, head), encodeCarried(head.signature).extra_content]] : [],
    ),
  )
  const first = state.single ? undefined : calls[0]
  const isKept = keep(state.signatures, first && shownId(state, first), { details, extra })
  if (!isKept) noteUnstored(partsOf([...choice.parts.values()]), placeOf(choice), reportOf(state))
  return isKept
}

/** The path of the first of the messages that were merged into this choice. */
const placeOf = ({ roles }: Choice): Place => Object.values(roles)[0]?.at ?? ''

const shownId = ({ native }: EncoderState, { id }: ToolCallPart): string =>
  native ? id : mapCallId(id, validCallId)

/**
 * For the end of the stream, what plain text cannot carry: signatures, segments, the order of the
 * parts.
 */
export function encodeReasoning(
  state: EncoderState,
  choice: Choice,
): Pick<ChatCompletionsCarriers, 'reasoning_details' | 'thinking_blocks' | 'reasoning_items'> {
  const parts = partsOf([...choice.parts.values()])
  const reasoning = parts.filter(part => part.type === 'reasoning')
  const from = { parts, reasoning: 'all', recipient: 'client', at: placeOf(choice) } as const
  const carriers = finishCarriers(reasoning, from, writingOf(state))
  // The text has been written.
  delete carriers[textField(state.settings)]
  return carriers
}

/** Notes the phases that the client does not get. `isKept`: it gets what is recorded. */
export function noteLostPhases(
  state: EncoderState,
  { parts, phases }: Choice,
  isKept: boolean,
): void {
  const worded = new Set(
    [...parts.values()].map(out => (out.kind === 'text' && out.text !== '' ? out.message : -1)),
  )
  const messages = [...phases].map(([message, of]) => ({ ...of, hasWords: worded.has(message) }))
  notePhases(messages, isKept, writingOf(state))
}

type Writing = { call: CallOut; emit: EmitWire }

/** Starts a call. Only where the source was cut off is another one open. */
export function openCall(state: EncoderState, choice: Choice, { call, emit }: Writing): void {
  closeCall(state, choice, emit, true)
  const { index, head } = call
  choice.open = call
  // The input comes in deltas, so none is made up here.
  const bare: ToolCallPart = { cut: true, ...head, input: '' }
  if (state.single) {
    // In streams, the name stands without its namespace.
    const { namespace: _, ...named } = bare
    const called = encodeLegacyCall(named, writingOf(state))
    sendDelta(state, choice, { delta: { function_call: called }, emit })
    return
  }
  const carried = carriedTo(state, call)
  const { signature: _, ...unsigned } = bare
  const isElsewhere = carried !== undefined || state.settings.signatures === 'store'
  const wire: JsonObject = encodeCall(isElsewhere ? unsigned : bare, 'client', writingOf(state))
  // Clients see the kind of a call by its object.
  const other = head.kind === 'function' ? 'custom' : 'function'
  const { [other]: left, ...shown } = wire
  if (left !== undefined)
    reportOf(state).add('field.unknown', `${pointerOf(head.at ?? '')}/${other}`)
  sendDelta(state, choice, {
    delta: {
      tool_calls: [merge<ChatCompletionsCallDelta>({ index, ...shown }, { ...carried, index })],
    },
    emit,
  })
}

export function addCallSignature(
  state: EncoderState,
  choice: Choice,
  { call, signature, emit }: { call: CallOut; signature: Signature; emit: EmitWire },
): void {
  const known = call.head.signature
  call.head = { ...call.head, signature }
  if (state.single) {
    if (!known) noteLostSignature(call.head, writingOf(state))
    return
  }
  if (state.settings.signatures === 'store') return
  const writing = writingOf(state)
  // The id has been written.
  const beside =
    carriedTo(state, call) ??
    encodeSignature(call.head, '', { recipient: 'client', writing }).beside
  if (!beside) return
  // Clients take a call as complete when the next one begins.
  if (call.index < choice.nextCall - 1) noteLostSignature(call.head, writingOf(state))
  else sendDelta(state, choice, { delta: { tool_calls: [{ index: call.index, ...beside }] }, emit })
}

export function addInput(
  state: EncoderState,
  choice: Choice,
  { call, text, emit }: Writing & { text: string },
): void {
  if (!text) return
  call.input += text
  writeInput(state, choice, { call, emit, text })
}

function writeInput(
  state: EncoderState,
  choice: Choice,
  { call, text, emit }: Writing & { text: string },
): void {
  call.sent = true
  if (state.single) {
    sendDelta(state, choice, { delta: { function_call: { arguments: text } }, emit })
    return
  }
  const inner: Omit<ChatCompletionsCallDelta, 'index'> =
    call.head.kind === 'function' ? { function: { arguments: text } } : { custom: { input: text } }
  sendDelta(state, choice, { delta: { tool_calls: [{ index: call.index, ...inner }] }, emit })
}

/**
 * Ends the open call. A function call without arguments gets an empty object, because clients parse
 * the arguments.
 */
export function closeCall(state: EncoderState, choice: Choice, emit: EmitWire, cut = false): void {
  const call = choice.open
  choice.open = undefined
  if (!call || call.sent || cut || call.head.kind === 'freeform' || state.native) return
  reportOf(state).add('tool-call.empty-input', '/choices')
  writeInput(state, choice, { call, emit, text: '{}' })
}
