import type { CanonicalEvent } from '../canonical/event.ts'
import type { Part, ToolCallPart } from '../canonical/message.ts'
import type { Note } from '../canonical/note.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { unwrapInput } from '../kit/freeform.ts'
import { createReport } from '../kit/report.ts'
import type { Emit, TranslationContext } from '../protocol.ts'
import { translateNotes } from './notes.ts'
import { startUnwrapping, type Unwrapping, unwrapText } from './unwrap.ts'

type Tools = TranslationContext['tools']

/** Gives tools their own names and shapes back, which the request had to change for the upstream. */
export function restoreResponse(response: CanonicalResponse, tools: Tools, notes: Note[]): CanonicalResponse {
  if (!tools) return response
  const restore = (part: Part): Part => {
    if (part.type !== 'tool-call') return part
    const restored = restoreName(part, tools)
    if (restored.kind === part.kind) return restored
    const input = unwrapInput(part.input)
    if (input === undefined) report(notes).add('freeform.unwrap-failed', part.at)
    return { ...restored, input: input ?? part.input }
  }
  const candidates = response.candidates.map(candidate => ({
    ...candidate,
    messages: candidate.messages.map(message => ({ ...message, parts: message.parts.map(restore) })),
  }))
  return { ...response, candidates }
}

/** Which open parts are wrapped freeform calls, by `candidate/part`. Plain data. */
export type RestoreState = { tools: NonNullable<Tools>; open: Record<string, Unwrapping>; notes: Note[] }

export function startRestoring(tools: NonNullable<Tools>): RestoreState {
  return { tools, open: {}, notes: [] }
}

/** The same for a stream: text of a wrapped call is given on as soon as it is known. */
export function restoreEvent(state: RestoreState, event: CanonicalEvent, emit: Emit<CanonicalEvent>): void {
  if (event.type === 'part.start' && event.head.type === 'tool-call') {
    const { head } = event
    const restored = restoreName(head, state.tools)
    if (restored.kind === head.kind) return emit(restored === head ? event : { ...event, head: restored })
    const unwrapping = startUnwrapping()
    state.open[`${event.candidate}/${event.part}`] = unwrapping
    const begun = head.input ? unwrapText(unwrapping, head.input) : ''
    return emit({ ...event, head: { ...restored, input: begun } })
  }
  if (event.type === 'part.delta' && event.delta.kind === 'input') {
    const unwrapping = state.open[`${event.candidate}/${event.part}`]
    if (!unwrapping) return emit(event)
    const text = unwrapText(unwrapping, event.delta.text)
    if (text) emit({ ...event, delta: { kind: 'input', text } })
    return
  }
  if (event.type === 'part.end') {
    const key = `${event.candidate}/${event.part}`
    const unwrapping = state.open[key]
    if (!unwrapping) return emit(event.final?.type === 'tool-call' ? { ...event, final: restoreName(event.final, state.tools) } : event)
    delete state.open[key]
    if (unwrapping.phase !== 'after') report(state.notes).add('freeform.unwrap-failed', undefined)
    if (unwrapping.phase === 'before' && unwrapping.held)
      emit({ type: 'part.delta', candidate: event.candidate, part: event.part, delta: { kind: 'input', text: unwrapping.held } })
    if (event.final?.type !== 'tool-call') return emit(event)
    return emit({ ...event, final: { ...restoreName(event.final, state.tools), input: unwrapInput(event.final.input) ?? event.final.input } })
  }
  emit(event)
}

function restoreName(call: ToolCallPart, tools: NonNullable<Tools>): ToolCallPart {
  if (!Object.hasOwn(tools, call.name)) return call
  const { name, namespace, wrapped } = tools[call.name] ?? { name: call.name }
  return { ...call, name, ...(namespace !== undefined && { namespace }), ...(wrapped && { kind: 'freeform' as const }) }
}

const report = (notes: Note[]) => createReport('translate', translateNotes, {}, notes)
