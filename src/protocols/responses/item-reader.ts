import { addDelta } from '../../canonical/collect.ts'
import { copyOf } from '../../canonical/copy.ts'
import type { Delta } from '../../canonical/event.ts'
import { takeApart } from '../../canonical/explode.ts'
import type { Message, Part, ReasoningPart, ReasoningSegment } from '../../canonical/message.ts'
import { check } from '../../kit/check.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { beginsWith } from '../../kit/text.ts'
import { arrived, carry, prove } from './carriers.ts'
import { decodeItem } from './items.ts'
import { ownForm, protocol } from './own.ts'
import { indexOf, malformed, nextIndex, type OpenItem, type OpenPart, type State, type Tell } from './reading.ts'
import { accepts, bearing, forgetMadeUpId } from './reasoning.ts'
import { ResponsesItem } from './schema.ts'

function itemOf(event: JsonObject): ResponsesItem & JsonObject {
  const { item } = event
  if (!isObject(item) || typeof item['type'] !== 'string') throw malformed('/item/type', 'expected an item')
  return check(protocol, ResponsesItem, item)
}

export function addItem(state: State, event: JsonObject, emit: Tell): void {
  const item = itemOf(event)
  const given = event['output_index'] === undefined ? undefined : indexOf(state, event)
  const index = given ?? nextIndex(state)
  if (state.items[index]) return
  if (item['type'] === 'reasoning' && isWordless(item)) state.items[index] = { ...unopened(item), waiting: item }
  else openItem(state, index, item, emit)
}

/** Reasoning that shows nothing of itself may be there for its signature alone, and that comes at its end. */
const isWordless = ({ summary, content }: JsonObject) => !(Array.isArray(summary) && summary.length > 0) && !(Array.isArray(content) && content.length > 0)

function unopened(wire: JsonObject): OpenItem {
  const whole: Message = { role: 'assistant', origin: 'item', parts: [] }
  return {
    message: -1,
    type: String(wire['type']),
    id: typeof wire['id'] === 'string' ? wire['id'] : undefined,
    parts: {},
    segments: {},
    done: false,
    whole,
  }
}

/** Tells of an item that was announced without a word. */
function openWaiting(state: State, index: number, emit: Tell): OpenItem | undefined {
  const item = state.items[index]
  return item?.waiting ? openItem(state, index, item.waiting, emit) : item
}

/** Begins a message, and its part where the item is one part. Signatures are whole in the done event only. */
function openItem(state: State, index: number, wire: JsonObject, emit: Tell): OpenItem {
  delete state.items[index]
  for (const other of Object.keys(state.items)) openWaiting(state, Number(other), emit)
  const { message } = decodeItem(wire as ResponsesItem, `/output/${index}`, undefined, state.model)
  const { parts, status: _status, name: _name, ...head } = message
  const type = String(wire['type'])
  const open: OpenItem = {
    message: state.messages++,
    type,
    id: typeof wire['id'] === 'string' ? wire['id'] : undefined,
    parts: {},
    segments: {},
    done: false,
    whole: { ...message, parts: [] },
    ...(state.carried && { carried: state.carried }),
  }
  state.carried = undefined
  state.items[index] = open
  emit({ type: 'message.start', candidate: 0, message: open.message, ...head })
  if (type === 'message') for (const [place, part] of parts.entries()) openPart(state, open, `c${place}`, part, emit)
  else
    for (const part of parts) {
      if (part.type !== 'reasoning') openPart(state, open, '', part, emit)
      else {
        const { signature: _signature, redacted: _redacted, ...begun } = part
        openReasoning(state, open, begun, emit)
      }
    }
  return open
}

export function openPart(state: State, item: OpenItem, place: string, whole: Part, emit: Tell): OpenPart {
  const carried = item.carried && (place === '' || place === 'c0') ? arrived(state, item, accepts(whole) !== undefined) : undefined
  const { head, deltas } = takeApart(carried ? { ...whole, ...bearing(whole, carried) } : whole)
  const open: OpenPart = { part: state.parts++, value: copyOf(head), ended: false }
  item.parts[place] = open
  emit({ type: 'part.start', candidate: 0, message: item.message, part: open.part, head })
  for (const delta of deltas) give(open, delta, emit)
  return open
}

function openReasoning(state: State, item: OpenItem, whole: ReasoningPart, emit: Tell): OpenPart {
  const open = openPart(state, item, '', { ...whole, segments: [] }, emit)
  giveSegments(item, open, whole.segments, emit)
  return open
}

export function give(open: OpenPart, delta: Delta, emit: Tell): void {
  addDelta(open.value, delta)
  emit({ type: 'part.delta', candidate: 0, part: open.part, delta })
}

export function endPart(open: OpenPart, final: Part | undefined, emit: Tell): void {
  if (open.ended) return
  open.ended = true
  const { signature } = open.value
  const id = ownForm(open.value)?.['carrier']
  const whole = final?.type !== open.value.type ? undefined : signature && !final.signature ? { ...final, ...bearing(final, { signature, id }) } : final
  if (whole) open.value = whole
  emit({ type: 'part.end', candidate: 0, part: open.part, ...(whole && { final: whole }) })
}

/** The item that an event is about. One that was never announced is opened with what the event tells of it. */
export function itemFor(state: State, event: JsonObject, type: string, emit: Tell): OpenItem | undefined {
  const index = indexOf(state, event) ?? nextIndex(state)
  const open = openWaiting(state, index, emit)
  if (open) return open.done || open.type !== type ? undefined : open
  const id = typeof event['item_id'] === 'string' ? { id: event['item_id'] } : {}
  if (type === 'message') return openItem(state, index, { type, ...id, role: 'assistant', content: [] }, emit)
  if (type === 'reasoning') return openItem(state, index, { type, ...id, summary: [] }, emit)
  return undefined
}

/** A part of a message has come whole: what was not told of it yet is told now. */
export function completeContent(state: State, item: OpenItem, index: number, whole: Part, emit: Tell): void {
  const open = item.parts[`c${index}`]
  if (!open) {
    endPart(openPart(state, item, `c${index}`, whole, emit), undefined, emit)
    return
  }
  if (open.ended) return
  complete(open, whole, emit)
  endPart(open, whole, emit)
}

/** Gives what the whole has more than what was given. */
function complete(open: OpenPart, whole: Part, emit: Tell): void {
  const { value } = open
  if ((value.type === 'text' && whole.type === 'text') || (value.type === 'refusal' && whole.type === 'refusal')) {
    if (value.type === 'text' && whole.type === 'text')
      for (const citation of whole.citations?.slice(value.citations?.length ?? 0) ?? []) give(open, { kind: 'citation', citation }, emit)
    const text = missing(value.text, whole.text)
    if (text) give(open, { kind: 'text', text }, emit)
    const logprobs = whole.logprobs?.slice(value.logprobs?.length ?? 0)
    if (logprobs?.length) give(open, { kind: 'logprobs', logprobs }, emit)
  } else if (value.type === 'tool-call' && whole.type === 'tool-call') {
    const text = missing(value.input, whole.input)
    if (text) give(open, { kind: 'input', text }, emit)
  }
}

/** The end of a text that has not been given yet; empty when what was given is no beginning of it. */
export function missing(given: string, whole: string): string {
  return whole.length > given.length && beginsWith(whole, given) ? whole.slice(given.length) : ''
}

export function segmentText({ segments }: OpenItem, { value }: OpenPart, place: string): string {
  const index = segments[place]
  return index === undefined || value.type !== 'reasoning' ? '' : (value.segments[index]?.text ?? '')
}

export function giveSegment(item: OpenItem, open: OpenPart, place: string, of: ReasoningSegment['kind'], text: string, emit: Tell): void {
  item.segments[place] ??= Object.keys(item.segments).length
  give(open, { kind: 'reasoning', segment: item.segments[place], of, text }, emit)
}

/** Gives what whole reasoning has more than what was given. */
function giveSegments(item: OpenItem, open: OpenPart, segments: readonly ReasoningSegment[], emit: Tell): void {
  const counts = { summary: 0, raw: 0 }
  for (const { kind, text } of segments) {
    const place = `${kind === 'summary' ? 's' : 'c'}${counts[kind]++}`
    const more = missing(segmentText(item, open, place), text)
    if (more || item.segments[place] === undefined) giveSegment(item, open, place, kind, more, emit)
  }
}

export function finishItem(state: State, event: JsonObject, emit: Tell): void {
  const item = itemOf(event)
  const index = indexOf(state, event) ?? nextIndex(state)
  completeItem(state, index, item, emit)
}

/** An item has come whole. One that was never announced is announced and ended at once. */
function completeItem(state: State, index: number, wire: JsonObject, emit: Tell): void {
  // The last event tells every item again.
  const there = state.items[index]
  if (there?.done) return
  const { message, attach, proven } = decodeItem(wire as ResponsesItem, `/output/${index}`, undefined, state.model)
  const [only] = message.parts
  const id = only?.type === 'reasoning' ? only.id : undefined
  forgetMadeUpId(message, wire)
  if (attach !== undefined && only?.signature && (!there || there.waiting)) {
    state.items[index] = { ...unopened(wire), carrier: true, done: true }
    if (!prove(state, attach, { signature: only.signature, ...proven }, emit)) carry(state, attach, { signature: only.signature, index, ...defined({ id }) })
    return
  }
  let open = openWaiting(state, index, emit)
  if (open && open.type !== wire['type']) {
    closeItem(state, open, undefined, emit)
    open = undefined
  }
  open ??= openItem(state, index, message.parts[0]?.type === 'reasoning' || open ? { ...wire, content: undefined, summary: [] } : wire, emit)
  if (open.type === 'message') for (const [place, part] of message.parts.entries()) completeContent(state, open, place, part, emit)
  else {
    const [whole] = message.parts
    const part = open.parts['']
    if (whole && part && !part.ended) {
      if (whole.type === 'reasoning' && part.value.type === 'reasoning') {
        giveSegments(open, part, whole.segments, emit)
        if (whole.signature) give(part, { kind: 'signature', signature: whole.signature }, emit)
      } else complete(part, whole, emit)
      endPart(part, whole, emit)
    }
  }
  open.whole = { ...message, parts: [] }
  closeItem(state, open, message.status, emit)
}

/** Ends what is still open when the answer ends. */
export function closeItems(state: State, status: Message['status'], emit: Tell): void {
  for (const index of Object.keys(state.items)) {
    const open = openWaiting(state, Number(index), emit)
    if (open) closeItem(state, open, status, emit)
  }
}

/** An item of the last snapshot, which may list fewer items than were streamed. */
export function completeListed(state: State, index: number, wire: JsonObject, emit: Tell): void {
  const { id, type } = wire
  const byId = Object.entries(state.items).find(([, one]) => typeof id === 'string' && one.id === id)
  const there = state.items[index]
  if (byId) completeItem(state, Number(byId[0]), wire, emit)
  else if (!there || there.type === type) completeItem(state, index, wire, emit)
}

function closeItem(state: State, open: OpenItem, status: Message['status'], emit: Tell): void {
  if (open.done) return
  open.done = true
  if (open.carried) arrived(state, open, false)
  for (const part of Object.values(open.parts)) endPart(part, undefined, emit)
  const ended = status === 'completed' || status === 'incomplete' ? { status, ...defined({ at: open.whole.at }) } : {}
  emit({ type: 'message.end', candidate: 0, message: open.message, ...ended })
}
