import { addDelta } from '../../canonical/collect.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, Delta, PartEnd, PartStart } from '../../canonical/event.ts'
import type { MediaPart, Part, ReasoningPart, Signature, TokenLogprob, ToolCallPart } from '../../canonical/message.ts'
import { type CanonicalResponse, type Finish, mergeUsage, type Usage } from '../../canonical/response.ts'
import { defined } from '../../kit/defined.ts'
import { mapCallId } from '../../kit/ids.ts'
import { advanceJson, isObject, type JsonObject, type JsonProgress, startJson } from '../../kit/json.ts'
import type { Emit, FieldNames, MachineState, StreamMachine } from '../../protocol.ts'
import { encodeCitation, unusual, validCallId } from './assistant.ts'
import { encodeErrorBody } from './error.ts'
import { type ChatReport, createChatReport } from './notes.ts'
import type { ChatCompletionsOptions } from './options.ts'
import { formOf, merge, own } from './own.ts'
import { encodeCallSignature, encodeDetails, needsDetails } from './reasoning.ts'
import { blockedText, encodeHead, encodeLogprobs, failedBy, noteFinish, refusalText } from './response.ts'
import { createNames, noteName } from './tools.ts'
import { encodeUsage } from './usage.ts'
import { encodeFinish } from './vocabulary.ts'

type CallOut = {
  kind: 'call'
  head: ToolCallPart
  /** Index on the wire, once it was opened. */
  index: number | undefined
  /** What came while another call was open. */
  buffer: string
  json: JsonProgress
  /** All input that came, for comparing with what the source says at the end. */
  input: string
  sent: boolean
  ended: boolean
  closed: boolean
}

/** What came for a part while another of its kind, or an earlier message, was open. */
type Held = { held: Delta[]; ended: boolean; final: Part | undefined }

type TextOut = { kind: 'text'; text: string; start: number; end: number | undefined; citations: Extract<Delta, { kind: 'citation' }>['citation'][] }
type Laned = (TextOut | { kind: 'refusal'; text: string } | { kind: 'reasoning'; part: ReasoningPart }) & Held
type PartOut = CallOut | Laned | { kind: 'audio'; id: string } | { kind: 'none' }

/** All text of an answer is one field, as are all refusals and all reasoning: parts of one kind must not mix. */
type Lane = { open: number | undefined; queue: Waiting[] }
type Waiting = { part: number; message: number }

type Choice = {
  index: number
  begun: boolean
  finished: boolean
  /** In the order in which they came. */
  parts: Map<number, PartOut>
  nextCall: number
  /** The one call that may be written to; clients take a call for complete when another begins. */
  open: number | undefined
  queue: number[]
  lanes: Record<Laned['kind'], Lane>
  /** Those that have not ended: what later messages say waits for them. */
  openMessages: number[]
  /** Code points of content so far. */
  length: number
  /** There is something for the reader to see. */
  shown: boolean
  /** The last delta was of reasoning. */
  reasoned: boolean
  textSignature: Signature | undefined
}

type State = MachineState & {
  phase: 'before' | 'inside' | 'over'
  fieldNames: FieldNames | undefined
  settings: Pick<ChatCompletionsOptions, 'ccReasoning' | 'ccSignature'> & { truncated: 'error' | 'length' | undefined }
  writeUsage: boolean
  spare: { id: string; created: number; model: string }
  head: JsonObject
  /** Fields of this protocol that the next chunk takes along. */
  fields: JsonObject
  usage: Usage | undefined
  blocked: CanonicalResponse['promptBlocked'] | undefined
  choices: Map<number, Choice>
}

/**
 * Canonical events → chunks and the text `[DONE]`.
 *
 *     role ▸ deltas ▸ annotations, reasoning details ▸ finish reason      for each choice
 *     usage ▸ [DONE]                                                       once
 *
 * All chunks share one id. Calls are written one after the other: those that begin while one is open wait until its
 * arguments are whole. A source that failed or stopped early ends in an error frame without `[DONE]`.
 */
export const streamEncoder: StreamMachine<CanonicalEvent, unknown, MachineState, ChatCompletionsOptions> = {
  initial: (options = {}): State => {
    const { context, fieldNames, truncated, ccReasoning, ccSignature, ccAlwaysUsage } = options
    const { id, created, model } = encodeHead({}, options, createChatReport(undefined))
    return {
      notes: [],
      phase: 'before',
      fieldNames,
      settings: { ...defined({ ccReasoning, ccSignature }), truncated },
      writeUsage: ccAlwaysUsage === true || context === undefined || context.request?.stream?.includeUsage === true,
      spare: { id, created, model },
      head: {},
      fields: {},
      usage: undefined,
      blocked: undefined,
      choices: new Map(),
    }
  },

  step(machine, event, emit) {
    const state = machine as State
    if (state.phase === 'over') return
    switch (event.type) {
      case 'start':
        begin(state, event)
        return
      case 'update':
        if (event.promptBlocked) state.blocked = event.promptBlocked
        if (event.serviceTier !== undefined) state.head['service_tier'] = event.serviceTier
        if (event.completedAt !== undefined) reportOf(state).add('field.unsupported', '', 'completedAt')
        takeFields(state, event.ext)
        return
      case 'message.start':
        choiceOf(state, event.candidate).openMessages.push(event.message)
        if (event.id !== undefined) reportOf(state).once('message.ids', '')
        if (event.phase !== undefined && event.phase !== null) reportOf(state).once('message.phase', '')
        if (event.ext) reportOf(state).ext(event.ext, '')
        return
      case 'part.start':
        startPart(state, event, emit)
        return
      case 'part.delta':
        addToPart(state, event, emit)
        return
      case 'part.end':
        endPart(state, event, emit)
        return
      case 'message.end':
        endMessage(state, event, emit)
        return
      case 'finish':
        finishChoice(state, event, emit)
        return
      case 'usage':
        state.usage = mergeUsage(state.usage, event.usage)
        return
      case 'error':
        fail(state, event.error, emit)
        return
      case 'ping':
        return
      case 'opaque':
        reportOf(state).once('stream.event', '')
        return
      case 'end':
        finish(state, event.clean, emit)
        return
      default:
        event satisfies never
    }
  },

  end(machine, emit) {
    const state = machine as State
    if (state.phase !== 'over') finish(state, false, emit)
  },
}

const reportOf = (state: State): ChatReport => createChatReport(state.fieldNames, state.notes)

function begin(state: State, { id, model, createdAt, serviceTier, ext }: Extract<CanonicalEvent, { type: 'start' }>): void {
  const { spare } = state
  encodeHead(defined({ id, model, createdAt }), {}, reportOf(state))
  state.phase = 'inside'
  state.head = defined({
    id: id || spare.id,
    object: 'chat.completion.chunk',
    created: createdAt ?? spare.created,
    model: model ?? spare.model,
    service_tier: serviceTier,
  })
  takeFields(state, ext)
}

function takeFields(state: State, ext: Extract<CanonicalEvent, { type: 'start' }>['ext']): void {
  if (!ext) return
  reportOf(state).ext(ext, '')
  state.fields = { ...state.fields, ...own(ext)?.fields }
}

function choiceOf(state: State, index: number): Choice {
  let choice = state.choices.get(index)
  if (!choice) {
    choice = {
      index,
      begun: false,
      finished: false,
      parts: new Map(),
      nextCall: 0,
      open: undefined,
      queue: [],
      openMessages: [],
      lanes: { text: { open: undefined, queue: [] }, refusal: { open: undefined, queue: [] }, reasoning: { open: undefined, queue: [] } },
      length: 0,
      shown: false,
      reasoned: false,
      textSignature: undefined,
    }
    state.choices.set(index, choice)
  }
  return choice
}

/** One chunk with one choice. */
function write(state: State, choice: JsonObject, emit: Emit<unknown>): void {
  const chunk: JsonObject = { ...state.head, ...state.fields, choices: [choice] }
  if (state.writeUsage) chunk['usage'] = null
  state.fields = {}
  emit(chunk)
}

/** The first delta of a choice says its role, with an empty text unless a call comes first. */
function writeDelta(state: State, choice: Choice, { delta, emit }: { delta: JsonObject; emit: Emit<unknown> }): void {
  if (!choice.begun) {
    choice.begun = true
    if ('tool_calls' in delta) {
      choice.reasoned = false
      write(state, { index: choice.index, delta: { role: 'assistant', content: null, ...delta }, finish_reason: null }, emit)
      return
    }
    write(state, { index: choice.index, delta: { role: 'assistant', content: '' }, finish_reason: null }, emit)
  }
  if (Object.keys(delta).length === 0) return
  choice.reasoned = reasoningField(state.settings) in delta
  write(state, { index: choice.index, delta, finish_reason: null }, emit)
}

function startPart(state: State, { candidate, message, part, head }: PartStart, emit: Emit<unknown>): void {
  const choice = choiceOf(state, candidate)
  const out = outOf(state, choice, head)
  choice.parts.set(part, out)
  if (out.kind === 'none') return
  if (out.kind === 'call') {
    makeWay(state, choice, emit)
    if (choice.open === undefined) openCall(state, choice, { part, call: out, emit })
    else choice.queue.push(part)
  }
  if (isLaned(out)) {
    const { queue } = choice.lanes[out.kind]
    queue.push({ part, message })
    queue.sort((a, b) => a.message - b.message || a.part - b.part)
    settle(state, choice, { kind: out.kind, emit })
  }
  // What the head holds already is the first of its deltas.
  const event = (delta: Delta) => addToPart(state, { type: 'part.delta', candidate, part, delta }, emit)
  switch (head.type) {
    case 'text':
    case 'refusal':
      if (head.text) event({ kind: 'text', text: head.text })
      if (head.type === 'text') for (const citation of head.citations ?? []) event({ kind: 'citation', citation })
      if (head.logprobs) event({ kind: 'logprobs', logprobs: head.logprobs })
      break
    case 'reasoning':
      head.segments.forEach(({ kind, text }, segment) => {
        event({ kind: 'reasoning', segment, of: kind, text })
      })
      break
    case 'tool-call':
      if (head.input) event({ kind: 'input', text: head.input })
      break
    case 'media':
      if (head.source.type === 'base64' && head.source.data) event({ kind: 'media', base64: head.source.data })
      if (head.transcript) event({ kind: 'text', text: head.transcript })
      break
    default:
  }
  if (head.signature && head.type !== 'tool-call') event({ kind: 'signature', signature: head.signature })
}

/** What is remembered of a part; `none`, with a note: it has no place here. */
function outOf(state: State, choice: Choice, head: Part): PartOut {
  const report = reportOf(state)
  switch (head.type) {
    case 'text':
      if (head.ext) report.ext(head.ext, head.at)
      return { kind: 'text', text: '', start: choice.length, end: undefined, citations: [], ...held() }
    case 'refusal':
      return { kind: 'refusal', text: '', ...held() }
    case 'reasoning':
      if (state.settings.ccReasoning === 'omit') {
        report.add('reasoning.dropped', head.at)
        return { kind: 'none' }
      }
      report.once('reasoning.dialect-field', head.at)
      if (head.ext) report.ext(head.ext, head.at)
      return { kind: 'reasoning', part: { ...head, segments: [] }, ...held() }
    case 'tool-call':
      return { kind: 'call', head, index: undefined, buffer: '', json: startJson(), input: '', sent: false, ended: false, closed: false }
    case 'media':
      if (head.kind !== 'audio') break
      return { kind: 'audio', id: audioId(head) }
    case 'opaque':
      report.add('part.unknown', head.at)
      return { kind: 'none' }
    case 'tool-result':
    case 'server-tool':
    case 'search-result':
    case 'control':
      break
    default:
      head satisfies never
  }
  report.add('part.unsupported', head.at)
  return { kind: 'none' }
}

const held = (): Held => ({ held: [], ended: false, final: undefined })

function isLaned(out: PartOut): out is Laned {
  return out.kind === 'text' || out.kind === 'refusal' || out.kind === 'reasoning'
}

function audioId({ ext }: MediaPart): string {
  const { id } = formOf(ext)
  return typeof id === 'string' ? id : 'audio_0'
}

function addToPart(state: State, { candidate, part, delta }: Extract<CanonicalEvent, { type: 'part.delta' }>, emit: Emit<unknown>): void {
  const choice = choiceOf(state, candidate)
  const out = choice.parts.get(part)
  if (!out || out.kind === 'none') return
  if (isLaned(out) && choice.lanes[out.kind].open !== part) {
    out.held.push(delta)
    return
  }
  const put = (fields: JsonObject) => writeDelta(state, choice, { delta: fields, emit })
  switch (delta.kind) {
    case 'text':
      if (!delta.text) return
      if (out.kind === 'text') {
        out.text += delta.text
        choice.shown = true
        put({ content: delta.text })
      } else if (out.kind === 'refusal') {
        out.text += delta.text
        choice.shown = true
        put({ refusal: delta.text })
      } else if (out.kind === 'audio') put({ audio: { id: out.id, transcript: delta.text } })
      return
    case 'reasoning':
      if (out.kind === 'reasoning') addReasoning(state, choice, { out, delta, put })
      return
    case 'input':
      if (out.kind === 'call') addInput(state, choice, { part, call: out, text: delta.text, emit })
      return
    case 'signature':
      if (out.kind === 'reasoning') out.part.signature = delta.signature
      else if (out.kind === 'text') choice.textSignature = delta.signature
      else if (out.kind === 'call') addCallSignature(state, choice, { call: out, signature: delta.signature, emit })
      return
    case 'citation':
      if (out.kind === 'text') out.citations.push(delta.citation)
      return
    case 'logprobs':
      if (out.kind === 'text' || out.kind === 'refusal') writeLogprobs(state, choice, { key: out.kind, logprobs: delta.logprobs, emit })
      return
    case 'media':
      if (out.kind === 'audio') put({ audio: { id: out.id, data: delta.base64 } })
      return
    default:
      delta satisfies never
  }
}

type AddReasoning = { out: Extract<PartOut, { kind: 'reasoning' }>; delta: Extract<Delta, { kind: 'reasoning' }>; put: (delta: JsonObject) => void }

/** Segments are set apart by an empty line, as are parts where nothing else stands between them. */
function addReasoning({ settings }: State, choice: Choice, { out, delta, put }: AddReasoning): void {
  const { segments } = out.part
  const begins = !segments[delta.segment]?.text
  const gap = begins && (choice.reasoned || segments.slice(0, delta.segment).some(({ text }) => text !== ''))
  addDelta(out.part, delta)
  if (!delta.text || settings.ccReasoning === 'details') return
  put({ [reasoningField(settings)]: gap ? `\n\n${delta.text}` : delta.text })
}

function reasoningField({ ccReasoning }: State['settings']): string {
  return ccReasoning === 'reasoning' ? ccReasoning : 'reasoning_content'
}

function writeLogprobs(
  state: State,
  choice: Choice,
  { key, logprobs, emit }: { key: 'text' | 'refusal'; logprobs: TokenLogprob[]; emit: Emit<unknown> },
): void {
  if (logprobs.length === 0) return
  const tokens = encodeLogprobs(logprobs)
  if (!choice.begun) writeDelta(state, choice, { delta: {}, emit })
  const shown = key === 'text' ? { content: tokens, refusal: null } : { content: null, refusal: tokens }
  write(state, { index: choice.index, delta: {}, logprobs: shown, finish_reason: null }, emit)
}

type Writing = { part: number; call: CallOut; emit: Emit<unknown> }

/** Its arguments can only be followed by white space: numbers and words are never taken for whole. */
function isWhole({ head, json }: CallOut): boolean {
  return head.kind === 'function' && json.whole
}

/** Another call waits: one that has all its arguments is closed. */
function makeWay(state: State, choice: Choice, emit: Emit<unknown>): void {
  const call = openOf(choice)
  if (call && isWhole(call)) closeCall(state, choice, emit)
}

function openOf(choice: Choice): CallOut | undefined {
  const out = choice.open === undefined ? undefined : choice.parts.get(choice.open)
  return out?.kind === 'call' ? out : undefined
}

function openCall(state: State, choice: Choice, { part, call, emit }: Writing): void {
  const { head } = call
  const report = reportOf(state)
  const { id, name, namespace, kind, ext, at, signature, caller, itemId, status, async, toolset } = head
  const verbatim = own(ext) !== undefined
  choice.open = part
  choice.shown = true
  call.index = choice.nextCall++
  const shown = verbatim ? id : mapCallId(id, validCallId)
  if (shown !== id) report.add('tool-call.id', at, 'id')
  if (itemId !== undefined || status !== undefined) report.once('message.ids', at)
  const direct = isObject(caller) && caller['type'] === 'direct'
  report.rest({ ...(!direct && { caller }), ...(async && { async }), toolset }, at)
  if (ext) report.ext(ext, at)
  const called = noteName(name, namespace, { at, writing: { report, nameOf: createNames(verbatim).nameOf } })
  const inner = kind === 'function' ? { type: 'function', function: { name: called, arguments: '' } } : { type: 'custom', custom: { name: called, input: '' } }
  const extra = signature ? encodeExtra(state, head) : undefined
  writeDelta(state, choice, { delta: { tool_calls: [{ index: call.index, id: shown, ...inner, ...(extra && { extra_content: extra }) }] }, emit })
}

function encodeExtra(state: State, { signature, ext, at }: ToolCallPart): JsonObject | undefined {
  const { extra } = formOf(ext)
  if (isObject(extra)) return extra
  if (signature && state.settings.ccSignature !== 'none') return encodeCallSignature(signature)
  reportOf(state).add('reasoning.signature-dropped', at, 'signature')
  return undefined
}

function addCallSignature(state: State, choice: Choice, { call, signature, emit }: { call: CallOut; signature: Signature; emit: Emit<unknown> }): void {
  call.head = { ...call.head, signature }
  if (call.index === undefined) return
  const extra = encodeExtra(state, { ...call.head, ext: {} })
  if (extra) writeDelta(state, choice, { delta: { tool_calls: [{ index: call.index, extra_content: extra }] }, emit })
}

function addInput(state: State, choice: Choice, { part, call, text, emit }: Writing & { text: string }): void {
  if (!text) return
  if (call.closed) {
    if (text.trim()) reportOf(state).once('stream.trailing-arguments', call.head.at)
    return
  }
  advanceJson(call.json, text)
  call.input += text
  if (choice.open !== part) {
    call.buffer += text
    return
  }
  writeInput(state, choice, { part, call, emit, text })
  if (isWhole(call) && choice.queue.length > 0) {
    closeCall(state, choice, emit)
    promote(state, choice, emit)
  }
}

function writeInput(state: State, choice: Choice, { call, text, emit }: Writing & { text: string }): void {
  call.sent = true
  const inner = call.head.kind === 'function' ? { function: { arguments: text } } : { custom: { input: text } }
  writeDelta(state, choice, { delta: { tool_calls: [{ index: call.index, ...inner }] }, emit })
}

/** A function that got no arguments gets an empty object, for clients parse what they get. */
function closeCall(state: State, choice: Choice, emit: Emit<unknown>): void {
  const call = openOf(choice)
  const part = choice.open
  choice.open = undefined
  if (!call || part === undefined) return
  call.closed = true
  if (call.sent || call.head.kind === 'freeform' || own(call.head.ext)) return
  reportOf(state).add('tool-call.empty-input', call.head.at, 'input')
  writeInput(state, choice, { part, call, emit, text: '{}' })
}

function promote(state: State, choice: Choice, emit: Emit<unknown>): void {
  for (;;) {
    const part = choice.queue.shift()
    const call = part === undefined ? undefined : choice.parts.get(part)
    if (part === undefined || call?.kind !== 'call') return
    openCall(state, choice, { part, call, emit })
    if (call.buffer) writeInput(state, choice, { part, call, emit, text: call.buffer })
    call.buffer = ''
    if (!call.ended && !(isWhole(call) && choice.queue.length > 0)) return
    closeCall(state, choice, emit)
  }
}

function endPart(state: State, { candidate, part, final }: PartEnd, emit: Emit<unknown>): void {
  const choice = choiceOf(state, candidate)
  const out = choice.parts.get(part)
  if (!out) return
  if (isLaned(out)) {
    out.ended = true
    out.final = final
    if (choice.lanes[out.kind].open === part) settle(state, choice, { kind: out.kind, emit })
    return
  }
  if (final) correct(state, { candidate, part, out, final }, emit)
  if (out.kind !== 'call') return
  out.ended = true
  if (choice.open !== part) return
  closeCall(state, choice, emit)
  promote(state, choice, emit)
}

/** All of a message comes before what later ones say. */
function endMessage(state: State, { candidate, message }: Extract<CanonicalEvent, { type: 'message.end' }>, emit: Emit<unknown>): void {
  const choice = choiceOf(state, candidate)
  choice.openMessages = choice.openMessages.filter(open => open !== message)
  settleAll(state, choice, emit)
}

function settleAll(state: State, choice: Choice, emit: Emit<unknown>): void {
  for (const kind of ['text', 'refusal', 'reasoning'] as const) settle(state, choice, { kind, emit })
}

/** Closes the open part of a kind when it has ended, and lets those in that waited, up to the first that is open itself. */
function settle(state: State, choice: Choice, { kind, emit }: { kind: Laned['kind']; emit: Emit<unknown> }): void {
  const lane = choice.lanes[kind]
  for (;;) {
    const open = lane.open === undefined ? undefined : choice.parts.get(lane.open)
    if (lane.open !== undefined && open && isLaned(open)) {
      if (!open.ended) return
      if (open.final) correct(state, { candidate: choice.index, part: lane.open, out: open, final: open.final }, emit)
      if (open.kind === 'text') {
        choice.length += [...open.text].length
        open.end = choice.length
      }
      lane.open = undefined
    }
    const [waiting] = lane.queue
    const next = waiting && choice.parts.get(waiting.part)
    if (!waiting || !next || !isLaned(next) || choice.openMessages.some(message => message < waiting.message)) return
    lane.queue.shift()
    lane.open = waiting.part
    if (next.kind === 'text') next.start = choice.length
    const { held } = next
    next.held = []
    for (const delta of held) addToPart(state, { type: 'part.delta', candidate: choice.index, part: waiting.part, delta }, emit)
  }
}

/** The source tells the whole part at its end: what is missing is sent after it, anything else cannot be taken back. */
function correct(state: State, { candidate, part, out, final }: { candidate: number; part: number; out: PartOut; final: Part }, emit: Emit<unknown>): void {
  const rest = (sent: string, whole: string): string => {
    if (whole.startsWith(sent)) return whole.slice(sent.length)
    reportOf(state).once('stream.final-differs', final.at)
    return ''
  }
  const event = (delta: Delta) => addToPart(state, { type: 'part.delta', candidate, part, delta }, emit)
  if ((out.kind === 'text' && final.type === 'text') || (out.kind === 'refusal' && final.type === 'refusal')) {
    event({ kind: 'text', text: rest(out.text, final.text) })
    if (out.kind === 'text' && final.type === 'text' && final.citations) out.citations = [...final.citations]
  } else if (out.kind === 'call' && final.type === 'tool-call') {
    if (out.closed) return
    event({ kind: 'input', text: rest(out.input, final.input) })
    if (final.signature && !out.head.signature) event({ kind: 'signature', signature: final.signature })
  } else if (out.kind === 'reasoning' && final.type === 'reasoning') {
    final.segments.forEach(({ kind, text }, segment) => {
      event({ kind: 'reasoning', segment, of: kind, text: rest(out.part.segments[segment]?.text ?? '', text) })
    })
    out.part = { ...final, segments: final.segments.map(segment => ({ ...segment })) }
  }
  if (final.type === 'text' && final.signature) event({ kind: 'signature', signature: final.signature })
}

function finishChoice(state: State, { candidate, finish, ext }: Extract<CanonicalEvent, { type: 'finish' }>, emit: Emit<unknown>): void {
  const choice = choiceOf(state, candidate)
  const written = encodeFinish(
    finish,
    [...choice.parts.values()].some(({ kind }) => kind === 'call'),
  )
  if (!written) {
    fail(state, failedBy(finish), emit)
    return
  }
  const report = reportOf(state)
  noteFinish(finish, written, { at: undefined, report })
  report.ext(ext, '')
  refuse(state, choice, { finish, emit })
  const { delta, ...fields } = own(ext)?.fields ?? {}
  conclude(state, choice, { word: written.word, fields, delta: isObject(delta) ? delta : {}, emit })
}

/** A refusal without a word gets one, for an empty answer would look like a fault of the client. */
function refuse(state: State, choice: Choice, { finish, emit }: { finish: Finish; emit: Emit<unknown> }): void {
  if (finish.reason !== 'refusal' || choice.shown) return
  if (finish.message === undefined) reportOf(state).add('refusal.synthesized', '/choices/0/message/refusal')
  writeDelta(state, choice, { delta: { refusal: finish.message ?? refusalText }, emit })
}

type Conclusion = { word: string; fields: JsonObject; delta: JsonObject; emit: Emit<unknown> }

/** What readers take only whole comes now, in one delta each; then the reason. */
function conclude(state: State, choice: Choice, { word, fields, delta, emit }: Conclusion): void {
  if (choice.finished) return
  choice.finished = true
  closeCall(state, choice, emit)
  promote(state, choice, emit)
  const annotations = encodeAnnotations(state, choice)
  if (annotations.length > 0) writeDelta(state, choice, { delta: { annotations }, emit })
  const details = encodeReasoningDetails(state, choice)
  if (details.length > 0) writeDelta(state, choice, { delta: { reasoning_details: details }, emit })
  if (!choice.begun) writeDelta(state, choice, { delta: {}, emit })
  write(state, merge(fields, { index: choice.index, delta, finish_reason: word }), emit)
}

function encodeAnnotations(state: State, choice: Choice): JsonObject[] {
  const report = reportOf(state)
  return [...choice.parts.values()].flatMap(out => {
    if (out.kind !== 'text') return []
    const { start, text, end = start + [...text].length } = out
    return out.citations.flatMap(citation => {
      const annotation = encodeCitation(citation, { start, end }, () => report.once('citation.whole-part', ''))
      if (!annotation) report.add('citation.unsupported', '')
      return annotation ? [annotation] : []
    })
  })
}

function encodeReasoningDetails(state: State, choice: Choice): JsonObject[] {
  const { ccReasoning, ccSignature } = state.settings
  const report = reportOf(state)
  const outs = [...choice.parts.values()]
  const reasoning = outs.flatMap(out => (out.kind === 'reasoning' ? [out.part] : []))
  const parts = reasoning.filter(({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined)
  if (ccSignature === 'none') {
    for (const { signature, at } of parts) if (signature) report.add('reasoning.signature-dropped', at, 'signature')
    if (ccReasoning !== 'details') return []
  }
  const wanted = ccReasoning === 'details' ? parts.length > 0 : needsDetails(parts)
  let count = 0
  const layout = unusual(
    outs.flatMap(out => {
      if (out.kind === 'reasoning') return [`r${count++}`]
      if (out.kind === 'text') return out.text ? [`x${out.text.length}`] : []
      return out.kind === 'call' ? [`c${own(out.head.ext) ? out.head.id : mapCallId(out.head.id, validCallId)}`] : []
    }),
  )
  if (!wanted && !choice.textSignature) {
    if (layout) report.add('parts.order-lost', '')
    return []
  }
  const bare = ccSignature === 'none' ? parts.map(({ signature: _, ...rest }) => rest) : parts
  return encodeDetails({ parts: bare, textSignature: ccSignature === 'none' ? undefined : choice.textSignature, layout })
}

function fail(state: State, error: CanonicalError, emit: Emit<unknown>): void {
  state.phase = 'over'
  emit(encodeErrorBody(error, reportOf(state)))
}

const early = 'upstream stream ended early'

function finish(state: State, clean: boolean, emit: Emit<unknown>): void {
  const { choices, blocked, settings } = state
  const all = [...choices.values()]
  const refused = clean && all.length === 0 ? blocked : undefined
  const whole = refused !== undefined || (all.length > 0 && (clean || settings.truncated === 'length'))
  if (!whole) {
    fail(state, { status: 502, kind: 'internal', message: early }, emit)
    return
  }
  if (refused) {
    reportOf(state).add('prompt.blocked', '', 'promptBlocked')
    const choice = choiceOf(state, 0)
    writeDelta(state, choice, { delta: { refusal: blockedText(refused) }, emit })
    conclude(state, choice, { word: 'content_filter', fields: {}, delta: {}, emit })
  }
  for (const choice of all) if (!choice.finished) cutOff(state, choice, emit)
  state.phase = 'over'
  // Readers take what stands beside the choices only from a chunk with an id.
  if (state.usage && state.writeUsage) emit({ ...state.head, ...state.fields, choices: [], usage: encodeUsage(state.usage, reportOf(state)) })
  else if (Object.keys(state.fields).length > 0) emit({ ...state.head, ...state.fields, choices: [] })
  emit('[DONE]')
}

/** The source stopped early, and the caller wants that to look like the length limit. */
function cutOff(state: State, choice: Choice, emit: Emit<unknown>): void {
  reportOf(state).once('finish.truncated-as-length', '')
  // What never came is not made up for a call that was cut off.
  for (const out of choice.parts.values())
    if (out.kind === 'call') Object.assign(out, { ended: true, sent: true })
    else if (isLaned(out)) out.ended = true
  choice.openMessages = []
  settleAll(state, choice, emit)
  conclude(state, choice, { word: 'length', fields: {}, delta: {}, emit })
}
