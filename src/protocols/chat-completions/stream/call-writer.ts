import type { Signature, ToolCallPart } from '../../../canonical/message.ts'
import { type JsonObject, merge } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import {
  encodeCall,
  encodeLegacyCall,
  encodeSignature,
  noteLostSignature,
} from '../content/calls.ts'
import type { ChatCompletionsCallDelta } from '../schema.ts'
import {
  type CallOut,
  type Choice,
  type EmitWire,
  type EncoderState,
  reportOf,
  writeDelta,
  writingOf,
} from './encoder-state.ts'
import { carriedTo } from './signatures.ts'

type Writing = { call: CallOut; emit: EmitWire }

/** Starts a call. Only where the source was cut off is another one open. */
export function openCall(state: EncoderState, choice: Choice, { call, emit }: Writing): void {
  closeCall(state, choice, emit, true)
  const { index, head } = call
  choice.open = call
  // The input comes in deltas, so none is made up here.
  const bare: ToolCallPart = { ...head, input: '', cut: true }
  if (state.single) {
    // In streams, the name stands without its namespace.
    const { namespace: _, ...named } = bare
    const called = encodeLegacyCall(named, writingOf(state))
    writeDelta(state, choice, { delta: { function_call: called }, emit })
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
  writeDelta(state, choice, {
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
  else
    writeDelta(state, choice, { delta: { tool_calls: [{ index: call.index, ...beside }] }, emit })
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
    writeDelta(state, choice, { delta: { function_call: { arguments: text } }, emit })
    return
  }
  const inner: Omit<ChatCompletionsCallDelta, 'index'> =
    call.head.kind === 'function' ? { function: { arguments: text } } : { custom: { input: text } }
  writeDelta(state, choice, { delta: { tool_calls: [{ index: call.index, ...inner }] }, emit })
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
