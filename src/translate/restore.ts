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

/** Replaces an empty name, which no wire allows: the client will answer that there is no such tool. */
const noName = 'unnamed_tool'

/** Undoes in the tool calls of a reply what the request had to change: renamed, wrapped and namespaced tools. */
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

/** A call of a freeform tool that came as a function call. `native`: the request did not wrap the tool. */
type Wrapped = { native: boolean; at: string | undefined }

/** `open`: the open parts that are wrapped freeform calls, by `candidate/part`. Plain data. */
export type RestoreState = { tools: NonNullable<Tools>; open: Record<string, Wrapped & { text: Unwrapping }>; notes: Note[] }

export function startRestoring(tools: Tools = {}): RestoreState {
  return { tools, open: {}, notes: [] }
}

/** The same for the events of a stream. The text of a wrapped call is emitted as it arrives. */
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
