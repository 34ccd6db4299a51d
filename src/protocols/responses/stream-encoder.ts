import { addDelta } from '../../canonical/collect.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, Delta, MessageStart, PartDelta, PartEnd, PartStart } from '../../canonical/event.ts'
import type { Citation, Part, RefusalPart, TextPart, ToolCallPart } from '../../canonical/message.ts'
import { type Candidate, mergeUsage } from '../../canonical/response.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { StreamMachine } from '../../protocol.ts'
import { encodeCall } from './calls.ts'
import { encodeCitation, encodeLogprob } from './citations.ts'
import { callIdOf, fallbacks, itemIdOf, snapshot } from './envelope.ts'
import { failureOf, streamError } from './error.ts'
import { encodeMessage } from './items.ts'
import { imageItem } from './media.ts'
import { encodeContentPart } from './message-item.ts'
import { addItem, closeMessageItem, endClosing, flushHeld, headOf, hold, messageItem, wholeItem } from './open-items.ts'
import type { ResponsesOptions } from './options.ts'
import { ownForm, protocol } from './own.ts'
import { encodeRaw } from './raw-items.ts'
import { carrierItem } from './reasoning.ts'
import { encodeEnding, failureOrRaw } from './response.ts'
import { endReasoning, giveReasoning, startReasoning } from './segments.ts'
import { belongsTo, forwardable } from './status-events.ts'
import { envelopeOf, type Item, type OpenMessage, type OpenPart, type Out, open, placeOf, type State, write, writing } from './stream-state.ts'
import { encodeUsage } from './usage.ts'
import { startWriting } from './writing.ts'

/**
 * Canonical events → events, each with its number, and `[DONE]`. Items are opened in the order in which their parts begin
 * and may be open side by side. The last event always says how the answer ended: accumulators take a stream without it
 * for a success.
 */
export const streamEncoder: StreamMachine<CanonicalEvent, unknown, State, ResponsesOptions> = {
  initial: (options = {}) => ({
    notes: [],
    phase: 'before',
    options: {
      ...(options.truncated && { truncated: options.truncated }),
      ...(options.strictEnums !== undefined && { strictEnums: options.strictEnums }),
      ...(options.rsMidStreamError && { rsMidStreamError: options.rsMidStreamError }),
      ...(options.rsSequential !== undefined && { rsSequential: options.rsSequential }),
      ...(options.fieldNames && { fieldNames: options.fieldNames }),
    },
    fallbacks: fallbacks(options),
    start: {},
    envelope: undefined,
    usedIds: [],
    usedCalls: [],
    sequence: 0,
    items: [],
    messages: {},
    parts: {},
    held: undefined,
    finish: undefined,
    finishExt: undefined,
    blocked: false,
    usage: undefined,
    passedOver: [],
    active: undefined,
    queue: [],
  }),

  step(state, event, emit) {
    if (state.phase === 'ended') return
    if ('candidate' in event && event.candidate !== 0) return passOver(state, event.candidate)
    if (state.options.rsSequential && mustWait(state, event)) {
      state.queue.push(event)
      return
    }
    take(state, event, emit)
    if (state.options.rsSequential) followQueue(state, event, emit)
  },

  end(state, emit) {
    if (state.phase !== 'ended') end(state, false, emit)
  },
}

function take(state: State, event: CanonicalEvent, emit: Out): void {
  switch (event.type) {
    case 'start': {
      const { type: _, ...start } = event
      state.start = structuredClone(start)
      state.phase = 'held'
      return
    }
    case 'ping':
      return
    case 'update':
      update(state, event)
      return
    case 'message.start':
      startMessage(state, event, emit)
      return
    case 'part.start':
      startPart(state, event, emit)
      return
    case 'part.delta':
      partDelta(state, event, emit)
      return
    case 'part.end':
      endPart(state, event, emit)
      return
    case 'message.end':
      endMessage(state, event.message, event.status, emit)
      return
    case 'finish':
      state.finish = event.finish
      state.finishExt = event.ext
      flushHeld(state, emit)
      return
    case 'usage':
      state.usage = mergeUsage(state.usage, event.usage)
      return
    case 'error':
      fail(state, event.error, emit)
      return
    case 'opaque':
      forward(state, event, emit)
      return
    case 'end':
      end(state, event.clean, emit)
      return
    default:
      event satisfies never
  }
}

function passOver(state: State, candidate: number): void {
  if (state.passedOver.includes(candidate)) return
  state.passedOver.push(candidate)
  writing(state).report.add('candidates.first-only', `/candidates/${candidate}`)
}

function update(state: State, { serviceTier, completedAt, promptBlocked, ext }: CanonicalEvent & { type: 'update' }): void {
  if (serviceTier !== undefined) state.start.serviceTier = serviceTier
  if (ext) state.start.ext = { ...state.start.ext, ...ext }
  if (promptBlocked) state.blocked = true
  const { envelope } = state
  if (!envelope) {
    if (completedAt !== undefined) envelopeOf(state).completedAt = completedAt
    return
  }
  if (serviceTier !== undefined) envelope.serviceTier = serviceTier
  if (completedAt !== undefined) envelope.completedAt = completedAt
  if (ext) envelope.ext = { ...envelope.ext, ...ext }
  const echo = ext?.[protocol]?.form?.['echo']
  if (isObject(echo)) envelope.echo = echo
}

function startMessage(state: State, { type: _t, candidate: _c, message, ...head }: MessageStart, emit: Out): void {
  open(state, emit)
  const opened: OpenMessage = { head: { origin: 'item', parts: [], ...head, role: 'assistant' }, item: undefined }
  state.messages[message] = opened
  if (ownForm(opened.head)?.['item'] === 'message') messageItem(state, message, emit)
}

function startPart(state: State, { message, part, head }: PartStart, emit: Out): void {
  open(state, emit)
  const opened: OpenPart = {
    message,
    value: structuredClone(head),
    item: undefined,
    content: 0,
    segments: 0,
    waiting: { citations: [], logprobs: [], annotations: 0 },
  }
  state.parts[part] = opened
  state.active ??= part
  switch (head.type) {
    case 'text':
    case 'refusal':
      startText(state, opened, head, emit)
      return
    case 'reasoning':
      startReasoning(state, opened, head, emit)
      return
    case 'tool-call':
      startCall(state, opened, head, emit)
      return
    case 'server-tool':
    case 'control':
    case 'opaque':
      startRaw(state, opened, emit)
      return
    case 'media':
    case 'tool-result':
    case 'search-result':
      return
    default:
      head satisfies never
  }
}

function startText(state: State, part: OpenPart, { text, ...head }: TextPart | RefusalPart, emit: Out): void {
  part.item = messageItem(state, part.message, emit)
  const item = state.items[part.item]
  const content = contentOf(item)
  part.content = content.length
  const wire = head.type === 'refusal' ? { type: 'refusal', refusal: '' } : { type: 'output_text', text: '', annotations: [], logprobs: [] }
  content.push(wire)
  part.value = head.type === 'refusal' ? { ...head, type: 'refusal', text: '' } : withoutLists(head)
  write(state, 'response.content_part.added', { ...placeOf(state, part), content_index: part.content, part: wire }, emit)
  if (head.type === 'text') for (const citation of head.citations ?? []) partGiven(state, part, { kind: 'citation', citation }, emit)
  if (text) partGiven(state, part, { kind: 'text', text }, emit)
  if (head.logprobs) partGiven(state, part, { kind: 'logprobs', logprobs: head.logprobs }, emit)
}

/** What the head lists already is given as deltas. */
function withoutLists({ citations: _c, logprobs: _l, ...head }: Omit<TextPart, 'text'>): TextPart {
  return { ...head, text: '' }
}

function contentOf(item: Item | undefined): unknown[] {
  const content = item?.wire['content']
  return Array.isArray(content) ? content : []
}

function startCall(state: State, part: OpenPart, head: ToolCallPart, emit: Out): void {
  closeMessageItem(state, part.message, undefined, emit)
  const w = writing(state)
  if (head.signature) wholeItem(state, part.message, carrierItem(head.signature, 'next', w), emit)
  const { signature: _, input, ...call } = head
  const muted = startWriting('output', w.own, state.options)
  if (w.itemId) muted.itemId = w.itemId
  const wire = { ...encodeCall({ ...call, input: ' ' }, headOf(state, part.message), muted), status: 'in_progress', [inputKey(head)]: '' }
  wire.call_id = callIdOf(String(wire.call_id) || `call_${String(wire.id)}`, state.usedCalls, head.at, w.report)
  part.item = addItem(state, part.message, wire, emit)
  part.value = { ...call, input: '' }
  if (input) partGiven(state, part, { kind: 'input', text: input }, emit)
}

const inputKey = ({ kind }: ToolCallPart) => (kind === 'freeform' ? 'input' : 'arguments')

/** Items that only this protocol has: known whole, or growing until their end. */
function startRaw(state: State, part: OpenPart, emit: Out): void {
  const { value } = part
  const head = headOf(state, part.message)
  if (value.type === 'opaque' && ownForm(head)?.['item'] === 'message') {
    const wire = encodeContentPart(value, 'assistant', writing(state))
    if (!wire) return
    part.item = messageItem(state, part.message, emit)
    const content = contentOf(state.items[part.item])
    part.content = content.length
    content.push(wire)
    write(state, 'response.content_part.added', { ...placeOf(state, part), content_index: part.content, part: wire }, emit)
    return
  }
  const wire = rawItem(state, value)
  if (!wire) return
  closeMessageItem(state, part.message, undefined, emit)
  part.item = addItem(state, part.message, wire, emit)
}

/** An item of this protocol as it came, with the ids that an answer's items must have. Undefined: it is not one. */
function rawItem(state: State, value: Part): JsonObject | undefined {
  if (value.type !== 'server-tool' && value.type !== 'control' && value.type !== 'opaque') return undefined
  const raw = isObject(value.raw) ? value.raw : undefined
  const type = raw?.['type']
  if (value.protocol !== protocol || !raw || typeof type !== 'string' || modelled.has(type)) {
    const w = writing(state)
    const items = value.protocol === protocol ? [] : encodeRaw(value, w)
    if (value.protocol === protocol) w.report.add('part.unknown', value.at)
    return items[0]
  }
  const id = itemIdOf(typeof raw['id'] === 'string' ? raw['id'] : undefined, prefixOf(type), { ...envelopeOf(state), own: true }, state.usedIds)
  const call = needsCallId.has(type) && (typeof raw['call_id'] !== 'string' || raw['call_id'] === '') ? { call_id: `call_${id}` } : {}
  return { ...raw, id, ...call }
}

/** Items that are written from canonical parts, never as they came. */
const modelled = new Set(['message', 'function_call', 'custom_tool_call'])
const needsCallId = new Set(['shell_call', 'shell_call_output'])

function prefixOf(type: string): string {
  const prefixes: Record<string, string> = {
    web_search_call: 'ws_',
    file_search_call: 'fs_',
    code_interpreter_call: 'ci_',
    image_generation_call: 'ig_',
    reasoning: 'rs_',
  }
  return Object.hasOwn(prefixes, type) ? (prefixes[type] ?? 'item_') : 'item_'
}

function partDelta(state: State, { part, delta }: PartDelta, emit: Out): void {
  const opened = state.parts[part]
  if (opened) partGiven(state, opened, delta, emit)
}

function partGiven(state: State, part: OpenPart, delta: Delta, emit: Out): void {
  const { value } = part
  switch (delta.kind) {
    case 'text':
      if (value.type === 'text' || value.type === 'refusal') giveText(state, part, value, delta.text, emit)
      else addDelta(value, delta)
      return
    case 'input':
      if (value.type !== 'tool-call' || delta.text === '') return
      value.input += delta.text
      write(
        state,
        value.kind === 'freeform' ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta',
        { ...placeOf(state, part), delta: delta.text },
        emit,
      )
      return
    case 'reasoning':
      if (value.type === 'reasoning') giveReasoning(state, part, value, delta, emit)
      return
    case 'citation':
      if (value.type !== 'text') return
      addDelta(value, delta)
      if (placed(delta.citation)) giveCitation(state, part, value, delta.citation, emit)
      else part.waiting.citations.push(delta.citation)
      return
    case 'logprobs':
      addDelta(value, delta)
      part.waiting.logprobs.push(...delta.logprobs)
      return
    case 'signature':
    case 'media':
      addDelta(value, delta)
      return
    default:
      delta satisfies never
  }
}

/** Offsets are known: the citation need not wait for the end of the text. */
const placed = ({ start, end, protocol: of, kind }: Citation) => of === protocol || kind !== 'url' || (start !== undefined && end !== undefined)

/** Nearly all of a stream: written in one literal, because every spread would be paid for each delta. */
function giveText(state: State, part: OpenPart, value: TextPart | RefusalPart, text: string, emit: Out): void {
  if (text === '') return
  value.text += text
  const { item: output_index, content: content_index, waiting } = part
  const item_id = output_index === undefined ? undefined : state.items[output_index]?.wire['id']
  const sequence_number = state.sequence++
  if (value.type === 'refusal') {
    emit({ type: 'response.refusal.delta', sequence_number, item_id, output_index, content_index, delta: text })
    return
  }
  const logprobs = waiting.logprobs.length > 0 ? waiting.logprobs.map(one => encodeLogprob(one, false)) : []
  if (waiting.logprobs.length > 0) waiting.logprobs = []
  emit({ type: 'response.output_text.delta', sequence_number, item_id, output_index, content_index, delta: text, logprobs })
}

function giveCitation(state: State, part: OpenPart, { text, at }: TextPart, citation: Citation, emit: Out): void {
  const annotation = encodeCitation(citation, text, writing(state).report, at)
  if (!annotation) return
  const place = { ...placeOf(state, part), content_index: part.content, annotation_index: part.waiting.annotations++ }
  write(state, 'response.output_text.annotation.added', { ...place, annotation }, emit)
}

function endPart(state: State, { part, final }: PartEnd, emit: Out): void {
  const opened = state.parts[part]
  if (!opened) return
  delete state.parts[part]
  if (state.active === part) state.active = undefined
  finishPart(state, opened, final?.type === opened.value.type ? final : undefined, emit)
}

function finishPart(state: State, part: OpenPart, final: Part | undefined, emit: Out): void {
  const { value } = part
  switch (value.type) {
    case 'text':
    case 'refusal':
      endText(state, part, final?.type === value.type ? final : value, emit)
      return
    case 'reasoning':
      endReasoning(state, part, value, final?.type === 'reasoning' ? final : value, emit)
      return
    case 'tool-call':
      endCall(state, part, value, final?.type === 'tool-call' ? final : value, emit)
      return
    case 'server-tool':
    case 'control':
    case 'opaque':
      endRaw(state, part, final, emit)
      return
    case 'media':
    case 'tool-result':
    case 'search-result':
      endWhole(state, part, final ?? value, emit)
      return
    default:
      value satisfies never
  }
}

function endText(state: State, part: OpenPart, whole: TextPart | RefusalPart, emit: Out): void {
  const { value } = part
  if (whole.type === 'text' && value.type === 'text')
    for (const citation of part.waiting.citations) giveCitation(state, part, { ...whole, at: whole.at ?? '' }, citation, emit)
  const w = writing(state)
  const muted = startWriting('output', w.own, state.options)
  const wire = encodeContentPart(unsigned(whole), 'assistant', muted) ?? {}
  w.report.ext(whole.ext, whole.at)
  if (whole.cache) w.report.add('cache.place', whole.at, 'cache')
  const place = { ...placeOf(state, part), content_index: part.content }
  if (whole.type === 'refusal') write(state, 'response.refusal.done', { ...place, refusal: whole.text }, emit)
  else write(state, 'response.output_text.done', { ...place, text: whole.text, logprobs: wire['logprobs'] ?? [] }, emit)
  write(state, 'response.content_part.done', { ...place, part: wire }, emit)
  const item = part.item === undefined ? undefined : state.items[part.item]
  contentOf(item)[part.content] = wire
  endClosing(state, part.item, emit)
  const signature = whole.signature ?? value.signature
  if (!signature) return
  closeMessageItem(state, part.message, undefined, emit)
  wholeItem(state, part.message, carrierItem(signature, 'prev', w), emit)
}

function unsigned<P extends Part>({ signature: _, ...part }: P): P {
  return part as P
}

function endCall(state: State, part: OpenPart, value: ToolCallPart, whole: ToolCallPart, emit: Out): void {
  if (part.item === undefined) return
  const item = state.items[part.item]
  const before = item?.wire ?? {}
  const head = headOf(state, part.message)
  const w = writing(state)
  w.itemId = () => String(before['id'])
  const wire = encodeCall(unsigned({ ...whole, id: value.id, kind: value.kind }), head, w)
  const input = String(wire[inputKey(value)] ?? '')
  if (value.input === '' && input !== '') partGiven(state, part, { kind: 'input', text: input }, emit)
  const place = placeOf(state, part)
  if (value.kind === 'freeform') write(state, 'response.custom_tool_call_input.done', { ...place, input }, emit)
  else write(state, 'response.function_call_arguments.done', { ...place, name: wire['name'], arguments: input }, emit)
  if (item) item.wire = { ...wire, call_id: before['call_id'], status: wire['status'] ?? 'completed' }
  const late = whole.signature ?? value.signature
  hold(state, part.item, emit)
  if (late) wholeItem(state, part.message, carrierItem(late, 'prev', writing(state)), emit)
}

function endRaw(state: State, part: OpenPart, final: Part | undefined, emit: Out): void {
  if (part.item === undefined) return
  const item = state.items[part.item]
  const raw = final && 'raw' in final && isObject(final.raw) ? final.raw : undefined
  if (item?.wire['type'] === 'message') {
    const wire = raw ?? contentOf(item)[part.content]
    contentOf(item)[part.content] = wire
    write(state, 'response.content_part.done', { ...placeOf(state, part), content_index: part.content, part: wire }, emit)
    endClosing(state, part.item, emit)
    return
  }
  if (item && raw && raw['type'] === item.wire['type']) {
    const { id, call_id: call } = item.wire
    item.wire = { ...raw, id, ...(call !== undefined && { call_id: call }) }
  }
  hold(state, part.item, emit)
}

/** What is written in one piece at its end. */
function endWhole(state: State, part: OpenPart, whole: Part, emit: Out): void {
  const w = writing(state)
  const image = whole.type === 'media' ? imageItem(whole, w) : undefined
  const items = image ? [image] : encodeMessage({ ...headOf(state, part.message), parts: [whole] }, w)
  if (items.length > 0) closeMessageItem(state, part.message, undefined, emit)
  for (const item of items) wholeItem(state, part.message, item, emit)
}

function endMessage(state: State, message: number, status: 'completed' | 'incomplete' | undefined, emit: Out): void {
  const opened = state.messages[message]
  delete state.messages[message]
  if (!opened) return
  writing(state).report.ext(opened.head.ext, opened.head.at)
  state.messages[message] = opened
  closeMessageItem(state, message, status, emit)
  delete state.messages[message]
  const held = state.held === undefined ? undefined : state.items[state.held]
  if (status && held?.message === message && (typeof held.wire['status'] === 'string' || held.wire['type'] === 'reasoning'))
    held.wire = { ...held.wire, status }
}

/** Events of this protocol about an item that is open here; those of others mean nothing to a client of this one. */
function forward(state: State, { protocol: of, raw }: CanonicalEvent & { type: 'opaque' }, emit: Out): void {
  const event = of === protocol && isObject(raw) ? raw : undefined
  const type = event?.['type']
  const index =
    typeof type === 'string' && forwardable.has(type)
      ? state.items.findIndex(({ wire, done }) => !done && wire['id'] === event?.['item_id'] && belongsTo(type, wire['type']))
      : -1
  if (!event || index < 0) {
    writing(state).report.once('event.unknown', undefined)
    return
  }
  open(state, emit)
  const { type: _type, sequence_number: _number, ...payload } = event
  write(state, String(type), { ...payload, output_index: index }, emit)
}

/** The items as they are now; those that are not done are incomplete. */
function outputOf(state: State): JsonObject[] {
  for (const part of Object.values(state.parts)) takeSoFar(state, part)
  return state.items.map(({ wire, done }, index) => {
    const unfinished = !done && index !== state.held && wire['type'] !== 'reasoning' && 'status' in wire
    return structuredClone(unfinished ? { ...wire, status: 'incomplete' } : wire)
  })
}

/** What an open part has told so far, without a word about its end. */
function takeSoFar(state: State, { value, item: index, content }: OpenPart): void {
  const item = index === undefined ? undefined : state.items[index]
  if (!item) return
  if (value.type === 'tool-call') item.wire = { ...item.wire, [inputKey(value)]: value.input }
  else if (value.type === 'text') contentOf(item)[content] = { type: 'output_text', text: value.text, annotations: [], logprobs: [] }
  else if (value.type === 'refusal') contentOf(item)[content] = { type: 'refusal', refusal: value.text }
  else if (value.type === 'reasoning') {
    const of = (kind: 'summary' | 'raw', type: string) => value.segments.filter(one => one.kind === kind).map(({ text }) => ({ type, text }))
    const raws = of('raw', 'reasoning_text')
    item.wire = { ...item.wire, summary: of('summary', 'summary_text'), ...(raws.length > 0 && { content: raws }) }
  }
}

function usageOf(state: State): JsonObject | null {
  return state.usage ? encodeUsage(state.usage, writing(state).report) : null
}

function fail(state: State, error: CanonicalError, emit: Out): void {
  open(state, emit)
  if (state.options.rsMidStreamError !== 'failed-only') write(state, 'error', streamError(error), emit)
  const raw = failureOrRaw(error)
  const failure = isObject(raw) && typeof raw['message'] === 'string' ? raw : failureOf(error)
  const response = snapshot(envelopeOf(state), { status: 'failed', output: outputOf(state), error: failure, usage: usageOf(state) })
  write(state, 'response.failed', { response }, emit)
  done(state, emit)
}

function done(state: State, emit: Out): void {
  state.phase = 'ended'
  emit('[DONE]')
}

function end(state: State, clean: boolean, emit: Out): void {
  const waiting = state.queue
  state.queue = []
  state.active = undefined
  for (const event of waiting) take(state, event, emit)
  const complete = clean && (state.finish !== undefined || state.blocked)
  if (!complete) {
    if (state.options.truncated === 'length') endAsLength(state, emit)
    else fail(state, truncation, emit)
    return
  }
  if (state.finish?.reason === 'error' || state.finish?.reason === 'malformed_tool_call') {
    if (state.finish.reason === 'malformed_tool_call') writing(state).report.add('finish.approximated', '', 'finish.reason')
    fail(state, { status: 502, kind: 'internal', message: state.finish.message ?? 'the model did not finish its answer' }, emit)
    return
  }
  open(state, emit)
  terminate(state, emit)
}

const truncation: CanonicalError = { status: 502, kind: 'internal', message: 'upstream stream ended early' }

/** Texts end where they were cut; a call without its end is not presented as one. */
function endAsLength(state: State, emit: Out): void {
  open(state, emit)
  for (const [part, opened] of Object.entries(state.parts)) {
    if (opened.value.type !== 'text' && opened.value.type !== 'refusal' && opened.value.type !== 'reasoning') continue
    const item = opened.item === undefined ? undefined : state.items[opened.item]
    if (typeof item?.wire['status'] === 'string') item.wire = { ...item.wire, status: 'incomplete' }
    endPart(state, { type: 'part.end', candidate: 0, part: Number(part) }, emit)
  }
  for (const message of Object.keys(state.messages)) closeMessageItem(state, Number(message), 'incomplete', emit)
  flushHeld(state, emit)
  writing(state).report.add('finish.truncated-as-length', '', 'finish')
  const response = snapshot(envelopeOf(state), {
    status: 'incomplete',
    output: outputOf(state),
    incomplete: { reason: 'max_output_tokens' },
    usage: usageOf(state),
  })
  write(state, 'response.incomplete', { response }, emit)
  done(state, emit)
}

function terminate(state: State, emit: Out): void {
  flushHeld(state, emit)
  const w = writing(state)
  const candidate: Candidate = { index: 0, messages: [], ...(state.finish && { finish: state.finish }), ...(state.finishExt && { ext: state.finishExt }) }
  const ending = encodeEnding(candidate, state.blocked && !state.finish, w)
  if (ending.refusal !== undefined && !state.items.some(said)) explain(state, ending.refusal, emit)
  const { status, details } = ending
  const usage = usageOf(state)
  const response = snapshot(envelopeOf(state), {
    status,
    output: outputOf(state),
    ...(details !== undefined && { incomplete: details }),
    ...(usage && { usage }),
  })
  write(state, status === 'completed' ? 'response.completed' : status === 'failed' ? 'response.failed' : 'response.incomplete', { response }, emit)
  done(state, emit)
}

const said = ({ wire }: Item) => wire['type'] === 'message' && Array.isArray(wire['content']) && wire['content'].length > 0

/** The explanation of a refusal, where nothing else was said. */
function explain(state: State, text: string, emit: Out): void {
  writing(state).report.add('refusal.synthesized', '/output')
  const message = Object.keys(state.messages).length + state.items.length
  take(state, { type: 'message.start', candidate: 0, message, role: 'assistant' }, emit)
  take(state, { type: 'part.start', candidate: 0, message, part: -1, head: { type: 'refusal', text } }, emit)
  take(state, { type: 'part.end', candidate: 0, part: -1 }, emit)
  take(state, { type: 'message.end', candidate: 0, message }, emit)
  flushHeld(state, emit)
}

/** With `rsSequential`: everything about other parts waits until the part being written is done. */
function mustWait(state: State, event: CanonicalEvent): boolean {
  if (state.active === undefined) return false
  switch (event.type) {
    case 'part.start':
    case 'message.start':
    case 'message.end':
      return true
    case 'part.delta':
    case 'part.end':
      return event.part !== state.active
    default:
      return false
  }
}

function followQueue(state: State, { type }: CanonicalEvent, emit: Out): void {
  if (type !== 'part.end') return
  while (state.active === undefined && state.queue.length > 0) {
    const waiting = state.queue
    state.queue = []
    for (const event of waiting) {
      if (mustWait(state, event)) state.queue.push(event)
      else take(state, event, emit)
    }
    if (state.active !== undefined) return
  }
}
