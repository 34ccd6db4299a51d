import type { CanonicalEvent, PartDelta, PartEnd, PartStart } from '../canonical/event.ts'
import type { Part, Place, TextPart, ToolCallPart } from '../canonical/message.ts'
import type { Note } from '../canonical/note.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { createReport } from '../kit/notes/report.ts'
import {
  endOutput,
  type OutputUnwrapping,
  startUnwrappingOutput,
  unwrapOutput,
} from '../kit/response/wrapped-output.ts'
import { unwrapInput } from '../kit/tools/freeform.ts'
import {
  endRenaming,
  type PropertyNames,
  type Renaming,
  renameChunk,
  renameKeys,
  startRenaming,
} from '../kit/tools/property-names.ts'
import type { Emit, TranslationContext } from '../protocol.ts'
import { translateNotes } from './notes.ts'
import { startUnwrapping, type Unwrapping, unwrapText } from './unwrap.ts'

type Tools = TranslationContext['tools']
type Output = TranslationContext['output']

/**
 * Replaces an empty name, which no wire allows: the client will respond that there is no such tool.
 */
const noName = 'unnamed_tool'

/**
 * Undoes in a response what the request had to change: renamed, wrapped and namespaced tools, and a
 * wrapped response format.
 */
export function restoreResponse(
  response: CanonicalResponse,
  notes: Note[],
  { tools = {}, output }: Restored = {},
): CanonicalResponse {
  const isChanged = (part: Part) =>
    (part.type === 'text' && output !== undefined) ||
    (part.type === 'tool-call' && (part.name === '' || Object.hasOwn(tools, part.name)))
  if (
    !response.candidates.some(({ messages }) => messages.some(({ parts }) => parts.some(isChanged)))
  )
    return response
  const restore = (part: Part): Part => {
    if (part.type === 'text' && output) return { ...part, text: unwrapWhole(part, output, notes) }
    if (part.type !== 'tool-call') return part
    noteName(part, notes)
    const restored = restoreName(part, tools)
    if (restored.kind === part.kind) return withKeys(restored, tools[part.name])
    const input = unwrapInput(part.input)
    noteUnwrapped(
      input !== undefined,
      { native: tools[part.name]?.freeform === true, at: part.at },
      notes,
    )
    return { ...restored, input: input ?? part.input }
  }
  const candidates = response.candidates.map(candidate => ({
    ...candidate,
    messages: candidate.messages.map(message => ({
      ...message,
      parts: message.parts.map(restore),
    })),
  }))
  return { ...response, candidates }
}

/**
 * A call of a freeform tool that came as a function call. `native`: the request did not wrap the
 * tool.
 */
type Wrapped = { native: boolean; at: Place | undefined }

type Restored = Pick<TranslationContext, 'tools' | 'output'>

/**
 * `open`: the open parts that are wrapped freeform calls, by `candidate/part`; `texts`: those that
 * are texts of a wrapped response format; `keys`: those that are calls with renamed properties.
 * `hasWrapped`: there was one of them. Plain data.
 */
export type RestoreState = {
  tools: NonNullable<Tools>
  output: Output
  open: Record<string, Wrapped & { text: Unwrapping }>
  texts: Record<string, { text: OutputUnwrapping; at: Place | undefined }>
  keys: Record<string, { text: Renaming; names: PropertyNames }>
  hasWrapped: boolean
  notes: Note[]
}

export function startRestoring({ tools = {}, output }: Restored = {}): RestoreState {
  return { tools, output, open: {}, texts: {}, keys: {}, hasWrapped: false, notes: [] }
}

function unwrapWhole({ text, at }: TextPart, output: NonNullable<Output>, notes: Note[]): string {
  const state = startUnwrappingOutput(output)
  const value = unwrapOutput(state, text)
  noteOutput(state, at, notes)
  return value + endOutput(state)
}

function noteOutput({ phase, held }: OutputUnwrapping, at: Place | undefined, notes: Note[]): void {
  if (phase === 'raw' || (phase === 'before' && held !== ''))
    report(notes).add('output.unwrap-failed', at)
}

/** The same for the events of a stream. The text of a wrapped call is emitted as it arrives. */
export function restoreEvent(
  state: RestoreState,
  event: CanonicalEvent,
  emit: Emit<CanonicalEvent>,
): void {
  if (event.type === 'part.start') emit(restoreStart(state, event))
  else if (event.type === 'part.delta') restoreDelta(state, event, emit)
  else if (event.type === 'part.end') restoreEnd(state, event, emit)
  else emit(event)
}

function restoreStart(state: RestoreState, event: PartStart): PartStart {
  const { tools, output, open, texts, keys, notes } = state
  const { head } = event
  if (head.type === 'text' && output) {
    const text = startUnwrappingOutput(output)
    texts[keyOf(event)] = { text, at: head.at }
    state.hasWrapped = true
    return { ...event, head: { ...head, text: unwrapOutput(text, head.text) } }
  }
  if (head.type !== 'tool-call') return event
  noteName(head, notes)
  const restored = restoreName(head, tools)
  const names = tools[head.name]?.properties
  if (names && restored.kind === head.kind) {
    const text = startRenaming()
    keys[keyOf(event)] = { text, names }
    state.hasWrapped = true
    return { ...event, head: { ...restored, input: renameChunk(text, head.input, names) } }
  }
  if (restored.kind === head.kind) return { ...event, head: restored }
  const text = startUnwrapping()
  open[keyOf(event)] = { text, native: tools[head.name]?.freeform === true, at: head.at }
  state.hasWrapped = true
  return { ...event, head: { ...restored, input: unwrapText(text, head.input) } }
}

function restoreDelta(
  { open, texts, keys, hasWrapped }: RestoreState,
  event: PartDelta,
  emit: Emit<CanonicalEvent>,
): void {
  if (!hasWrapped) {
    emit(event)
    return
  }
  const wrapped = event.delta.kind === 'text' ? texts[keyOf(event)] : undefined
  if (event.delta.kind === 'text' && wrapped) {
    const text = unwrapOutput(wrapped.text, event.delta.text)
    if (text) emit({ ...event, delta: { kind: 'text', text } })
    return
  }
  const renaming = event.delta.kind === 'input' ? keys[keyOf(event)] : undefined
  if (event.delta.kind === 'input' && renaming) {
    const text = renameChunk(renaming.text, event.delta.text, renaming.names)
    if (text) emit({ ...event, delta: { kind: 'input', text } })
    return
  }
  const unwrapping = event.delta.kind === 'input' ? open[keyOf(event)] : undefined
  if (event.delta.kind !== 'input' || !unwrapping) {
    emit(event)
    return
  }
  const text = unwrapText(unwrapping.text, event.delta.text)
  if (text) emit({ ...event, delta: { kind: 'input', text } })
}

function restoreEnd(
  { tools, output, open, texts, keys, hasWrapped, notes }: RestoreState,
  event: PartEnd,
  emit: Emit<CanonicalEvent>,
): void {
  const { candidate, part, final } = event
  const wrapped = hasWrapped ? texts[keyOf(event)] : undefined
  if (wrapped && output) {
    delete texts[keyOf(event)]
    noteOutput(wrapped.text, wrapped.at, notes)
    const text = endOutput(wrapped.text)
    if (text) emit({ type: 'part.delta', candidate, part, delta: { kind: 'text', text } })
    emit(
      final?.type === 'text'
        ? { ...event, final: { ...final, text: unwrapWhole(final, output, []) } }
        : event,
    )
    return
  }
  const renaming = hasWrapped ? keys[keyOf(event)] : undefined
  if (renaming) {
    delete keys[keyOf(event)]
    const text = endRenaming(renaming.text)
    if (text) emit({ type: 'part.delta', candidate, part, delta: { kind: 'input', text } })
  }
  const unwrapping = hasWrapped ? open[keyOf(event)] : undefined
  if (unwrapping) {
    delete open[keyOf(event)]
    const { phase, held } = unwrapping.text
    if (phase === 'beside' && final === undefined)
      report(notes).add('freeform.extra-arguments', unwrapping.at)
    else noteUnwrapped(phase === 'after' || phase === 'closed', unwrapping, notes)
    if (held) emit({ type: 'part.delta', candidate, part, delta: { kind: 'input', text: held } })
  }
  if (final?.type !== 'tool-call') {
    emit(event)
    return
  }
  const restored = withKeys(restoreName(final, tools), tools[final.name])
  emit({
    ...event,
    final: unwrapping ? { ...restored, input: unwrapInput(final.input) ?? final.input } : restored,
  })
}

const keyOf = ({ candidate, part }: { candidate: number; part: number }) => `${candidate}/${part}`

function noteName({ name, at }: ToolCallPart, notes: Note[]): void {
  if (name === '') report(notes).add('tool-call.empty-name', at)
}

function restoreName(call: ToolCallPart, tools: NonNullable<Tools>): ToolCallPart {
  if (!Object.hasOwn(tools, call.name)) return call.name === '' ? { ...call, name: noName } : call
  const { name, namespace, wrapped, freeform } = tools[call.name] ?? { name: call.name }
  return {
    ...call,
    name,
    ...(namespace !== undefined && { namespace }),
    ...((wrapped || freeform) && { kind: 'freeform' as const }),
  }
}

function withKeys(call: ToolCallPart, tool: NonNullable<Tools>[string] | undefined): ToolCallPart {
  return tool?.properties ? { ...call, input: renameKeys(call.input, tool.properties) } : call
}

function noteUnwrapped(whole: boolean, { native, at }: Wrapped, notes: Note[]): void {
  if (!whole) report(notes).add('freeform.unwrap-failed', at)
  else if (native) report(notes).add('freeform.as-function', at)
}

const report = (notes: Note[]) => createReport('translate', translateNotes, {}, notes)
