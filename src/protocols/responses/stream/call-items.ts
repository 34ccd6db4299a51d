import type { ToolCallPart } from '../../../canonical/message.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { encodeCall } from '../content/calls.ts'
import { carrierItem, unsigned } from '../content/reasoning.ts'
import { startWriting } from '../content/writing.ts'
import { callIdOf } from '../response/envelope.ts'
import {
  addItem,
  closeMessageItem,
  type EmitWire,
  type EncoderState,
  headOf,
  hold,
  type OpenPart,
  placeOf,
  wholeItem,
  write,
  writingOf,
} from './encoder-state.ts'

/** Opens the item of a call; its signature is written in an item before it. */
export function startCall(
  state: EncoderState,
  part: OpenPart,
  head: ToolCallPart,
  emit: EmitWire,
): void {
  closeMessageItem(state, part.message, undefined, emit)
  const writing = writingOf(state)
  if (head.signature)
    wholeItem(state, part.message, carrierItem(head.signature, 'next', writing), emit)
  const { signature: _, input, ...call } = head
  const muted = startWriting('output', writing.native, state.options)
  if (writing.itemId) muted.itemId = writing.itemId
  const wire = {
    ...encodeCall({ input: ' ', ...call }, headOf(state, part.message), muted),
    status: 'in_progress',
    [inputKey(head)]: '',
  }
  wire.call_id = callIdOf(
    String(wire.call_id) || `call_${String(wire.id)}`,
    state.usedCalls,
    head,
    writing.report,
  )
  part.item = addItem(state, part.message, wire, emit)
  part.value = { input: '', ...call }
  giveInput(state, part, part.value, input, emit)
}

/** The key for the input of a call in its item. */
export const inputKey = ({ kind }: ToolCallPart) => (kind === 'freeform' ? 'input' : 'arguments')

export function giveInput(
  state: EncoderState,
  part: OpenPart,
  value: ToolCallPart,
  text: string,
  emit: EmitWire,
): void {
  if (text === '') return
  value.input += text
  const type =
    value.kind === 'freeform'
      ? 'response.custom_tool_call_input.delta'
      : 'response.function_call_arguments.delta'
  const { item_id, output_index } = placeOf(state, part)
  write(state, type, { item_id, output_index, delta: text }, emit)
}

export function endCall(
  state: EncoderState,
  part: OpenPart,
  value: ToolCallPart,
  emit: EmitWire,
): void {
  if (part.item === undefined) return
  const item = state.items[part.item]
  const before = item?.wire
  const head = headOf(state, part.message)
  const writing = writingOf(state)
  writing.itemId = () => String(before?.id)
  const wire = encodeCall(unsigned(value), head, writing)
  writing.report.resolvePending(wire, `/output/${part.item}`)
  const fields: JsonObject = wire
  const due = String(fields[inputKey(value)] ?? '')
  if (value.input.trim() === '' && value.input !== due) giveInput(state, part, value, due, emit)
  // White space streamed before an empty input became `{}` stays in the input: the item must equal
  // the sum of its deltas.
  const input = due !== '' && value.input.trim() === due ? value.input : due
  Object.assign(wire, { [inputKey(value)]: input })
  const { item_id, output_index } = placeOf(state, part)
  if (value.kind === 'freeform')
    write(state, 'response.custom_tool_call_input.done', { item_id, output_index, input }, emit)
  else
    write(
      state,
      'response.function_call_arguments.done',
      { item_id, output_index, name: 'name' in wire ? wire.name : '', arguments: input },
      emit,
    )
  if (item)
    item.wire = { ...wire, ...(before && 'call_id' in before && { call_id: before.call_id }) }
  const { signature: late } = value
  hold(state, part.item, emit)
  if (late) wholeItem(state, part.message, carrierItem(late, 'prev', writingOf(state)), emit)
}
