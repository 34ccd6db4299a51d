import type { CanonicalEvent, PartDelta, PartEnd, PartStart } from '../../canonical/event.ts'
import type { Place } from '../../canonical/message.ts'
import { isLimit } from '../../kit/tools/cut-calls.ts'
import type { Emit } from '../../protocol.ts'
import type { BridgeReport } from '../notes.ts'
import type { Call, Tools } from './calls.ts'
import { calledFinish, callPart, isContent, isOffered, repairedCall } from './response.ts'
import {
  endScan,
  isCalm,
  isUnread,
  mayHoldMarker,
  type Piece,
  type Scan,
  scan,
  startScan,
} from './scan.ts'

/**
 * The calls in the texts of one stream. Plain data. `calm`: the part in which the last delta was
 * none of a call, so that the next one may pass.
 */
export type LeakState = { candidates: Record<number, Turn>; calm: Calm | undefined }

/** `isOver`: nothing is looked for in it any more. */
type Calm = { candidate: number; part: number; kind: 'text' | 'reasoning'; isOver: boolean }

/**
 * `parts` and `messages`: how many there are toward the client, where calls are parts of their own.
 * `hasContent`: there is more than reasoning. `thought`: the calls behind the last words of the
 * reasoning, and where it is. `open`: by part of the source. `cut`: a call that its text ended
 * within, and the events behind it.
 */
type Turn = {
  parts: number
  messages: number
  hasContent: boolean
  called: boolean
  thought: { calls: Call[]; at: Place | undefined }
  open: Map<number, Open>
  cut: Cut | undefined
}

/** `end`: of a call that the model made as one; its start has been passed on. */
type Cut = { call: Call; part: number; message: number; events: CanonicalEvent[]; end?: PartEnd }

/**
 * A part of the source. `held`: the arguments of a call, which are passed on at its end. `to`: its number toward the client; undefined while nothing of it has been
 * passed on. `start`: the event that begins it. `scan`: of a text or reasoning. `waiting`: what belongs to a text that is held back. `isSplit`: it had a call inside.
 */
type Open = {
  to: number | undefined
  start: PartStart
  scan: Scan | undefined
  waiting: PartDelta[]
  isSplit: boolean
  held?: string
}

export const startLeaks = (): LeakState => ({ candidates: {}, calm: undefined })

type Context = { tools: Tools; report: BridgeReport; emit: Emit<CanonicalEvent> }

/** May the delta pass as it is? This is asked for each one. */
export function passesLeaks({ calm }: LeakState, { candidate, part, delta }: PartDelta): boolean {
  return (
    calm !== undefined &&
    calm.part === part &&
    calm.candidate === candidate &&
    calm.kind === delta.kind &&
    (calm.isOver || !mayHoldMarker(delta.text))
  )
}

function calmAfter({ candidates }: LeakState, event: CanonicalEvent): Calm | undefined {
  if (event.type !== 'part.delta') return undefined
  const { candidate, part, delta } = event
  if (delta.kind !== 'text' && delta.kind !== 'reasoning') return undefined
  const open = candidates[candidate]?.open.get(part)
  if (open?.to !== part || !open.scan || !isCalm(open.scan)) return undefined
  return { candidate, part, kind: delta.kind, isOver: open.scan.isOver }
}

/** Takes the next event. */
export function stepLeaks(state: LeakState, event: CanonicalEvent, context: Context): void {
  step(state, event, context)
  state.calm = calmAfter(state, event)
}

function step(state: LeakState, event: CanonicalEvent, context: Context): void {
  const { emit } = context
  if (!('candidate' in event)) {
    if (event.type === 'error' || (event.type === 'end' && !event.clean)) breakOff(state, context)
    emit(event)
    return
  }
  const { candidate } = event
  state.candidates[candidate] ??= {
    parts: 0,
    messages: 0,
    hasContent: false,
    called: false,
    thought: { calls: [], at: undefined },
    open: new Map(),
    cut: undefined,
  }
  const turn = state.candidates[candidate]
  if (turn.cut && event.type === 'message.end') {
    turn.cut.events.push(event)
    return
  }
  settleCut(turn, candidate, event.type === 'finish' && isLimit(event.finish), context)
  switch (event.type) {
    case 'part.start':
      takeStart(turn, event, context)
      return
    case 'part.delta':
      takeDelta(turn, event, context)
      return
    case 'part.end':
      takeEnd(turn, event, context)
      return
    case 'message.start':
      turn.messages = Math.max(turn.messages, event.message + 1)
      emit(event)
      return
    case 'finish':
      if (!turn.hasContent) callThought(turn, candidate, context)
      emit(turn.called ? { ...event, finish: calledFinish(event.finish) } : event)
      return
    default:
      emit(event)
  }
}

function takeStart(turn: Turn, event: PartStart, context: Context): void {
  const { head, part } = event
  const isScanned = head.type === 'text' || head.type === 'reasoning'
  const open: Open = {
    to: undefined,
    start: event,
    scan: isScanned ? startScan() : undefined,
    waiting: [],
    isSplit: false,
  }
  turn.open.set(part, open)
  if (head.type === 'text') {
    if (head.text === '') return
    open.start = { ...event, head: { ...head, text: '' } }
    read(turn, open, head.text, context)
    return
  }
  if (isOffered(head, context.tools)) {
    turn.hasContent = true
    open.held = head.input
    open.start = { ...event, head: { ...head, input: '' } }
    return
  }
  if (head.type === 'reasoning')
    think(turn, open, head.segments.map(({ text }) => text).join(''), context)
  else turn.hasContent ||= isContent(head)
  begin(turn, open, context)
}

/** The number of the part toward the client, whose start is passed on if it has not been. */
function begin(turn: Turn, open: Open, { emit }: Context): number {
  if (open.to !== undefined) return open.to
  open.to = turn.parts++
  const { start } = open
  emit(start.part === open.to ? start : { ...start, part: open.to })
  for (const one of open.waiting.splice(0)) emit({ ...one, part: open.to })
  return open.to
}

function takeDelta(turn: Turn, event: PartDelta, context: Context): void {
  const { delta } = event
  const open = turn.open.get(event.part)
  if (!open) {
    context.emit(event)
    return
  }
  if (open.held !== undefined && delta.kind === 'input') {
    open.held += delta.text
    return
  }
  const { scan: scanning, start } = open
  if (scanning && start.head.type === 'text' && delta.kind === 'text') {
    read(turn, open, delta.text, context, event)
    return
  }
  if (scanning && delta.kind === 'reasoning') think(turn, open, delta.text, context)
  if (open.to === undefined) {
    // Behind a call its text may never begin again.
    if (open.waiting.length < mostWaiting) open.waiting.push(event)
    return
  }
  context.emit(open.to === event.part ? event : { ...event, part: open.to })
}

const mostWaiting = 1000

/** Reads more of a text. `event`: it is this one alone. */
function read(turn: Turn, open: Open, text: string, context: Context, event?: PartDelta): void {
  if (!open.scan) return
  const say = sayer(turn, open, context, event)
  scan(open.scan, text, context.tools, say.take)
  say.flush()
}

/** Passes on pieces: neighbouring texts as one. */
function sayer(turn: Turn, open: Open, context: Context, event?: PartDelta) {
  const { candidate } = open.start
  let said = ''
  const flush = () => {
    if (said === '') return
    if (said.trim() !== '') turn.hasContent = true
    const text = said
    said = ''
    const part = begin(turn, open, context)
    const isAll = event?.delta.kind === 'text' && event.delta.text === text
    context.emit(
      isAll && event.part === part
        ? event
        : { type: 'part.delta', candidate, part, delta: { kind: 'text', text } },
    )
  }
  const take = (piece: Piece) => {
    if ('text' in piece) said += piece.text
    else {
      flush()
      call(turn, open, piece.call, context)
    }
  }
  return { take, flush }
}

/** A call of its own, between the texts before and after it. */
function call(turn: Turn, open: Open, found: Call, context: Context): void {
  const { start } = open
  const { candidate, message } = start
  context.report.add('tool-call.recovered', start.head.at, 'text')
  drop(open, context)
  if (open.to !== undefined) context.emit({ type: 'part.end', candidate, part: open.to })
  open.to = undefined
  open.isSplit = true
  turn.hasContent = true
  turn.called = true
  const part = turn.parts++
  if (found.completed === undefined) emitCall(found, { candidate, message, part }, context)
  else turn.cut = { call: found, part, message, events: [] }
}

/** What belongs to a text that turned out to be a call. */
function drop(open: Open, { report }: Context): void {
  for (const { delta } of open.waiting.splice(0))
    if (delta.kind === 'citation')
      report.once('tool-call.text-details', open.start.head.at, 'citations')
    else if (delta.kind === 'logprobs')
      report.once('tool-call.text-details', open.start.head.at, 'logprobs')
}

type Numbers = { candidate: number; message: number; part: number }

function emitCall(found: Call, { candidate, message, part }: Numbers, { emit }: Context): void {
  const head = callPart(found, false)
  emit({ type: 'part.start', candidate, message, part, head })
  emit({ type: 'part.end', candidate, part })
}

/** The next event of the source shows whether a limit cut the call off. */
function settleCut(turn: Turn, candidate: number, isCut: boolean, context: Context): void {
  const { cut } = turn
  if (!cut) return
  turn.cut = undefined
  const { call: found, part, message, events, end } = cut
  if (end) {
    if (!isCut) context.report.add('tool-call.repaired', undefined, 'input')
    const text = isCut ? found.input : (found.completed ?? found.input)
    endCall(text, { ...end, part }, context)
    for (const event of events) context.emit(event)
    return
  }
  const whole = isCut ? { name: found.name, input: found.input } : found
  emitCall(whole, { candidate, message, part }, context)
  for (const event of events) context.emit(event)
}

function takeEnd(turn: Turn, event: PartEnd, context: Context): void {
  const open = turn.open.get(event.part)
  if (!open) {
    context.emit(event)
    return
  }
  turn.open.delete(event.part)
  const { final } = event
  if (open.held !== undefined) {
    takeCallEnd(turn, open, event, context)
    return
  }
  if (open.scan && open.start.head.type === 'reasoning') {
    endThought(turn, open, context)
    pass(open, event, context)
    return
  }
  if (open.scan) {
    // Some servers send a text only at its end.
    if (final?.type === 'text' && isUnread(open.scan)) read(turn, open, final.text, context)
    const say = sayer(turn, open, context)
    endScan(open.scan, context.tools, say.take)
    say.flush()
  }
  if (!open.isSplit) {
    if (open.scan) begin(turn, open, context)
    pass(open, event, context)
    return
  }
  const { candidate } = event
  drop(open, context)
  if (final?.type === 'text' && final.citations)
    context.report.once('tool-call.text-details', open.start.head.at, 'citations')
  if (open.to === undefined) return
  const end: PartEnd = { type: 'part.end', candidate, part: open.to }
  if (turn.cut) turn.cut.events.push(end)
  else context.emit(end)
}

/** A call that the model made as one ends: its arguments may have to be repaired. */
function takeCallEnd(turn: Turn, open: Open, { final, ...end }: PartEnd, context: Context): void {
  const { head, message } = open.start
  if (head.type !== 'tool-call') return
  const part = begin(turn, open, context)
  const input = final?.type === 'tool-call' ? final.input : (open.held ?? '')
  const completed = repairedCall({ ...head, input }, context.tools)
  if (completed === undefined) {
    const whole = final ? { final: { ...final } } : {}
    endCall(input, { ...end, ...whole, part }, context)
  } else turn.cut = { call: { name: head.name, input, completed }, part, message, events: [], end }
}

function endCall(text: string, end: PartEnd, { emit }: Context): void {
  const { candidate, part } = end
  if (text !== '') emit({ type: 'part.delta', candidate, part, delta: { kind: 'input', text } })
  emit(end)
}

function pass({ to }: Open, event: PartEnd, { emit }: Context): void {
  emit(to === undefined || to === event.part ? event : { ...event, part: to })
}

/** Looks for calls in reasoning, which is passed on as it is. */
function think(turn: Turn, open: Open, text: string, { tools }: Context): void {
  if (open.scan) scan(open.scan, text, tools, thinker(turn, open))
}

function endThought(turn: Turn, open: Open, { tools }: Context): void {
  if (open.scan) endScan(open.scan, tools, thinker(turn, open))
}

function thinker(turn: Turn, { start }: Open): Emit<Piece> {
  return piece => {
    if ('text' in piece) {
      if (piece.text.trim() !== '') turn.thought.calls = []
      return
    }
    if (piece.call.completed !== undefined) return
    turn.thought.at = start.head.at
    turn.thought.calls.push(piece.call)
  }
}

/** A turn that is nothing but reasoning, at whose end there are calls. */
function callThought(turn: Turn, candidate: number, context: Context): void {
  const { calls, at } = turn.thought
  if (calls.length === 0) return
  const message = turn.messages++
  turn.called = true
  context.emit({ type: 'message.start', candidate, message, role: 'assistant' })
  for (const found of calls) {
    context.report.add('tool-call.recovered', at)
    emitCall(found, { candidate, message, part: turn.parts++ }, context)
  }
  context.emit({ type: 'message.end', candidate, message })
}

/** The stream is broken off: what was held back is passed on, and no call ends. */
function breakOff({ candidates }: LeakState, context: Context): void {
  const { tools, emit } = context
  for (const [key, turn] of Object.entries(candidates)) {
    for (const open of turn.open.values()) {
      if (open.held !== undefined) {
        const part = begin(turn, open, context)
        const delta = { kind: 'input', text: open.held } as const
        emit({ type: 'part.delta', candidate: Number(key), part, delta })
      }
      if (!open.scan || open.start.head.type !== 'text') continue
      const say = sayer(turn, open, context)
      endScan(open.scan, tools, say.take)
      say.flush()
    }
    if (!turn.cut) continue
    const { call: found, part, message, end } = turn.cut
    if (end) {
      const delta = { kind: 'input', text: found.input } as const
      emit({ type: 'part.delta', candidate: Number(key), part, delta })
      continue
    }
    const head = callPart(found, true)
    emit({ type: 'part.start', candidate: Number(key), message, part, head })
  }
}
