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
  type Renaming,
  renameChunk,
  startRenaming,
} from '../kit/tools/property-names.ts'
import type { Emit, TranslationContext } from '../protocol.ts'
import { translateNotes } from './notes.ts'
import { startUnwrapping, type Unwrapping, unwrapText } from './unwrap.ts'

type Tools = TranslationContext['tools']
type Output = Pick<TranslationContext, 'output' | 'outputNames'>

/**
 * Replaces an empty name, which no wire allows: the client will respond that there is no such tool.
 */
const noName = 'unnamed_tool'

/**
 * Undoes in a response what the request had to change: renamed, wrapped and namespaced tools, and a
 * response format that was wrapped or has other names.
 */
export function restoreResponse(
  response: CanonicalResponse,
  notes: Note[],
  { tools = {}, output, outputNames }: Restored = {},
  { objectArguments = false }: Client = {},
): CanonicalResponse {
  const form = formOf({ output, outputNames })
  const isChanged = (part: Part) =>
    (part.type === 'text' && form !== undefined) ||
    (part.type === 'tool-call' && (part.name === '' || Object.hasOwn(tools, part.name)))
  if (
    !response.candidates.some(({ messages }) => messages.some(({ parts }) => parts.some(isChanged)))
  )
    return response
  const restore = (part: Part): Part => {
    if (part.type === 'text' && form) return { ...part, text: restoreText(part, form, notes) }
    if (part.type !== 'tool-call') return part
    noteName(part, notes)
    const restored = restoreName(part, tools)
    if (restored.kind === part.kind) {
      const written = formOfInput(tools[part.name], objectArguments)
      return written ? { ...restored, input: restoreInput(part, written, notes) } : restored
    }
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

type Restored = Pick<TranslationContext, 'tools'> & Output
type Client = { objectArguments?: boolean }

/** What has to be done with texts: to take them out of an object, and to give keys other names. */
type Form = { [Key in keyof Output]: Output[Key] | undefined }

const formOf = (form: Form): Form | undefined =>
  form.output === undefined && form.outputNames === undefined ? undefined : form

/** The same with the arguments of a call. A client that takes objects alone keeps the object. */
const formOfInput = (
  { properties, value }: Partial<NonNullable<Tools>[string]> = {},
  isKept: boolean,
): Form | undefined =>
  formOf({ output: value && !isKept ? 'value' : undefined, outputNames: properties })

/** A text, or the arguments of a call, on its way. */
type OpenText = { wrapped?: OutputUnwrapping; renaming?: Renaming; at: Place | undefined }

/**
 * `open`: the open parts that are wrapped freeform calls, by `candidate/part`; `texts`: those that
 * are texts of a response format; `inputs`: those that are calls with other arguments.
 * `hasWrapped`: there was one of them. Plain data.
 */
export type RestoreState = {
  tools: NonNullable<Tools>
  form: Form | undefined
  open: Record<string, Wrapped & { text: Unwrapping }>
  texts: Record<string, OpenText>
  inputs: Record<string, { text: OpenText; form: Form }>
  objectArguments: boolean
  hasWrapped: boolean
  notes: Note[]
}

export function startRestoring(
  { tools = {}, output, outputNames }: Restored = {},
  { objectArguments = false }: Client = {},
): RestoreState {
  const form = formOf({ output, outputNames })
  const open = { open: {}, texts: {}, inputs: {}, hasWrapped: false }
  return { tools, form, ...open, objectArguments, notes: [] }
}

function restoreText(part: TextPart, form: Form, notes: Note[]): string {
  const open = startText(part, form)
  const value = readText(open, part.text, form)
  noteOutput(open, notes)
  return value + endText(open, form)
}

function restoreInput(part: ToolCallPart, form: Form, notes: Note[]): string {
  const open = startText(part, form)
  const value = readText(open, part.input, form)
  noteInput(open, notes)
  return value + endText(open, form)
}

const startText = (
  { at }: { at?: Place | undefined },
  { output, outputNames }: Form,
): OpenText => ({
  at,
  ...(output && { wrapped: startUnwrappingOutput(output) }),
  ...(outputNames && { renaming: startRenaming() }),
})

/** Reads the next chunk of a text and returns the next one for the client. */
function readText({ wrapped, renaming }: OpenText, text: string, { outputNames }: Form): string {
  const value = wrapped ? unwrapOutput(wrapped, text) : text
  return renaming && outputNames ? renameChunk(renaming, value, outputNames) : value
}

/** What is left of it at its end. */
function endText({ wrapped, renaming }: OpenText, { outputNames }: Form): string {
  const left = wrapped ? endOutput(wrapped) : ''
  if (!renaming || !outputNames) return left
  return renameChunk(renaming, left, outputNames) + endRenaming(renaming)
}

function noteOutput({ wrapped, at }: OpenText, notes: Note[]): void {
  if (wrapped?.phase === 'raw' || (wrapped?.phase === 'before' && wrapped.held !== ''))
    report(notes).add('output.unwrap-failed', at)
}

function noteInput({ wrapped, at }: OpenText, notes: Note[]): void {
  if (wrapped?.phase === 'raw' || (wrapped?.phase === 'before' && wrapped.held !== ''))
    report(notes).add('tool-call.unwrap-failed', at)
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
  const { tools, form, open, texts, inputs, objectArguments, notes } = state
  const { head } = event
  if (head.type === 'text' && form) {
    const text = startText(head, form)
    texts[keyOf(event)] = text
    state.hasWrapped = true
    return { ...event, head: { ...head, text: readText(text, head.text, form) } }
  }
  if (head.type !== 'tool-call') return event
  noteName(head, notes)
  const restored = restoreName(head, tools)
  const written = formOfInput(tools[head.name], objectArguments)
  if (written && restored.kind === head.kind) {
    const text = startText(head, written)
    inputs[keyOf(event)] = { text, form: written }
    state.hasWrapped = true
    return { ...event, head: { ...restored, input: readText(text, head.input, written) } }
  }
  if (restored.kind === head.kind) return { ...event, head: restored }
  const text = startUnwrapping()
  open[keyOf(event)] = { text, native: tools[head.name]?.freeform === true, at: head.at }
  state.hasWrapped = true
  return { ...event, head: { ...restored, input: unwrapText(text, head.input) } }
}

function restoreDelta(
  { form, open, texts, inputs, hasWrapped }: RestoreState,
  event: PartDelta,
  emit: Emit<CanonicalEvent>,
): void {
  if (!hasWrapped) {
    emit(event)
    return
  }
  const changed = event.delta.kind === 'text' ? texts[keyOf(event)] : undefined
  if (event.delta.kind === 'text' && changed && form) {
    const text = readText(changed, event.delta.text, form)
    if (text) emit({ ...event, delta: { kind: 'text', text } })
    return
  }
  const input = event.delta.kind === 'input' ? inputs[keyOf(event)] : undefined
  if (event.delta.kind === 'input' && input) {
    const text = readText(input.text, event.delta.text, input.form)
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
  { tools, form, open, texts, inputs, objectArguments, hasWrapped, notes }: RestoreState,
  event: PartEnd,
  emit: Emit<CanonicalEvent>,
): void {
  const { candidate, part, final } = event
  const changed = hasWrapped ? texts[keyOf(event)] : undefined
  if (changed && form) {
    delete texts[keyOf(event)]
    noteOutput(changed, notes)
    const text = endText(changed, form)
    if (text) emit({ type: 'part.delta', candidate, part, delta: { kind: 'text', text } })
    emit(
      final?.type === 'text'
        ? { ...event, final: { ...final, text: restoreText(final, form, []) } }
        : event,
    )
    return
  }
  const input = hasWrapped ? inputs[keyOf(event)] : undefined
  if (input) {
    delete inputs[keyOf(event)]
    noteInput(input.text, notes)
    const text = endText(input.text, input.form)
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
  const restored = restoreName(final, tools)
  const written = formOfInput(tools[final.name], objectArguments)
  const whole = unwrapping
    ? (unwrapInput(final.input) ?? final.input)
    : written && restoreInput(final, written, input ? [] : notes)
  emit({ ...event, final: whole === undefined ? restored : { ...restored, input: whole } })
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

function noteUnwrapped(whole: boolean, { native, at }: Wrapped, notes: Note[]): void {
  if (!whole) report(notes).add('freeform.unwrap-failed', at)
  else if (native) report(notes).add('freeform.as-function', at)
}

const report = (notes: Note[]) => createReport('translate', translateNotes, {}, notes)
