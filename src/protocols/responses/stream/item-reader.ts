import { addDelta } from '../../../canonical/collect.ts'
import { copyOf } from '../../../canonical/copy.ts'
import type { Delta } from '../../../canonical/event.ts'
import { takeApart } from '../../../canonical/explode.ts'
import type {
  ExtMap,
  Message,
  Part,
  ReasoningPart,
  ReasoningSegment,
} from '../../../canonical/message.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, parseObject, same, setOwn } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { beginsWith } from '../../../kit/text/text.ts'
import { readInput } from '../../../kit/tools/object-input.ts'
import type { EmitEvent } from '../../../protocol.ts'
import { noteArguments } from '../content/calls.ts'
import { decodeItem } from '../content/items.ts'
import { accepts, forgetMadeUpId } from '../content/reasoning.ts'
import { fieldsOf, keep, protocolName } from '../own.ts'
import { ResponsesItem } from '../schema.ts'
import {
  arrived,
  carry,
  type DecoderState,
  endItem,
  indexOf,
  isAnother,
  LeftItems,
  lastOpen,
  malformed,
  type OpenItem,
  type OpenPart,
  onlyOpenOf,
  prove,
  putItem,
  reportOf,
} from './decoder-state.ts'

function itemOf(event: JsonObject): ResponsesItem & JsonObject {
  const { item } = event
  if (!isObject(item) || typeof item['type'] !== 'string')
    throw malformed('/item/type', 'expected an item')
  return check(protocolName, ResponsesItem, item)
}

export function addItem(state: DecoderState, event: JsonObject, emit: EmitEvent): void {
  const item = itemOf(event)
  const { output_index: outputIndex } = event
  const given =
    outputIndex === undefined || outputIndex === null ? undefined : indexOf(state, event)
  const there = given === undefined ? undefined : state.items[given]
  if (there && !isAnother(there, item)) return
  const index = there || given === undefined ? state.next : given
  if (there && typeof outputIndex === 'number') state.moved[outputIndex] = index
  if (item['type'] === 'reasoning' && isWordless(item))
    putItem(state, index, { waiting: item, ...unopened(item) })
  else beginItem(state, index, item, emit)
}

/**
 * Complete arguments in the announcement count only if no others follow: some servers send them
 * twice, others begin with `{}`.
 */
function beginItem(
  state: DecoderState,
  index: number,
  item: ResponsesItem & JsonObject,
  emit: EmitEvent,
): void {
  const begun = readInput(item['arguments'])
  if (item['type'] === 'function_call')
    noteArguments(item, below('/output', index), reportOf(state))
  const isWhole = item['type'] === 'function_call' && parseObject(begun) !== undefined
  const open = openItem(state, index, isWhole ? { ...item, arguments: '' } : item, emit)
  if (isWhole) open.begun = begun
}

/**
 * Reasoning announced without text may exist for its signature alone, which comes with its `done`
 * event.
 */
const isWordless = ({ summary, content }: JsonObject) =>
  !(Array.isArray(summary) && summary.length > 0) && !(Array.isArray(content) && content.length > 0)

function unopened(wire: JsonObject): OpenItem {
  const whole: Message = { role: 'assistant', origin: 'item', parts: [] }
  return {
    message: -1,
    type: String(wire['type']),
    ...namesOf(wire),
    parts: {},
    order: [],
    segments: {},
    segmentCount: 0,
    done: false,
    whole,
  }
}

const namesOf = ({ id, call_id: call }: JsonObject): Pick<OpenItem, 'id' | 'call'> => ({
  id: typeof id === 'string' ? id : undefined,
  call: typeof call === 'string' ? call : undefined,
})

/** Opens an item that was held back because its announcement was empty. */
function openWaiting(state: DecoderState, index: number, emit: EmitEvent): OpenItem | undefined {
  const item = state.items[index]
  return item?.waiting ? openItem(state, index, item.waiting, emit) : item
}

/**
 * Begins a message, and its part where the item is a single part. Signatures are complete in the
 * `done` event only, so they are left out.
 */
function openItem(state: DecoderState, index: number, wire: JsonObject, emit: EmitEvent): OpenItem {
  state.waiting.delete(index)
  for (const other of [...state.waiting].sort((a, b) => a - b)) openWaiting(state, other, emit)
  const { message } = decodeItem(
    wire as ResponsesItem,
    below('/output', index),
    undefined,
    state.model,
  )
  const { parts, status: _status, name: _name, ...head } = message
  const type = String(wire['type'])
  const open: OpenItem = {
    message: state.messages++,
    type,
    ...namesOf(wire),
    parts: {},
    order: [],
    segments: {},
    segmentCount: 0,
    done: false,
    whole: { ...message, parts: [] },
    ...(state.carried && { carried: state.carried }),
  }
  state.carried = undefined
  putItem(state, index, open)
  emit({ type: 'message.start', candidate: 0, message: open.message, ...head })
  if (type === 'message')
    for (const [place, part] of parts.entries()) openPart(state, open, `c${place}`, part, emit)
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

export function openPart(
  state: DecoderState,
  item: OpenItem,
  place: string,
  whole: Part,
  emit: EmitEvent,
): OpenPart {
  const carried =
    item.carried && (place === '' || place === 'c0')
      ? arrived(state, item, accepts(whole) !== undefined)
      : undefined
  const { head, deltas } = takeApart(carried ? { ...whole, signature: carried.signature } : whole)
  const open: OpenPart = { part: state.parts++, value: copyOf(head), ended: false }
  item.parts[place] = open
  item.order.push(open)
  emit({ type: 'part.start', candidate: 0, message: item.message, part: open.part, head })
  for (const delta of deltas) give(open, delta, emit)
  return open
}

function openReasoning(
  state: DecoderState,
  item: OpenItem,
  whole: ReasoningPart,
  emit: EmitEvent,
): OpenPart {
  const open = openPart(state, item, '', { ...whole, segments: [] }, emit)
  giveSegments(item, open, whole.segments, emit)
  return open
}

export function give(open: OpenPart, delta: Delta, emit: EmitEvent): void {
  addDelta(open.value, delta)
  emit({ type: 'part.delta', candidate: 0, part: open.part, delta })
}

export function endPart(open: OpenPart, final: Part | undefined, emit: EmitEvent): void {
  if (open.ended) return
  open.ended = true
  const { signature } = open.value
  const finalPart = final && onlyReported(final, open.value)
  const whole =
    finalPart?.type === open.value.type ? withSignature(finalPart, signature) : undefined
  if (whole) open.value = whole
  emit({ type: 'part.end', candidate: 0, part: open.part, ...(whole && { final: whole }) })
}

const withSignature = (part: Part, signature: Part['signature']): Part =>
  signature && !part.signature ? { ...part, signature } : part

/** The final part. If its content is empty, as with some servers, the streamed content is kept. */
function onlyReported(final: Part, open: Part): Part {
  if (final.type === 'tool-call' && open.type === 'tool-call' && final.input === '')
    return { ...final, input: open.input }
  if (final.type === 'text' && open.type === 'text')
    return {
      ...final,
      text: final.text || open.text,
      ...omitUndefined({
        citations: final.citations ?? open.citations,
        logprobs: final.logprobs ?? open.logprobs,
      }),
    }
  if (final.type === 'refusal' && open.type === 'refusal')
    return final.text === '' ? { ...final, text: open.text } : final
  if (
    final.type === 'reasoning' &&
    open.type === 'reasoning' &&
    final.segments.length === 0 &&
    open.segments.length > 0
  ) {
    const { redacted: _, ...rest } = final
    return { ...rest, segments: open.segments }
  }
  return final
}

/** The item that an event is about. One that was never announced is opened from the event. */
export function itemFor(
  state: DecoderState,
  event: JsonObject,
  type: string,
  emit: EmitEvent,
): OpenItem | undefined {
  const index = indexOf(state, event)
  const there = index === undefined ? undefined : openWaiting(state, index, emit)
  if (there?.type === type) return there.done ? undefined : there
  if (index === undefined || there) {
    const other =
      (typeof event['item_id'] === 'string'
        ? lastOpen(state, `${type} id ${event['item_id']}`)
        : undefined) ?? onlyOpen(state, type)
    if (other !== undefined) return openWaiting(state, other, emit)
  }
  const place = there || index === undefined ? state.next : index
  const id = typeof event['item_id'] === 'string' ? { id: event['item_id'] } : {}
  if (type === 'message')
    return openItem(state, place, { type, ...id, role: 'assistant', content: [] }, emit)
  if (type === 'reasoning') return openItem(state, place, { type, ...id, summary: [] }, emit)
  return undefined
}

/**
 * The only open item of the type, for events that name another item or none. Not for calls:
 * arguments must not go to a wrong call.
 */
function onlyOpen(state: DecoderState, type: string): number | undefined {
  return type === 'message' || type === 'reasoning' ? onlyOpenOf(state, type) : undefined
}

/** Ends a part of a message with its final content; what was not streamed yet is emitted first. */
export function completeContent(
  state: DecoderState,
  item: OpenItem,
  place: string,
  whole: Part,
  emit: EmitEvent,
): void {
  const open = item.parts[place] ?? openPartOf(item, whole)
  if (!open) {
    endPart(openPart(state, item, place, whole, emit), undefined, emit)
    return
  }
  if (open.ended) return
  complete(open, whole, emit)
  if (whole.type !== open.value.type) reportOf(state).add('stream.final-differs', open.value.at)
  endPart(open, whole, emit)
}

/**
 * The open part that an event for a place never announced continues: some servers increase the
 * index with every delta. With `text`, the event has the whole text, so the text so far must be its
 * beginning.
 */
export function openPartOf(
  { order }: OpenItem,
  { type, ...rest }: Part | { type: 'text' | 'refusal' },
): OpenPart | undefined {
  const last = order.at(-1)
  if (
    !last ||
    last.ended ||
    last.value.type !== type ||
    (last.value.type !== 'text' && last.value.type !== 'refusal')
  )
    return undefined
  const isNext = 'text' in rest ? beginsWith(String(rest.text), last.value.text) : !last.isReported
  return isNext ? last : undefined
}

/**
 * The place of the nth of `count` parts: its own number, or the nth taken place where the server
 * numbered otherwise.
 */
function placesOf(
  taken: readonly string[],
  letter: 'c' | 's',
  count: number,
): (nth: number) => string {
  const numbers = taken
    .flatMap(place => (place.startsWith(letter) ? [Number(place.slice(1))] : []))
    .sort((a, b) => a - b)
  const top = numbers.at(-1) ?? -1
  return nth => `${letter}${top < count ? nth : (numbers[nth] ?? top + 1 + nth)}`
}

/** Emits what the final part has beyond the streamed one. */
function complete(open: OpenPart, whole: Part, emit: EmitEvent): void {
  const { value } = open
  if (
    (value.type === 'text' && whole.type === 'text') ||
    (value.type === 'refusal' && whole.type === 'refusal')
  ) {
    if (value.type === 'text' && whole.type === 'text')
      for (const citation of whole.citations?.slice(value.citations?.length ?? 0) ?? [])
        give(open, { kind: 'citation', citation }, emit)
    const text = missing(value.text, whole.text)
    if (text) give(open, { kind: 'text', text }, emit)
    const logprobs = whole.logprobs?.slice(value.logprobs?.length ?? 0)
    if (logprobs?.length) give(open, { kind: 'logprobs', logprobs }, emit)
  } else if (value.type === 'tool-call' && whole.type === 'tool-call') {
    const text = missing(value.input, whole.input)
    if (text) give(open, { kind: 'input', text }, emit)
  }
}

/** The rest of a text that was not emitted yet. Empty if `given` is not its beginning. */
export function missing(given: string, whole: string): string {
  return whole.length > given.length && beginsWith(whole, given) ? whole.slice(given.length) : ''
}

export function segmentText({ segments }: OpenItem, { value }: OpenPart, place: string): string {
  const index = segments[place]
  return index === undefined || value.type !== 'reasoning'
    ? ''
    : (value.segments[index]?.text ?? '')
}

export function giveSegment(
  item: OpenItem,
  open: OpenPart,
  place: string,
  of: ReasoningSegment['kind'],
  text: string,
  emit: EmitEvent,
): void {
  item.segments[place] ??= item.segmentCount++
  give(open, { kind: 'reasoning', segment: item.segments[place], of, text }, emit)
}

/** Emits what the final reasoning has beyond the streamed segments. */
function giveSegments(
  item: OpenItem,
  open: OpenPart,
  segments: readonly ReasoningSegment[],
  emit: EmitEvent,
): void {
  const counts = { summary: 0, raw: 0 }
  const taken = Object.keys(item.segments)
  const all = segments.filter(({ kind }) => kind === 'raw').length
  const places = {
    summary: placesOf(taken, 's', segments.length - all),
    raw: placesOf(taken, 'c', all),
  }
  for (const { kind, text } of segments) {
    const place = places[kind](counts[kind]++)
    const more = missing(segmentText(item, open, place), text)
    if (more || item.segments[place] === undefined) giveSegment(item, open, place, kind, more, emit)
  }
}

export function finishItem(state: DecoderState, event: JsonObject, emit: EmitEvent): void {
  const item = itemOf(event)
  const index = indexOf(state, event) ?? state.next
  const there = state.items[index]
  completeItem(
    state,
    there && isAnother(there, item) ? (openAs(state, item) ?? state.next) : index,
    item,
    emit,
  )
}

/** The open item that this final one belongs to. */
function openAs(state: DecoderState, { type, id, call_id: call }: JsonObject): number | undefined {
  const byId = typeof id === 'string' ? lastOpen(state, `${type} id ${id}`) : undefined
  const byCall = typeof call === 'string' ? lastOpen(state, `${type} call ${call}`) : undefined
  const named =
    byId === undefined || byCall === undefined ? (byId ?? byCall) : Math.max(byId, byCall)
  return named ?? onlyOpen(state, String(type))
}

/**
 * Ends an item with its final form. One that was never announced is announced and ended at once.
 */
function completeItem(state: DecoderState, index: number, wire: JsonObject, emit: EmitEvent): void {
  const there = state.items[index]
  // The last event repeats every item, mostly unchanged.
  if (there?.carrier || (there?.final && !saysMore(wire, there.final))) return
  const at = below('/output', index)
  if (wire['type'] === 'function_call') noteArguments(wire, at, reportOf(state))
  const { message, attach, proven } = decodeItem(wire as ResponsesItem, at, undefined, state.model)
  if (there?.done) {
    takeLate(state, index, message, emit)
    return
  }
  const [only] = message.parts
  forgetMadeUpId(message, wire)
  if (attach !== undefined && only?.signature && (!there || there.waiting)) {
    const before = state.items[index - 1]
    const behind = before?.carrier ? before.behind : index - 1
    putItem(state, index, {
      ...unopened(wire),
      carrier: true,
      done: true,
      ...omitUndefined({ behind }),
    })
    if (!prove(state, attach, { signature: only.signature, ...proven }, emit))
      carry(state, attach, { signature: only.signature, index })
    return
  }
  let open = openWaiting(state, index, emit)
  if (open && open.type !== wire['type']) {
    closeItem(state, open, undefined, emit)
    open = undefined
  }
  // Reasoning begins without its segments, which are emitted one by one.
  open ??= openItem(
    state,
    index,
    only?.type === 'reasoning' ? { ...wire, content: undefined, summary: [] } : wire,
    emit,
  )
  if (open.type === 'message') {
    const placeOf = placesOf(Object.keys(open.parts), 'c', message.parts.length)
    for (const [nth, part] of message.parts.entries())
      completeContent(state, open, placeOf(nth), part, emit)
  } else {
    const part = open.parts['']
    if (only && part && !part.ended) {
      if (only.type === 'reasoning' && part.value.type === 'reasoning') {
        giveSegments(open, part, only.segments, emit)
        if (only.signature) give(part, { kind: 'signature', signature: only.signature }, emit)
      } else complete(part, only, emit)
      if (only.type !== part.value.type)
        reportOf(state).add('stream.final-differs', below('/output', index))
      giveBegun(open, emit)
      endPart(part, only, emit)
    }
  }
  const ext = newsOf(open.whole, message)
  open.whole = { ...message, parts: [] }
  open.final = wire
  closeItem(state, open, message.status, emit, ext)
}

/** How far from an item another may be that was taken for it. */
const nearby = 32

/**
 * What only the last event has of an item: a signature can still be emitted; anything else is too
 * late.
 */
function takeLate(state: DecoderState, index: number, whole: Message, emit: EmitEvent): void {
  const there = state.items[index]
  const [only] = whole.parts
  const open = there?.parts['']
  if (only?.type === 'reasoning' && only.signature && open && !open.value.signature)
    give(open, { kind: 'signature', signature: only.signature }, emit)
  // Under another id, an item may have been taken for one near it.
  for (let near = index - nearby; near <= index + nearby; near++) {
    const item = state.items[near]
    if (item && item.type === there?.type && !saysMore(whole, firstOf(item, whole))) return
  }
  reportOf(state).add('stream.final-differs', whole.at)
}

export const messageOf = ({ whole, order }: OpenItem): Message => ({
  ...whole,
  parts: order.map(({ value }) => value),
})

/** The message with as many parts as another one has. */
const firstOf = ({ whole, order }: OpenItem, { parts }: Message): Message => ({
  ...whole,
  parts: order.slice(0, parts.length).map(({ value }) => value),
})

/** Not compared: ids, which some servers change, and what is no content. */
const incomparable = new Set(['id', 'at', 'redacted'])

/** The provider encrypts the same text differently each time. */
const sealed = new Set(['signature', 'encrypted_content', 'fingerprint'])

/**
 * Does it say anything that the other one does not? That an item which has ended is completed goes
 * without saying.
 */
function saysMore(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null)
    return one !== other && one != null && one !== '' && one !== 'completed'
  for (const key in one) {
    const value: unknown = one[key as never]
    const earlier = (other as JsonObject | null | undefined)?.[key]
    if (
      value !== earlier &&
      !incomparable.has(key) &&
      !(earlier && sealed.has(key)) &&
      saysMore(value, earlier)
    )
      return true
  }
  return false
}

/** The unknown keys of an item that it was not announced with. */
function newsOf({ ext: earlier }: Message, { ext: later }: Message): ExtMap | undefined {
  const known = fieldsOf(earlier)
  const news: JsonObject = {}
  for (const [key, value] of Object.entries(fieldsOf(later) ?? {}))
    if (!same(known?.[key], value)) setOwn(news, key, value)
  return keep<{ ext?: ExtMap }>({}, omitUndefinedOrNone(news)).ext
}

/** Emits the arguments from a call's announcement, if no others came. */
function giveBegun(item: OpenItem, emit: EmitEvent): void {
  const { begun: text, parts } = item
  if (text === undefined) return
  delete item.begun
  const call = parts['']
  if (call?.value.type === 'tool-call' && call.value.input === '')
    give(call, { kind: 'input', text }, emit)
}

/** Ends what is still open when the response ends. */
export function closeItems(state: DecoderState, status: Message['status'], emit: EmitEvent): void {
  for (const index of Object.keys(state.items)) {
    const open = openWaiting(state, Number(index), emit)
    if (open) closeItem(state, open, status, emit)
  }
}

/**
 * Completes the items of the last snapshot, which may list fewer than were streamed, and under
 * other ids: an item that no id matches is taken for the next streamed one of its type. If there is
 * none left, it was never streamed.
 */
export function completeListed(
  state: DecoderState,
  list: readonly ResponsesItem[],
  emit: EmitEvent,
): void {
  const left = new LeftItems(state.items)
  const named = list.map(({ id, call_id: call }: JsonObject) => left.named(id, call))
  const places = list.map(({ type }, nth) => named[nth] ?? left.typed(String(type)))
  for (const [index, wire] of list.entries())
    completeItem(state, places[index] ?? (state.items[index] ? state.next : index), wire, emit)
}

function closeItem(
  state: DecoderState,
  open: OpenItem,
  status: Message['status'],
  emit: EmitEvent,
  ext?: ExtMap,
): void {
  if (open.done) return
  endItem(state, open)
  if (open.carried) arrived(state, open, false)
  giveBegun(open, emit)
  for (const part of Object.values(open.parts)) endPart(part, undefined, emit)
  const finalStatus = status === 'completed' || status === 'incomplete' ? { status } : {}
  emit({
    type: 'message.end',
    candidate: 0,
    message: open.message,
    ...finalStatus,
    ...omitUndefined({ at: finalStatus.status || ext ? open.whole.at : undefined, ext }),
  })
}
