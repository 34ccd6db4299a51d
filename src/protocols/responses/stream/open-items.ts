import { copyOf } from '../../../canonical/copy.ts'
import type { Message } from '../../../canonical/message.ts'
import type { Finish } from '../../../canonical/response.ts'
import { encodeMessage } from '../content/items.ts'
import { encodeContainer } from '../content/message-item.ts'
import { isRefusal } from '../response/response.ts'
import type { ResponsesWrittenContent, ResponsesWrittenItem } from '../schema.ts'
import {
  type EmitWire,
  type EncoderState,
  type Item,
  type OpenPart,
  write,
  writingOf,
} from './encoder-state.ts'

/** A message without its parts. */
export function headOf(state: EncoderState, message: number): Message {
  return state.messages[message]?.head ?? { role: 'assistant', origin: 'message', parts: [] }
}

/** Adds an item to the output. */
export function addItem(
  state: EncoderState,
  message: number,
  wire: ResponsesWrittenItem,
  emit: EmitWire,
): number {
  flushHeld(state, emit)
  const index = state.items.length
  state.items.push({ wire, done: false, message, open: 0, closing: false })
  write(state, 'response.output_item.added', { output_index: index, item: copyOf(wire) }, emit)
  return index
}

/** Adds an item and ends it at once. */
export function wholeItem(
  state: EncoderState,
  message: number,
  wire: ResponsesWrittenItem,
  emit: EmitWire,
): void {
  const index = addItem(state, message, wire, emit)
  finishItem(state, index, emit)
}

export function finishItem(state: EncoderState, index: number, emit: EmitWire): void {
  const item = state.items[index]
  if (!item || item.done) return
  item.done = true
  write(state, 'response.output_item.done', { output_index: index, item: copyOf(item.wire) }, emit)
}

/**
 * Holds back the end of a complete item, because only the next event shows whether a limit cut it
 * off.
 */
export function hold(state: EncoderState, index: number, emit: EmitWire): void {
  if (state.held !== index) flushHeld(state, emit)
  state.held = index
}

/** Ends the item whose end was held back. */
export function flushHeld(state: EncoderState, emit: EmitWire): void {
  const { held } = state
  if (held === undefined) return
  state.held = undefined
  const item = state.items[held]
  const cut = state.finish !== undefined && isIncomplete(state.finish, state.items)
  if (item && cut && !state.envelope?.native && typeof item.wire.status === 'string')
    item.wire = { ...item.wire, status: 'incomplete' }
  finishItem(state, held, emit)
}

const isIncomplete = (finish: Finish, items: readonly Item[]) =>
  ['length', 'context_window', 'content_filter', 'recitation', 'pause'].includes(finish.reason) &&
  !isRefusal(
    finish,
    items.map(({ wire }) => wire),
  )

/** Index of the `message` item for the texts of a message; it is opened if needed. */
export function messageItem(state: EncoderState, message: number, emit: EmitWire): number {
  const opened = state.messages[message]
  if (opened?.item !== undefined) return opened.item
  const head = headOf(state, message)
  const begun = encodeContainer({ ...head, status: 'in_progress' }, [], writingOf(state))
  const wire: ResponsesWrittenItem = {
    ...begun,
    type: 'message',
    status: 'in_progress',
    content: [],
  }
  const index = addItem(state, message, wire, emit)
  if (opened) opened.item = index
  return index
}

/** Puts a part that has begun into the `message` item of its message. */
export function enterItem(state: EncoderState, part: OpenPart, emit: EmitWire): Item | undefined {
  part.item = messageItem(state, part.message, emit)
  const item = state.items[part.item]
  if (item) item.open++
  return item
}

export function leaveItem(state: EncoderState, { item: index }: OpenPart): void {
  const item = index === undefined ? undefined : state.items[index]
  if (item && item.open > 0) item.open--
}

/** The content of a `message` item, to push to. */
export function contentOf(item: Item | undefined): ResponsesWrittenContent[] {
  const content = item?.wire.type === 'message' ? item.wire.content : undefined
  return Array.isArray(content) ? content : []
}

/** Closes the `message` item of a message: texts that follow go into another item. */
export function closeMessageItem(
  state: EncoderState,
  message: number,
  status: Message['status'],
  emit: EmitWire,
): void {
  const opened = state.messages[message]
  if (opened?.kept) {
    const whole = { ...opened.head, parts: opened.kept, ...(status && { status }) }
    delete opened.kept
    const writing = writingOf(state)
    const items = encodeMessage(whole, writing)
    writing.report.resolvePending(items, `/output/${state.items.length}`)
    for (const item of items) hold(state, addItem(state, message, item, emit), emit)
    return
  }
  if (opened?.item === undefined) return
  const item = state.items[opened.item]
  if (item) {
    item.wire = { ...item.wire, status: status ?? 'completed' }
    item.closing = true
  }
  endClosing(state, opened.item, emit)
  opened.item = undefined
}

/** Ends an item that takes no more parts, when its last part is done. */
export function endClosing(state: EncoderState, index: number | undefined, emit: EmitWire): void {
  const item = index === undefined ? undefined : state.items[index]
  if (index !== undefined && item?.closing && item.open === 0) hold(state, index, emit)
}
