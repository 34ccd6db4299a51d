import type { Signature, ToolCallPart } from '../../../canonical/message.ts'
import { type JsonObject, merge } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import { noteBeside } from '../content/calls.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { ownOf } from '../own.ts'
import type { ChatCompletionsCallDelta } from '../schema.ts'
import {
  type CallOut,
  type Choice,
  type EmitWire,
  type EncoderState,
  reportOf,
  writeDelta,
} from './encoder-state.ts'
import { carriedTo, encodeSignature, shownId } from './signatures.ts'

type Writing = { call: CallOut; emit: EmitWire }

/** Starts a call. Only where the source was cut off is another one open. */
export function openCall(state: EncoderState, choice: Choice, { call, emit }: Writing): void {
  closeCall(state, choice, emit, true)
  const { head } = call
  const report = reportOf(state)
  const { id, name, namespace, kind, ext, at, signature } = head
  choice.open = call
  noteBeside(head, { report, native: state.native })
  if (state.single) {
    if (signature) report.add('reasoning.signature-dropped', at, 'signature')
    writeDelta(state, choice, {
      delta: { function_call: { ...ownOf(ext), name, arguments: '' } },
      emit,
    })
    return
  }
  const shown = shownId(state, head)
  if (shown !== id) report.add('tool-call.id', at, 'id')
  const called = responseToolName(name, namespace, at, report)
  const inner: Omit<ChatCompletionsCallDelta, 'index'> =
    kind === 'function'
      ? { type: 'function', function: { name: called, arguments: '' } }
      : { type: 'custom', custom: { name: called, input: '' } }
  const callSignature = encodeSignature(state, head, shown)
  const known: ChatCompletionsCallDelta = {
    index: call.index,
    id: callSignature.id,
    ...inner,
    ...(carriedTo(state, call) ?? callSignature.beside),
  }
  writeDelta(state, choice, {
    delta: { tool_calls: [merge<ChatCompletionsCallDelta>(besideCall(head, report), known)] },
    emit,
  })
}

/**
 * Unknown keys of a call of this protocol. An object of the other kind is left out, because clients
 * see the kind of a call by its object.
 */
function besideCall({ kind, at, ext }: ToolCallPart, report: ChatCompletionsReport): JsonObject {
  const fields = ownOf(ext)
  if (!fields) return {}
  const other = kind === 'function' ? 'custom' : 'function'
  const { [other]: left, ...beside } = fields
  if (left !== undefined) report.add('field.unknown', `${pointerOf(at ?? '')}/${other}`)
  return beside
}

export function addCallSignature(
  state: EncoderState,
  choice: Choice,
  { call, signature, emit }: { call: CallOut; signature: Signature; emit: EmitWire },
): void {
  const known = call.head.signature
  call.head = { ...call.head, signature }
  if (state.single) {
    if (!known) reportOf(state).add('reasoning.signature-dropped', call.head.at, 'signature')
    return
  }
  const beside = carriedTo(state, call) ?? encodeSignature(state, call.head).beside
  if (Object.keys(beside).length === 0) return
  // Clients take a call as complete when the next one begins.
  if (call.index < choice.nextCall - 1)
    reportOf(state).add('reasoning.signature-dropped', call.head.at, 'signature')
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
