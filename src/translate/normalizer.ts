import type { CanonicalEvent, PartDelta, PartEnd, PartStart } from '../canonical/event.ts'
import type { Part, Place } from '../canonical/message.ts'
import type { Note } from '../canonical/note.ts'
import { advanceJson, type JsonProgress, startJson } from '../kit/json/json.ts'
import { createReport } from '../kit/notes/report.ts'
import { isLimit } from '../kit/tools/cut-calls.ts'
import type { CodecOptions, Emit, FieldNames, Protocol, StreamParts } from '../protocol.ts'
import { translateNotes } from './notes.ts'

/** Between a stream decoder and a stream encoder: orders the events of a candidate as the target protocol requires. Plain data. */
export type NormalizerState = { parts: StreamParts; endsEarly: boolean; fieldNames: FieldNames; candidates: Record<number, Ordering>; notes: Note[] }

/**
 * `open`: the part that may be written. `parts`: those that have started. `ended`: the end of a call, held back until the next event of
 * the source shows whether a token limit cut it off.
 */
type Ordering = {
  candidate: number
  open: number | undefined
  parts: Record<number, Started>
  ended: PartEnd | undefined
  waiting: Waiting[]
}

type Started = {
  /** `early`: its arguments were whole and another part waited, so its end was passed on before the source sent it. */
  phase: 'open' | 'early' | 'ended'
  at: Place | undefined
  /** Of a function call: the progress of its arguments. */
  json: JsonProgress | undefined
  signed: boolean
}

/** The events of a part, or one event of a message. */
type Waiting = { part: number | undefined; events: CanonicalEvent[] }

type Pass = Emit<CanonicalEvent>

type Target = Pick<Protocol, 'streamParts' | 'takesLateSignatures'>

/** `options`: those of the encoder, with the field names of the source. */
export function startNormalizing({ streamParts, takesLateSignatures }: Target, options: CodecOptions = {}): NormalizerState {
  const { fieldNames = {} } = options
  return { parts: streamParts?.(options) ?? 'any', endsEarly: takesLateSignatures === true, fieldNames, candidates: {}, notes: [] }
}

/** Passes on the event, and those that waited for it. An event that may be written at once is passed on at once. */
export function normalizeEvent(state: NormalizerState, event: CanonicalEvent, pass: Pass): void {
  if (state.parts === 'any') pass(event)
  else if ('candidate' in event) {
    const ordering = orderingOf(state, event.candidate)
    if (event.type !== 'message.end') release(state, ordering, event.type === 'finish' && isLimit(event.finish), pass)
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

/** Takes a delta if it may be written at once; then the caller passes it on. */
export function takeDirectly({ parts, endsEarly, candidates }: NormalizerState, { candidate, part, delta }: PartDelta): boolean {
  if (parts === 'any') return true
  const { ended, waiting, parts: started } = candidates[candidate] ?? {}
  const { phase, json } = started?.[part] ?? {}
  if (phase !== 'open' || ended) return false
  if (json && delta.kind === 'input') {
    if (endsEarly && waiting?.length) return false
    advanceJson(json, delta.text)
  }
  return true
}

function orderingOf({ candidates }: NormalizerState, index: number): Ordering {
  const known = candidates[index]
  if (known) return known
  const ordering: Ordering = { candidate: index, open: undefined, parts: {}, ended: undefined, waiting: [] }
  candidates[index] = ordering
  return ordering
}

function order(state: NormalizerState, ordering: Ordering, event: CanonicalEvent, pass: Pass): void {
  if (take(state, ordering, event, pass)) resume(state, ordering, pass)
}

/** Passes on the event, drops it, or lets it wait. False: nothing that waits can go on now. */
function take(state: NormalizerState, ordering: Ordering, event: CanonicalEvent, pass: Pass): boolean {
  switch (event.type) {
    case 'part.start':
      return takeStart(ordering, event, pass)
    case 'part.delta':
      return takeDelta(state, ordering, event, pass)
    case 'part.end':
      return takeEnd(ordering, event, pass)
    case 'message.start':
    case 'message.end':
      return passInTurn(ordering, event, pass)
    default:
      pass(event)
      return false
  }
}

function takeStart(ordering: Ordering, event: PartStart, pass: Pass): boolean {
  const { part, head } = event
  // A repeated start is ignored.
  if (ordering.parts[part] || waitingPart(ordering, part)) return false
  if (ordering.open !== undefined) {
    ordering.waiting.push({ part, events: [event] })
    return true
  }
  ordering.open = part
  ordering.parts[part] = { phase: 'open', at: head.at, json: progressOf(head), signed: head.signature !== undefined }
  pass(event)
  return false
}

function progressOf(head: Part): JsonProgress | undefined {
  if (head.type !== 'tool-call' || head.kind !== 'function') return undefined
  const json = startJson()
  advanceJson(json, head.input)
  return json
}

const waitingPart = ({ waiting }: Ordering, part: number) => waiting.find(one => one.part === part)

function takeDelta(state: NormalizerState, ordering: Ordering, event: PartDelta, pass: Pass): boolean {
  const { part, delta } = event
  const started = ordering.parts[part]
  if (!started) {
    waitingPart(ordering, part)?.events.push(event)
    return false
  }
  if (delta.kind === 'signature') started.signed = true
  if (started.phase === 'open') {
    if (delta.kind === 'input' && started.json) advanceJson(started.json, delta.text)
    pass(event)
    return state.endsEarly && started.json?.whole === true
  }
  if (delta.kind === 'signature') return passInTurn(ordering, event, pass)
  if (delta.kind === 'input' && delta.text.trim()) reportOf(state).once('stream.trailing-arguments', started.at, 'input')
  return false
}

function takeEnd(ordering: Ordering, event: PartEnd, pass: Pass): boolean {
  const { candidate, part, final } = event
  const started = ordering.parts[part]
  if (!started) {
    // Its call is not the last one, so no token limit cut it off.
    waitingPart(ordering, part)?.events.push({ ...event, cut: false })
    return false
  }
  if (started.phase === 'early') {
    started.phase = 'ended'
    const { signature } = final ?? {}
    if (!signature || started.signed) return false
    return passInTurn(ordering, { type: 'part.delta', candidate, part, delta: { kind: 'signature', signature } }, pass)
  }
  if (started.phase === 'ended') return false
  // The next event that the encoder receives is not the next one of the source.
  if (started.json && !started.json.whole && event.cut === undefined && ordering.waiting.length > 0) {
    ordering.ended = event
    return false
  }
  end(ordering, event, pass)
  return true
}

function end(ordering: Ordering, event: PartEnd, pass: Pass, phase: 'early' | 'ended' = 'ended'): void {
  const started = ordering.parts[event.part]
  if (started) started.phase = phase
  ordering.open = undefined
  pass(event)
}

/** An event that must not come between those of a part: of a message, or a signature after the end of its part. */
function passInTurn(ordering: Ordering, event: CanonicalEvent, pass: Pass): boolean {
  if (ordering.open === undefined) {
    pass(event)
    return false
  }
  ordering.waiting.push({ part: undefined, events: [event] })
  return true
}

/** Passes on the end that was held back, and what waited for it. */
function release(state: NormalizerState, ordering: Ordering, cut: boolean, pass: Pass): void {
  const { ended } = ordering
  if (!ended) return
  ordering.ended = undefined
  order(state, ordering, { ...ended, cut }, pass)
}

/** Passes on what waits, until a part stays open. A call with whole arguments stays open for nobody. */
function resume(state: NormalizerState, ordering: Ordering, pass: Pass): void {
  while (ordering.waiting.length > 0) {
    const { candidate, open } = ordering
    if (open !== undefined) {
      if (!state.endsEarly || !ordering.parts[open]?.json?.whole) return
      end(ordering, { type: 'part.end', candidate, part: open, cut: false }, pass, 'early')
    }
    replay(state, ordering, pass)
  }
}

function replay(state: NormalizerState, ordering: Ordering, pass: Pass): void {
  for (const event of ordering.waiting.shift()?.events ?? []) take(state, ordering, event, pass)
}

/** The source was cut off while events waited: passes them on, one part after the other, without ends that the source did not send. */
function flush(state: NormalizerState, ordering: Ordering, pass: Pass): void {
  while (ordering.waiting.length > 0) {
    ordering.open = undefined
    replay(state, ordering, pass)
  }
}

const reportOf = ({ notes, fieldNames }: NormalizerState) => createReport('translate', translateNotes, fieldNames, notes)
