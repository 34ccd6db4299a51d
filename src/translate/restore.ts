import type { CanonicalEvent, PartDelta, PartEnd, PartStart } from '../canonical/event.ts'
import type { Part, ToolCallPart } from '../canonical/message.ts'
import type { Note } from '../canonical/note.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { unwrapInput } from '../kit/freeform.ts'
import { createReport } from '../kit/report.ts'
import type { Emit, TranslationContext } from '../protocol.ts'
import { translateNotes } from './notes.ts'
import { startUnwrapping, type Unwrapping, unwrapText } from './unwrap.ts'

type Tools = TranslationContext['tools']

/** In place of an empty name, which no wire allows: the client will tell the model that there is no such tool. */
const noName = 'unnamed_tool'

/** Gives tools their own names and shapes back, which the request had to change for the upstream. */
export function restoreResponse(response: CanonicalResponse, notes: Note[], tools: Tools = {}): CanonicalResponse {
  const isChanged = (part: Part) => part.type === 'tool-call' && (part.name === '' || Object.hasOwn(tools, part.name))
  if (!response.candidates.some(({ messages }) => messages.some(({ parts }) => parts.some(isChanged)))) return response
  const restore = (part: Part): Part => {
    if (part.type !== 'tool-call') return part
    noteName(part, notes)
    const restored = restoreName(part, tools)
    if (restored.kind === part.kind) return restored
    const input = unwrapInput(part.input)
    noteUnwrapped(input !== undefined, { native: tools[part.name]?.freeform === true, at: part.at }, notes)
    return { ...restored, input: input ?? part.input }
  }
  const candidates = response.candidates.map(candidate => ({
    ...candidate,
    messages: candidate.messages.map(message => ({ ...message, parts: message.parts.map(restore) })),
  }))
  return { ...response, candidates }
}

/** A call of a freeform tool that came as a function. `native`: the tool was told as what it is. */
type Wrapped = { native: boolean; at: string | undefined }

/** Which open parts are wrapped freeform calls, by `candidate/part`. Plain data. */
export type RestoreState = { tools: NonNullable<Tools>; open: Record<string, Wrapped & { text: Unwrapping }>; notes: Note[] }

export function startRestoring(tools: Tools = {}): RestoreState {
  return { tools, open: {}, notes: [] }
}

/** The same for a stream: text of a wrapped call is given on as soon as it is known. */
export function restoreEvent(state: RestoreState, event: CanonicalEvent, emit: Emit<CanonicalEvent>): void {
  if (event.type === 'part.start') emit(restoreStart(state, event))
  else if (event.type === 'part.delta') restoreDelta(state, event, emit)
  else if (event.type === 'part.end') restoreEnd(state, event, emit)
  else emit(event)
}

function restoreStart({ tools, open, notes }: RestoreState, event: PartStart): PartStart {
  const { head } = event
  if (head.type !== 'tool-call') return event
  noteName(head, notes)
  const restored = restoreName(head, tools)
  if (restored.kind === head.kind) return { ...event, head: restored }
  const text = startUnwrapping()
  open[keyOf(event)] = { text, native: tools[head.name]?.freeform === true, at: head.at }
  return { ...event, head: { ...restored, input: unwrapText(text, head.input) } }
}

function restoreDelta({ open }: RestoreState, event: PartDelta, emit: Emit<CanonicalEvent>): void {
  const unwrapping = event.delta.kind === 'input' ? open[keyOf(event)] : undefined
  if (event.delta.kind !== 'input' || !unwrapping) {
    emit(event)
    return
  }
  const text = unwrapText(unwrapping.text, event.delta.text)
  if (text) emit({ ...event, delta: { kind: 'input', text } })
}

function restoreEnd({ tools, open, notes }: RestoreState, event: PartEnd, emit: Emit<CanonicalEvent>): void {
  const { candidate, part, final } = event
  const unwrapping = open[keyOf(event)]
  delete open[keyOf(event)]
  if (unwrapping) {
    const { phase, held } = unwrapping.text
    if (phase === 'beside' && final === undefined) report(notes).add('freeform.beside-input', unwrapping.at)
    else noteUnwrapped(phase === 'after' || phase === 'closed', unwrapping, notes)
    if (held) emit({ type: 'part.delta', candidate, part, delta: { kind: 'input', text: held } })
  }
  if (final?.type !== 'tool-call') {
    emit(event)
    return
  }
  const restored = restoreName(final, tools)
  emit({ ...event, final: unwrapping ? { ...restored, input: unwrapInput(final.input) ?? final.input } : restored })
}

const keyOf = ({ candidate, part }: { candidate: number; part: number }) => `${candidate}/${part}`

function noteName({ name, at }: ToolCallPart, notes: Note[]): void {
  if (name === '') report(notes).add('tool-call.nameless', at)
}

function restoreName(call: ToolCallPart, tools: NonNullable<Tools>): ToolCallPart {
  if (!Object.hasOwn(tools, call.name)) return call.name === '' ? { ...call, name: noName } : call
  const { name, namespace, wrapped, freeform } = tools[call.name] ?? { name: call.name }
  return { ...call, name, ...(namespace !== undefined && { namespace }), ...((wrapped || freeform) && { kind: 'freeform' as const }) }
}

function noteUnwrapped(whole: boolean, { native, at }: Wrapped, notes: Note[]): void {
  if (!whole) report(notes).add('freeform.unwrap-failed', at)
  else if (native) report(notes).add('freeform.as-function', at)
}

const report = (notes: Note[]) => createReport('translate', translateNotes, {}, notes)
