import { addDelta } from '../../canonical/collect.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, Delta } from '../../canonical/event.ts'
import { takeApart } from '../../canonical/explode.ts'
import type { Message, Part, ReasoningPart, ReasoningSegment } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { TranslationError } from '../../errors.ts'
import { check } from '../../kit/check.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { createReport } from '../../kit/report.ts'
import type { Emit, MachineState, StreamMachine } from '../../protocol.ts'
import { decodeCitation, decodeLogprob } from './citations.ts'
import { decodeContent } from './content.ts'
import { readError } from './error.ts'
import { decodeItem } from './items.ts'
import type { ResponsesOptions } from './options.ts'
import { protocol } from './own.ts'
import { awaitsClient, decodeHead, endingForm } from './response.ts'
import { ResponsesContent as ContentSchema, type ResponsesContent, ResponsesItem, ResponsesResponse } from './schema.ts'
import { decodeUsage } from './usage.ts'
import { decodeFinish } from './vocabulary.ts'

type Out = Emit<CanonicalEvent>

/** A part that has begun. `value`: what has been told of it so far. */
type OpenPart = { part: number; value: Part; ended: boolean }

type OpenItem = {
  message: number
  /** The item's `type` on the wire. */
  type: string
  id: string | undefined
  /** By place: `c0` is the first content part, `` the item itself where it is one part. */
  parts: Record<string, OpenPart>
  /** Where segments of reasoning stand, by place: `s0` the first of the summary, `c0` the first of the content. */
  segments: Record<string, number>
  done: boolean
  /** Without its parts; at the end, whole. */
  whole: Message
}

type State = MachineState & {
  phase: 'before' | 'inside' | 'ended'
  items: Record<number, OpenItem>
  messages: number
  parts: number
  model: string | undefined
  /** Held back until `response.failed` has added what it knows. */
  error: CanonicalError | undefined
}

/**
 * Events → canonical events. Items are told apart by `output_index`, because some servers change ids under way; what a
 * `done` event says wins over the deltas before it, and stands in for those that never came.
 *
 * @throws TranslationError `malformed` for a known event that lacks what it is about
 */
export const streamDecoder: StreamMachine<unknown, CanonicalEvent, State, ResponsesOptions> = {
  initial: () => ({ notes: [] as Note[], phase: 'before', items: {}, messages: 0, parts: 0, model: undefined, error: undefined }),

  step(state, wire, emit) {
    if (state.phase === 'ended') return
    if (wire === '[DONE]') return streamDecoder.end(state, emit)
    const event = isObject(wire) ? wire : {}
    const type = typeof event['type'] === 'string' ? event['type'] : event['error'] != null ? 'error' : ''
    const act = known.get(type)
    if (state.phase === 'before') {
      // What nobody knows may not begin a stream: the start has to wait for who answers.
      if (!act) return createReport(protocol, {}, {}, state.notes).once('event.unknown', undefined)
      begin(state, event, type, emit)
    }
    if (act) act(state, event, emit)
    else emit({ type: 'opaque', protocol, raw: wire })
  },

  end(state, emit) {
    if (state.phase === 'ended') return
    if (state.phase === 'before') emit({ type: 'start' })
    state.phase = 'ended'
    if (state.error) emit({ type: 'error', error: state.error })
    emit({ type: 'end', clean: false })
  },
}

type Act = (state: State, event: JsonObject, emit: Out) => void

const nothing: Act = () => {}
const ping: Act = (_state, _event, emit) => emit({ type: 'ping' })

const known = new Map<string, Act>([
  ['response.created', nothing],
  ['response.queued', nothing],
  ['response.in_progress', nothing],
  ['keepalive', ping],
  ['ping', ping],
  ['response.output_item.added', addItem],
  ['response.output_item.done', finishItem],
  ['response.content_part.added', addContent],
  ['response.content_part.done', finishContent],
  ['response.output_text.delta', (state, event, emit) => textDelta(state, event, 'output_text', emit)],
  ['response.output_text.done', (state, event, emit) => textDone(state, event, 'output_text', 'text', emit)],
  ['response.output_text.annotation.added', addAnnotation],
  ['response.refusal.delta', (state, event, emit) => textDelta(state, event, 'refusal', emit)],
  ['response.refusal.done', (state, event, emit) => textDone(state, event, 'refusal', 'refusal', emit)],
  ['response.function_call_arguments.delta', (state, event, emit) => inputDelta(state, event, 'function_call', emit)],
  ['response.function_call_arguments.done', (state, event, emit) => inputDone(state, event, 'function_call', 'arguments', emit)],
  ['response.custom_tool_call_input.delta', (state, event, emit) => inputDelta(state, event, 'custom_tool_call', emit)],
  ['response.custom_tool_call_input.done', (state, event, emit) => inputDone(state, event, 'custom_tool_call', 'input', emit)],
  ['response.reasoning_summary_part.added', nothing],
  ['response.reasoning_summary_part.done', nothing],
  ['response.reasoning_summary_text.delta', (state, event, emit) => reasoningDelta(state, event, 'summary', emit)],
  ['response.reasoning_summary_text.done', (state, event, emit) => reasoningDone(state, event, 'summary', emit)],
  ['response.reasoning_text.delta', (state, event, emit) => reasoningDelta(state, event, 'raw', emit)],
  ['response.reasoning_text.done', (state, event, emit) => reasoningDone(state, event, 'raw', emit)],
  ['response.reasoning.delta', (state, event, emit) => reasoningDelta(state, event, 'raw', emit)],
  ['response.reasoning.done', (state, event, emit) => reasoningDone(state, event, 'raw', emit)],
  ['error', takeError],
  ['response.completed', (state, event, emit) => finish(state, event, 'completed', emit)],
  ['response.incomplete', (state, event, emit) => finish(state, event, 'incomplete', emit)],
  ['response.failed', (state, event, emit) => finish(state, event, 'failed', emit)],
  ['response.done', (state, event, emit) => finish(state, event, 'completed', emit)],
  ['response.cancelled', (state, event, emit) => finish(state, event, 'cancelled', emit)],
])

function malformed(path: string, message: string): TranslationError {
  return new TranslationError({ code: 'malformed', protocol, path }, message)
}

/** The text of a field that an event cannot do without. */
function textOf(event: JsonObject, key: string): string {
  const value = event[key]
  if (typeof value !== 'string') throw malformed(`/${key}`, 'expected a string')
  return value
}

function begin(state: State, event: JsonObject, type: string, emit: Out): void {
  state.phase = 'inside'
  const lifecycle = known.has(type) && type.startsWith('response.') && 'response' in event
  let head: ReturnType<typeof decodeHead> = {}
  try {
    if (lifecycle) head = decodeHead(snapshotOf(event))
  } finally {
    state.model = head.model
    emit({ type: 'start', ...head })
  }
}

function snapshotOf(event: JsonObject): ResponsesResponse {
  if (!isObject(event['response'])) throw malformed('/response', 'expected a response')
  return check(protocol, ResponsesResponse, event['response'])
}

/** Which item an event is about: by `output_index`, else by id, else the one that was opened last. */
function indexOf(state: State, event: JsonObject): number | undefined {
  const index = event['output_index']
  if (index !== undefined && index !== null) {
    if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) throw malformed('/output_index', 'expected a place in the output')
    return index
  }
  const item = event['item']
  const id = event['item_id'] ?? (isObject(item) ? item['id'] : undefined)
  const open = Object.entries(state.items).filter(([, { done }]) => !done)
  const found = open.find(([, one]) => typeof id === 'string' && one.id === id) ?? (id === undefined ? open.at(-1) : undefined)
  return found && Number(found[0])
}

function nextIndex({ items }: State): number {
  return Object.keys(items).reduce((next, index) => Math.max(next, Number(index) + 1), 0)
}

function itemOf(event: JsonObject): ResponsesItem & JsonObject {
  const { item } = event
  if (!isObject(item) || typeof item['type'] !== 'string') throw malformed('/item/type', 'expected an item')
  return check(protocol, ResponsesItem, item)
}

function addItem(state: State, event: JsonObject, emit: Out): void {
  const item = itemOf(event)
  const given = event['output_index'] === undefined ? undefined : indexOf(state, event)
  const index = given ?? nextIndex(state)
  if (!state.items[index]) openItem(state, index, item, emit)
}

/** Begins a message, and its part where the item is one part. Signatures are whole in the done event only. */
function openItem(state: State, index: number, wire: JsonObject, emit: Out): OpenItem {
  const { message } = decodeItem(wire as ResponsesItem, `/output/${index}`, undefined, state.model)
  const { parts, origin: _origin, status: _status, at: _at, name: _name, ...head } = message
  const type = String(wire['type'])
  const open: OpenItem = {
    message: state.messages++,
    type,
    id: typeof wire['id'] === 'string' ? wire['id'] : undefined,
    parts: {},
    segments: {},
    done: false,
    whole: { ...message, parts: [] },
  }
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

function openPart(state: State, item: OpenItem, place: string, whole: Part, emit: Out): OpenPart {
  const { head, deltas } = takeApart(whole)
  const open: OpenPart = { part: state.parts++, value: structuredClone(head), ended: false }
  item.parts[place] = open
  emit({ type: 'part.start', candidate: 0, message: item.message, part: open.part, head })
  for (const delta of deltas) give(open, delta, emit)
  return open
}

function openReasoning(state: State, item: OpenItem, whole: ReasoningPart, emit: Out): OpenPart {
  const open = openPart(state, item, '', { ...whole, segments: [] }, emit)
  giveSegments(item, open, whole.segments, emit)
  return open
}

function give(open: OpenPart, delta: Delta, emit: Out): void {
  addDelta(open.value, delta)
  emit({ type: 'part.delta', candidate: 0, part: open.part, delta })
}

function endPart(open: OpenPart, final: Part | undefined, emit: Out): void {
  if (open.ended) return
  open.ended = true
  const fits = final?.type === open.value.type
  if (fits) open.value = final
  emit({ type: 'part.end', candidate: 0, part: open.part, ...(fits && { final }) })
}

/** The item that an event is about. One that was never announced is opened with what the event tells of it. */
function itemFor(state: State, event: JsonObject, type: string, emit: Out): OpenItem | undefined {
  const index = indexOf(state, event) ?? nextIndex(state)
  const open = state.items[index]
  if (open) return open.done || open.type !== type ? undefined : open
  const id = typeof event['item_id'] === 'string' ? { id: event['item_id'] } : {}
  if (type === 'message') return openItem(state, index, { type, ...id, role: 'assistant', content: [] }, emit)
  if (type === 'reasoning') return openItem(state, index, { type, ...id, summary: [] }, emit)
  return undefined
}

function placeOf(event: JsonObject, key: 'content_index' | 'summary_index'): number {
  const index = event[key] ?? 0
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) throw malformed(`/${key}`, 'expected a place')
  return index
}

function contentOf(event: JsonObject): ResponsesContent {
  return check(protocol, ContentSchema, event['part'])
}

function addContent(state: State, event: JsonObject, emit: Out): void {
  const { part } = event
  if (isObject(part) && part['type'] === 'reasoning_text') return
  const place = `c${placeOf(event, 'content_index')}`
  const item = itemFor(state, event, 'message', emit)
  if (!item || item.parts[place]) return
  const at = `/output/${indexOf(state, event) ?? 0}/content/${place.slice(1)}`
  openPart(state, item, place, decodeContent(contentOf(event), at, 'assistant'), emit)
}

function finishContent(state: State, event: JsonObject, emit: Out): void {
  const { part } = event
  if (isObject(part) && part['type'] === 'reasoning_text') return
  const index = placeOf(event, 'content_index')
  const item = itemFor(state, event, 'message', emit)
  if (item) completeContent(state, item, index, decodeContent(contentOf(event), `/output/${indexOf(state, event) ?? 0}/content/${index}`, 'assistant'), emit)
}

/** A part of a message has come whole: what was not told of it yet is told now. */
function completeContent(state: State, item: OpenItem, index: number, whole: Part, emit: Out): void {
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
function complete(open: OpenPart, whole: Part, emit: Out): void {
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
function missing(given: string, whole: string): string {
  return whole.length > given.length && whole.startsWith(given) ? whole.slice(given.length) : ''
}

function textPart(state: State, event: JsonObject, type: 'output_text' | 'refusal', emit: Out): OpenPart | undefined {
  const item = itemFor(state, event, 'message', emit)
  if (!item) return undefined
  const index = placeOf(event, 'content_index')
  const at = `/output/${indexOf(state, event) ?? 0}/content/${index}`
  const open =
    item.parts[`c${index}`] ?? openPart(state, item, `c${index}`, type === 'refusal' ? { type: 'refusal', text: '', at } : { type: 'text', text: '', at }, emit)
  return open.ended || open.value.type !== (type === 'refusal' ? 'refusal' : 'text') ? undefined : open
}

function textDelta(state: State, event: JsonObject, type: 'output_text' | 'refusal', emit: Out): void {
  const text = textOf(event, 'delta')
  const open = textPart(state, event, type, emit)
  if (!open) return
  const { logprobs } = event
  if (Array.isArray(logprobs) && logprobs.length > 0) give(open, { kind: 'logprobs', logprobs: logprobs.map(decodeLogprob) }, emit)
  if (text) give(open, { kind: 'text', text }, emit)
}

function textDone(state: State, event: JsonObject, type: 'output_text' | 'refusal', key: 'text' | 'refusal', emit: Out): void {
  const whole = textOf(event, key)
  const open = textPart(state, event, type, emit)
  if (!open || (open.value.type !== 'text' && open.value.type !== 'refusal')) return
  const text = missing(open.value.text, whole)
  if (text) give(open, { kind: 'text', text }, emit)
}

function addAnnotation(state: State, event: JsonObject, emit: Out): void {
  if (!isObject(event['annotation'])) throw malformed('/annotation', 'expected an annotation')
  const open = textPart(state, event, 'output_text', emit)
  if (open) give(open, { kind: 'citation', citation: decodeCitation(event['annotation']) }, emit)
}

function callPart(state: State, event: JsonObject, type: 'function_call' | 'custom_tool_call', emit: Out): OpenPart | undefined {
  const open = itemFor(state, event, type, emit)?.parts['']
  return open && !open.ended && open.value.type === 'tool-call' ? open : undefined
}

function inputDelta(state: State, event: JsonObject, type: 'function_call' | 'custom_tool_call', emit: Out): void {
  const text = textOf(event, 'delta')
  const open = callPart(state, event, type, emit)
  if (open && text) give(open, { kind: 'input', text }, emit)
}

function inputDone(state: State, event: JsonObject, type: 'function_call' | 'custom_tool_call', key: 'arguments' | 'input', emit: Out): void {
  const whole = textOf(event, key)
  const open = callPart(state, event, type, emit)
  if (open?.value.type !== 'tool-call') return
  const text = missing(open.value.input, whole)
  if (text) give(open, { kind: 'input', text }, emit)
}

function reasoningDelta(state: State, event: JsonObject, of: ReasoningSegment['kind'], emit: Out): void {
  const text = textOf(event, 'delta')
  const item = itemFor(state, event, 'reasoning', emit)
  const open = item?.parts['']
  if (item && open && !open.ended && text) giveSegment(item, open, segmentPlace(event, of), of, text, emit)
}

function reasoningDone(state: State, event: JsonObject, of: ReasoningSegment['kind'], emit: Out): void {
  const whole = textOf(event, 'text')
  const item = itemFor(state, event, 'reasoning', emit)
  const open = item?.parts['']
  if (!item || !open || open.ended || open.value.type !== 'reasoning') return
  const place = segmentPlace(event, of)
  const text = missing(segmentText(item, open, place), whole)
  if (text) giveSegment(item, open, place, of, text, emit)
}

const segmentPlace = (event: JsonObject, of: ReasoningSegment['kind']) =>
  of === 'summary' ? `s${placeOf(event, 'summary_index')}` : `c${placeOf(event, 'content_index')}`

function segmentText({ segments }: OpenItem, { value }: OpenPart, place: string): string {
  const index = segments[place]
  return index === undefined || value.type !== 'reasoning' ? '' : (value.segments[index]?.text ?? '')
}

function giveSegment(item: OpenItem, open: OpenPart, place: string, of: ReasoningSegment['kind'], text: string, emit: Out): void {
  item.segments[place] ??= Object.keys(item.segments).length
  give(open, { kind: 'reasoning', segment: item.segments[place], of, text }, emit)
}

/** Gives what whole reasoning has more than what was given. */
function giveSegments(item: OpenItem, open: OpenPart, segments: readonly ReasoningSegment[], emit: Out): void {
  const counts = { summary: 0, raw: 0 }
  for (const { kind, text } of segments) {
    const place = `${kind === 'summary' ? 's' : 'c'}${counts[kind]++}`
    const more = missing(segmentText(item, open, place), text)
    if (more) giveSegment(item, open, place, kind, more, emit)
  }
}

function finishItem(state: State, event: JsonObject, emit: Out): void {
  const item = itemOf(event)
  const index = indexOf(state, event) ?? nextIndex(state)
  completeItem(state, index, item, emit)
}

/** An item has come whole. One that was never announced is announced and ended at once. */
function completeItem(state: State, index: number, wire: JsonObject, emit: Out): void {
  let open = state.items[index]
  if (open?.done) return
  if (open && open.type !== wire['type']) {
    closeItem(open, undefined, emit)
    open = undefined
  }
  const { message } = decodeItem(wire as ResponsesItem, `/output/${index}`, undefined, state.model)
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
  closeItem(open, message.status, emit)
}

/** An item of the last snapshot, which may list fewer items than were streamed. */
function completeListed(state: State, index: number, wire: JsonObject, emit: Out): void {
  const { id, type } = wire
  const byId = Object.entries(state.items).find(([, one]) => typeof id === 'string' && one.id === id)
  const there = state.items[index]
  if (byId) completeItem(state, Number(byId[0]), wire, emit)
  else if (!there || there.type === type) completeItem(state, index, wire, emit)
}

function closeItem(open: OpenItem, status: Message['status'], emit: Out): void {
  if (open.done) return
  open.done = true
  for (const part of Object.values(open.parts)) endPart(part, undefined, emit)
  const ended = status === 'completed' || status === 'incomplete' ? { status } : {}
  emit({ type: 'message.end', candidate: 0, message: open.message, ...ended })
}

function takeError(state: State, event: JsonObject): void {
  state.error ??= readError(event)
}

/** The last event: what the snapshot has more than the stream, then how it ended. */
function finish(state: State, event: JsonObject, meant: string, emit: Out): void {
  const body = snapshotOf(event)
  const { status: said } = body
  const status = said === undefined || said === null || said === 'in_progress' || said === 'queued' ? meant : said
  const usage = body.usage ? decodeUsage(body.usage) : undefined
  if (status === 'failed') {
    if (usage) emit({ type: 'usage', usage })
    state.error ??= readError(body.error ?? {})
    streamDecoder.end(state, emit)
    return
  }
  for (const [index, item] of body.output?.entries() ?? []) completeListed(state, index, item, emit)
  for (const open of Object.values(state.items)) closeItem(open, status === 'incomplete' ? 'incomplete' : undefined, emit)
  if (state.error) {
    if (usage) emit({ type: 'usage', usage })
    streamDecoder.end(state, emit)
    return
  }
  const { id: _id, model: _model, createdAt: _createdAt, ...head } = decodeHead(body)
  emit({ type: 'update', ...head })
  const messages = Object.values(state.items).map(({ whole, parts }) => ({ ...whole, parts: Object.values(parts).map(({ value }) => value) }))
  const ending = decodeFinish(status, body.incomplete_details?.reason ?? undefined, awaitsClient(messages)) ?? {
    reason: 'other' as const,
    raw: status,
    protocol,
  }
  emit({ type: 'finish', candidate: 0, finish: ending, ...endingForm(body) })
  if (usage) emit({ type: 'usage', usage })
  state.phase = 'ended'
  emit({ type: 'end', clean: true })
}
