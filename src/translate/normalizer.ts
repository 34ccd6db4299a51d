import { addDelta } from '../canonical/collect.ts'
import { copyOf } from '../canonical/copy.ts'
import type {
  CanonicalEvent,
  Delta,
  EncodedPartEnd,
  EncoderEvent,
  PartDelta,
  PartEnd,
  PartStart,
} from '../canonical/event.ts'
import type { Part, Place } from '../canonical/message.ts'
import type { Note } from '../canonical/note.ts'
import { advanceJson, type JsonProgress, startJson } from '../kit/json/json.ts'
import { createReport } from '../kit/notes/report.ts'
import { isLimit } from '../kit/tools/cut-calls.ts'
import type { ClientHalf, CodecOptions, Emit, FieldNames, StreamParts } from '../protocol.ts'
import { compareFinal } from './final-part.ts'
import { translateNotes } from './notes.ts'
import {
  addWaiting,
  firstOf,
  type Lane,
  startWaiting,
  takeWaiting,
  type Waiting,
  type WaitingList,
} from './waiting.ts'

/**
 * Between a stream decoder and a stream encoder: orders the events of a candidate as the target
 * protocol requires, and drops what no encoder can write. `passedOver`: the candidates for which
 * the target has no place. Plain data.
 */
export type NormalizerState = {
  parts: StreamParts
  endsEarly: boolean
  isSingle: boolean
  fieldNames: FieldNames
  candidates: Record<number, Ordering>
  passedOver: Record<number, true>
  notes: Note[]
}

/**
 * `open`: by lane, the part that may be written. `parts`: those that have started. `begun`: the
 * messages of the source so far; `messages`: those that have not ended, and `least`: the first of
 * them. `left`: the messages with parts that ended while something waited. `ended`: the end of a call, held back until the next event of the source shows whether a
 * token limit cut it off.
 */
type Ordering = {
  candidate: number
  open: Partial<Record<Lane, number>>
  parts: Record<number, Started>
  begun: Record<number, true>
  messages: Set<number>
  least: number
  left: Set<number>
  ended: EncodedPartEnd | undefined
  waiting: WaitingList
}

type Started = {
  lane: Lane | undefined
  message: number
  /**
   * `early`: its arguments were whole and another part waited, so its end was passed on before the
   * source sent it.
   */
  phase: 'open' | 'early' | 'ended'
  at: Place | undefined
  /**
   * What was streamed of it, to compare with its final form. Undefined: it has no deltas, or has
   * ended.
   */
  content: Part | undefined
  /**
   * Of a function call: the progress of the first `scanned` characters of its arguments, see
   * `isWhole`.
   */
  json: JsonProgress | undefined
  scanned: number
}

type Unended = Exclude<CanonicalEvent, PartEnd>

type Pass = Emit<EncoderEvent>

type Target = Pick<ClientHalf, 'streamParts' | 'takesLateSignatures' | 'oneCandidate'>

/** `options`: those of the encoder, with the field names of the source. */
export function startNormalizing(
  { streamParts, takesLateSignatures, oneCandidate }: Target,
  options: CodecOptions = {},
): NormalizerState {
  return {
    parts: streamParts?.(options) ?? 'any',
    endsEarly: takesLateSignatures === true,
    isSingle: oneCandidate === true,
    fieldNames: options.fieldNames ?? {},
    candidates: {},
    passedOver: {},
    notes: [],
  }
}

/**
 * Passes on the event, and those that waited for it. An event that may be written at once is passed
 * on at once.
 */
export function normalizeEvent(state: NormalizerState, event: CanonicalEvent, pass: Pass): void {
  if ('candidate' in event) {
    const { candidate } = event
    if (state.isSingle && candidate !== 0) {
      passOver(state, candidate)
      return
    }
    const ordering = orderingOf(state, candidate)
    if (event.type !== 'message.end')
      release(state, ordering, event.type === 'finish' && isLimit(event.finish), pass)
    order(state, ordering, event, pass)
  } else {
    if (event.type === 'end')
      for (const ordering of Object.values(state.candidates)) {
        release(state, ordering, !event.clean, pass)
        flush(state, ordering, pass)
      }
    pass(event)
  }
}

function passOver(state: NormalizerState, candidate: number): void {
  if (state.passedOver[candidate]) return
  state.passedOver[candidate] = true
  reportOf(state).add(
    'candidates.first-only',
    `/${state.fieldNames['candidates'] ?? 'candidates'}/${candidate}`,
  )
}

const nothing: Pick<Ordering, 'ended' | 'waiting' | 'parts'> = {
  ended: undefined,
  waiting: startWaiting(),
  parts: {},
}

/** Takes a delta if it may be written at once; then the caller passes it on. */
export function takeDirectly(
  { endsEarly, isSingle, candidates }: NormalizerState,
  { candidate, part, delta }: PartDelta,
): boolean {
  if (isSingle && candidate !== 0) return false
  const { ended, waiting, parts } = candidates[candidate] ?? nothing
  const started = parts[part]
  if (started?.phase !== 'open' || ended) return false
  if (endsEarly && waiting.entries.size > 0 && delta.kind === 'input') return false
  if (started.content) addDelta(started.content, delta)
  return true
}

function orderingOf({ candidates }: NormalizerState, index: number): Ordering {
  const known = candidates[index]
  if (known) return known
  const ordering: Ordering = {
    candidate: index,
    open: {},
    parts: {},
    begun: {},
    messages: new Set(),
    least: Infinity,
    left: new Set(),
    ended: undefined,
    waiting: startWaiting(),
  }
  candidates[index] = ordering
  return ordering
}

function order(
  state: NormalizerState,
  ordering: Ordering,
  event: CanonicalEvent,
  pass: Pass,
): void {
  if (take(state, ordering, event, pass)) resume(state, ordering, pass)
}

/** Passes on the event, drops it, or lets it wait. False: nothing that waits can continue now. */
function take(
  state: NormalizerState,
  ordering: Ordering,
  event: CanonicalEvent,
  pass: Pass,
): boolean {
  switch (event.type) {
    case 'part.start':
      return takeStart(state, ordering, event, pass)
    case 'part.delta':
      return takeDelta(state, ordering, event, pass)
    case 'part.end':
      return takeEnd(state, ordering, event, pass)
    case 'message.start':
      if (ordering.begun[event.message]) {
        reportOf(state).once('stream.repeated-start', event.at)
        return false
      }
      ordering.begun[event.message] = true
      return passInTurn(
        ordering,
        { lane: laneOf(state, event.type), message: event.message, events: [event] },
        pass,
      )
    case 'message.end':
      return passInTurn(
        ordering,
        { lane: laneOf(state, event.type), message: event.message, events: [event] },
        pass,
      )
    default:
      pass(event)
      return false
  }
}

/**
 * The lane of a part or an event. Undefined: it waits for no part, but the end of a message waits
 * for those of its parts.
 */
function laneOf(
  { parts }: NormalizerState,
  type: Part['type'] | CanonicalEvent['type'],
): Lane | undefined {
  if (parts === 'sequential') return 'all'
  if (parts === 'any') return undefined
  return type === 'text' || type === 'refusal' || type === 'reasoning' || type === 'tool-call'
    ? type
    : undefined
}

function takeStart(
  state: NormalizerState,
  ordering: Ordering,
  event: PartStart,
  pass: Pass,
): boolean {
  const { message, part, head } = event
  if (ordering.parts[part] || ordering.waiting.parts.has(part)) {
    reportOf(state).once('stream.repeated-start', head.at)
    return false
  }
  return passInTurn(
    ordering,
    { lane: laneOf(state, head.type), message, part, events: [event] },
    pass,
  )
}

/**
 * Passes on a start, an event of a message, or a signature after the end of its part, unless it has
 * to wait.
 */
function passInTurn(
  ordering: Ordering,
  entry: Omit<Waiting, 'events'> & { events: Unended[] },
  pass: Pass,
): boolean {
  if (!mayGo(ordering, entry)) {
    addWaiting(ordering.waiting, queueOf(ordering, entry), entry)
    return true
  }
  for (const event of entry.events) passOn(ordering, entry.lane, event, pass)
  // Parts of later messages wait for it.
  return entry.events[0]?.type === 'message.end'
}

function mayGo(ordering: Ordering, { lane, message, part, events }: Waiting): boolean {
  const { open, least } = ordering
  if (lane === 'all' || lane === 'tool-call') return open[lane] === undefined
  if (lane) return open[lane] === undefined && least >= message
  return part !== undefined || events[0]?.type !== 'message.end' || mayEnd(ordering, message)
}

/** Is no part of the message open, and does none wait? */
const mayEnd = ({ open, parts, waiting }: Ordering, message: number) =>
  !Object.values(open).some(one => parts[one]?.message === message) &&
  !waiting.messages.has(message)

/** With whom it waits: those of its lane, of its lane and message, or of the end of its message. */
function queueOf({ least }: Ordering, { lane, message }: Waiting): string {
  if (lane === undefined) return `end ${message}`
  return lane === 'all' || lane === 'tool-call' || message <= least ? lane : `${lane} ${message}`
}

function passOn(ordering: Ordering, lane: Lane | undefined, event: Unended, pass: Pass): void {
  if (event.type === 'part.start') {
    const { message, part, head } = event
    if (lane) ordering.open[lane] = part
    ordering.parts[part] = {
      lane,
      message,
      phase: 'open',
      at: head.at,
      content: contentOf(head),
      json: progressOf(head),
      scanned: 0,
    }
  } else if (event.type === 'message.start') {
    ordering.messages.add(event.message)
    ordering.least = Math.min(ordering.least, event.message)
  } else if (event.type === 'message.end') endMessage(ordering, event.message)
  pass(event)
}

function endMessage(ordering: Ordering, message: number): void {
  const { messages } = ordering
  messages.delete(message)
  if (messages.size === 0) ordering.least = Infinity
  else while (!messages.has(ordering.least)) ordering.least++
}

function contentOf(head: Part): Part | undefined {
  const { type } = head
  return type === 'text' || type === 'refusal' || type === 'reasoning' || type === 'tool-call'
    ? copyOf(head)
    : undefined
}

const progressOf = (head: Part) =>
  head.type === 'tool-call' && head.kind === 'function' ? startJson() : undefined

/**
 * Are the arguments of the call a whole JSON value? Read only when somebody asks, because most
 * deltas are passed on without it.
 */
function isWhole(started: Started): boolean {
  const { content, json, scanned } = started
  if (content?.type !== 'tool-call' || !json) return false
  if (scanned < content.input.length) advanceJson(json, content.input.slice(scanned))
  started.scanned = content.input.length
  return json.whole
}

/**
 * Adds a delta to what was streamed. A slice of a growing text is slow, so arguments that are read
 * up to here are read on.
 */
function collect(started: Started, delta: Delta): void {
  const { content, json, scanned } = started
  if (!content) return
  if (
    delta.kind === 'input' &&
    json &&
    content.type === 'tool-call' &&
    scanned === content.input.length
  ) {
    advanceJson(json, delta.text)
    started.scanned += delta.text.length
  }
  addDelta(content, delta)
}

function takeDelta(
  state: NormalizerState,
  ordering: Ordering,
  event: PartDelta,
  pass: Pass,
): boolean {
  const { part, delta } = event
  const started = ordering.parts[part]
  if (!started) {
    const waiting = ordering.waiting.parts.get(part)
    if (!waiting) reportOf(state).once('stream.stray-delta', delta.at)
    else if (!sign(waiting, event)) waiting.events.push(event)
    return false
  }
  collect(started, delta)
  if (started.phase === 'open') {
    pass(event)
    return state.endsEarly && delta.kind === 'input'
  }
  if (delta.kind === 'signature') return passLate(ordering, started, event, pass)
  noteStray(state, started, delta)
  return false
}

function noteStray(state: NormalizerState, { phase, at }: Started, delta: Delta): void {
  // Late fields of a call that has ended: only those that no target knows are noted, as where it
  // ends in time.
  if (phase === 'early' && delta.kind === 'fields') reportOf(state).ext(delta.ext, delta.at)
  else if (phase !== 'early' || delta.kind !== 'input')
    reportOf(state).once('stream.stray-delta', at)
  else if (delta.text.trim()) reportOf(state).once('stream.trailing-arguments', at, 'input')
}

/**
 * Adds the signature of a call to its start, which still waits: some encoders write it there.
 * False: another delta.
 */
function sign({ events }: Waiting, { delta }: PartDelta): boolean {
  const [start] = events
  if (
    delta.kind !== 'signature' ||
    delta.ext ||
    start?.type !== 'part.start' ||
    start.head.type !== 'tool-call'
  )
    return false
  events[0] = { ...start, head: { ...start.head, signature: delta.signature } }
  return true
}

/**
 * A signature after the end of its part must not come between the events of another part, unless
 * these may mix.
 */
const passLate = (ordering: Ordering, { lane, message }: Started, event: PartDelta, pass: Pass) =>
  passInTurn(ordering, { lane: lane === 'all' ? lane : undefined, message, events: [event] }, pass)

function takeEnd(state: NormalizerState, ordering: Ordering, event: PartEnd, pass: Pass): boolean {
  const { candidate, part, final, cut } = event
  const started = ordering.parts[part]
  if (!started) {
    // Its call is not the last one, so no token limit cut it off.
    ordering.waiting.parts.get(part)?.events.push({ ...event, cut: false })
    return false
  }
  if (started.phase === 'ended') return false
  if (final) emitFinalDeltas(state, ordering, event, final, pass)
  if (started.phase === 'early') {
    started.phase = 'ended'
    started.content = undefined
    return true
  }
  const partEnd: EncodedPartEnd = { type: 'part.end', candidate, part }
  if (cut !== undefined) partEnd.cut = cut
  // The next event that the encoder receives is not the next one of the source.
  if (
    cut === undefined &&
    started.json &&
    ordering.waiting.lanes.has(started.lane) &&
    !isWhole(started)
  ) {
    ordering.ended = partEnd
    return false
  }
  end(ordering, started, partEnd, pass)
  started.content = undefined
  return true
}

/** Passes on what the final part has beyond the deltas, as deltas. */
function emitFinalDeltas(
  state: NormalizerState,
  ordering: Ordering,
  { candidate, part }: PartEnd,
  final: Part,
  pass: Pass,
): void {
  const { content, at } = ordering.parts[part] ?? {}
  if (!content) {
    pass({ type: 'part.delta', candidate, part, delta: { kind: 'whole', whole: final } })
    return
  }
  const { deltas, differs } = compareFinal(content, final)
  if (differs) reportOf(state).add('stream.final-differs', at)
  for (const delta of deltas)
    takeDelta(state, ordering, { type: 'part.delta', candidate, part, delta }, pass)
}

function end(
  ordering: Ordering,
  started: Started,
  event: EncodedPartEnd,
  pass: Pass,
  phase: 'early' | 'ended' = 'ended',
): void {
  started.phase = phase
  if (started.lane) delete ordering.open[started.lane]
  if (ordering.waiting.entries.size > 0) ordering.left.add(started.message)
  pass(event)
}

/** Passes on the end that was held back, and what waited for it. */
function release(state: NormalizerState, ordering: Ordering, cut: boolean, pass: Pass): void {
  const { ended } = ordering
  if (!ended) return
  ordering.ended = undefined
  order(state, ordering, { ...ended, cut }, pass)
}

/** Passes on what waits, as far as it may go now. */
function resume(state: NormalizerState, ordering: Ordering, pass: Pass): void {
  const { waiting } = ordering
  while (waiting.entries.size > 0) {
    if (state.endsEarly) endWhole(ordering, pass)
    const next = firstOf(waiting, readyOf(ordering))
    if (next === undefined) return
    replay(state, ordering, next, pass)
  }
}

const lanes: readonly Lane[] = ['all', 'tool-call', 'text', 'refusal', 'reasoning']

/** The queues whose first one may go. */
function readyOf(ordering: Ordering): string[] {
  const { open, least, left, waiting } = ordering
  const ready = lanes.flatMap(lane => (open[lane] === undefined ? [lane, `${lane} ${least}`] : []))
  for (const message of left) {
    const end = `end ${message}`
    if (waiting.queues.has(end) && mayEnd(ordering, message)) ready.push(end)
    // It does not wait, or waits for another part.
    else left.delete(message)
  }
  return ready
}

/** Ends the open call if its arguments are whole and another part waits for it. */
function endWhole(ordering: Ordering, pass: Pass): void {
  const { candidate, waiting } = ordering
  const lane = ordering.open.all === undefined ? 'tool-call' : 'all'
  const part = ordering.open[lane]
  const started = part === undefined ? undefined : ordering.parts[part]
  if (part !== undefined && started && waiting.lanes.has(lane) && isWhole(started))
    end(ordering, started, { type: 'part.end', candidate, part, cut: false }, pass, 'early')
}

function replay(state: NormalizerState, ordering: Ordering, place: number, pass: Pass): void {
  const { lane, events } = takeWaiting(ordering.waiting, place) ?? { lane: undefined, events: [] }
  for (const event of events)
    if (event.type === 'part.end') takeEnd(state, ordering, event, pass)
    else if (event.type === 'part.delta') takeDelta(state, ordering, event, pass)
    else passOn(ordering, lane, event, pass)
}

/**
 * The source was cut off while events waited: passes them on, one part after the other, without
 * ends that the source did not send.
 */
function flush(state: NormalizerState, ordering: Ordering, pass: Pass): void {
  for (const place of ordering.waiting.entries.keys()) {
    ordering.open = {}
    replay(state, ordering, place, pass)
  }
}

const reportOf = ({ notes, fieldNames }: NormalizerState) =>
  createReport('translate', translateNotes, fieldNames, notes)
