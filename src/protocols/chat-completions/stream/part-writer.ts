import { addDelta } from '../../../canonical/collect.ts'
import type { Delta, EncodedPartEnd, PartDelta, PartStart } from '../../../canonical/event.ts'
import { deltasOf } from '../../../canonical/explode.ts'
import type {
  MediaPart,
  Part,
  Place,
  RefusalPart,
  Signature,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { type JsonObject, merge } from '../../../kit/json/json.ts'
import { pointerOf, step } from '../../../kit/notes/path.ts'
import { noteTokens } from '../../../kit/response/logprobs.ts'
import { noteServerTool, noteUnplaced, noteUnwritten } from '../content/assistant.ts'
import {
  encodeCall,
  encodeLegacyCall,
  encodeSignature,
  isOneTooMany,
  noteLostSignature,
  validCallId,
} from '../content/calls.ts'
import {
  carriesReasoning,
  carryReasoning,
  finishCarriers,
  noteDialect,
  takesReasoning,
  textField,
} from '../content/carriers.ts'
import { encodeLogprobs } from '../content/content.ts'
import { notePhases } from '../content/layout.ts'
import { encodeAudioOutput, encodeImageOutput, isAudible } from '../content/media.ts'
import { encodeCarried, keep, noteUnstored } from '../content/signatures.ts'
import { type ChatCompletionsReport, ownOf, protocolName } from '../own.ts'
import { noteMessage } from '../response/response.ts'
import type {
  ChatCompletionsCallDelta,
  ChatCompletionsCarriers,
  ChatCompletionsDelta,
  ChatCompletionsSignatureFields,
} from '../written.ts'
import {
  type CallOut,
  type Choice,
  choiceOf,
  type EmitWire,
  type EncoderState,
  type PartOut,
  reportOf,
  sendDelta,
  write,
  writingOf,
} from './encoder-state.ts'

/**
 * Writes the parts of one choice: one text, one refusal, one reasoning and one call at a time, as
 * the normalizer passes them on.
 */

/** The unknown keys of a text block have no place in a delta. */
function noteText(head: TextPart | RefusalPart, report: ChatCompletionsReport): void {
  const { ext, at } = head
  noteUnwritten(head, 'client', report)
  for (const key in ownOf(ext)) report.add('field.unknown', `${pointerOf(at ?? '')}${step(key)}`)
}

export function startPart(
  state: EncoderState,
  { candidate, message, part, head }: PartStart,
  emit: EmitWire,
): void {
  const choice = choiceOf(state, candidate)
  noteMessage({ parts: [head], ...choice.roles[message] }, reportOf(state))
  // A message has one field for audio.
  if (head.type === 'media' && (!isAudible(head) || has(choice, 'audio'))) {
    choice.parts.set(part, { kind: 'none' })
    writeImage(state, choice, head, emit)
    return
  }
  const out = outOf(state, choice, { head, message })
  choice.parts.set(part, out)
  choice.kinds.add(out.kind)
  if (out.kind === 'none') return
  if (out.kind === 'call') {
    choice.since = []
    openCall(state, choice, { call: out, emit })
  } else if (out.kind !== 'audio' && out.kind !== 'tool') choice.since.push(out)
  // Content that the head already holds is written as its first deltas.
  for (const delta of deltasOf(head))
    addToPart(state, { type: 'part.delta', candidate, part, delta }, emit)
}

function writeImage(state: EncoderState, choice: Choice, image: MediaPart, emit: EmitWire): void {
  const writing = writingOf(state)
  const images = encodeImageOutput(image, choice.images, writing)
  const placed = Object.fromEntries(images.map((one, i) => [choice.images + i, one]))
  writing.report.resolvePending(placed, `/choices/${choice.index}/message/images`)
  choice.images += images.length
  if (images.length > 0) sendDelta(state, choice, { delta: { images }, emit })
}

/** The state of a part. `none`, with a note: it has no place here. */
function outOf(
  state: EncoderState,
  choice: Choice,
  { head, message }: { head: Part; message: number },
): PartOut {
  const report = reportOf(state)
  switch (head.type) {
    case 'text':
      noteText(head, report)
      return {
        kind: 'text',
        text: '',
        citations: [],
        message,
        phase: choice.phases.get(message)?.phase ?? head.phase,
        ...(head.at !== undefined && { at: head.at }),
      }
    case 'refusal':
      noteText(head, report)
      return { kind: 'refusal', text: '' }
    case 'reasoning':
      if (!takesReasoning(head, { reasoning: 'all', recipient: 'client' }, writingOf(state)))
        return { kind: 'none' }
      return { kind: 'reasoning', part: { ...head, segments: [] }, first: Infinity }
    case 'tool-call':
      if (state.single && isOneTooMany(head, has(choice, 'call'), writingOf(state)))
        return { kind: 'none' }
      return {
        kind: 'call',
        head,
        index: choice.nextCall++,
        input: '',
        sent: false,
        since: choice.since,
      }
    case 'media': {
      const { id, data: _, transcript: __, ...late } = encodeAudioOutput(head, writingOf(state))
      return { kind: 'audio', id: typeof id === 'string' ? id : 'audio_0', late, hasData: false }
    }
    case 'server-tool':
      // Its end shows whether it has made an image.
      return { kind: 'tool', head, image: head.image }
    case 'opaque':
    case 'tool-result':
    case 'search-result':
    case 'control':
      noteUnplaced(head, report)
      return { kind: 'none' }
    default:
      return head satisfies never
  }
}

export const has = ({ kinds }: Choice, wanted: PartOut['kind']) => kinds.has(wanted)

export function endPart(
  state: EncoderState,
  { candidate, part, cut }: EncodedPartEnd,
  emit: EmitWire,
): void {
  const choice = choiceOf(state, candidate)
  const out = choice.parts.get(part)
  if (!out) return
  if (out.kind === 'audio' && out.hasData && Object.keys(out.late).length > 0)
    sendDelta(state, choice, { delta: { audio: out.late }, emit })
  if (out.kind === 'tool') {
    const { head, image } = out
    noteServerTool(head, image, reportOf(state))
    if (image) writeImage(state, choice, image, emit)
  }
  if (out.kind === 'call') closeCall(state, choice, emit, cut)
}

/** Writes one delta of a part. */
export function addToPart(
  state: EncoderState,
  { candidate, part, delta }: PartDelta,
  emit: EmitWire,
): void {
  if (delta.ext) reportOf(state).ext(delta.ext, delta.at)
  const choice = choiceOf(state, candidate)
  const out = choice.parts.get(part)
  if (!out || out.kind === 'none') return
  const put = (fields: ChatCompletionsDelta) => sendDelta(state, choice, { delta: fields, emit })
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
      } else if (out.kind === 'audio') {
        out.hasData = true
        put({ audio: { id: out.id, transcript: delta.text } })
      }
      return
    case 'reasoning':
      if (out.kind === 'reasoning') addReasoning(state, choice, { out, delta, put })
      return
    case 'input':
      if (out.kind === 'call') addInput(state, choice, { call: out, text: delta.text, emit })
      return
    case 'signature':
      // This wire never carries an empty signature, see `emptySignature`.
      if (delta.signature.value === '') return
      if (out.kind === 'reasoning') addDelta(out.part, delta)
      else if (out.kind === 'text') out.signature = delta.signature
      else if (out.kind === 'call')
        addCallSignature(state, choice, { call: out, signature: delta.signature, emit })
      return
    case 'citation':
      if (out.kind === 'text') out.citations.push(delta.citation)
      return
    case 'logprobs':
      if (out.kind === 'text' || out.kind === 'refusal')
        writeLogprobs(state, choice, { key: out.kind, logprobs: delta.logprobs, emit })
      return
    case 'media':
      if (out.kind !== 'audio') return
      out.hasData = true
      put({ audio: { id: out.id, data: delta.base64 } })
      return
    case 'fields':
      if (out.kind === 'text' && delta.fields.citations) out.citations = [...delta.fields.citations]
      else if (out.kind === 'reasoning') addDelta(out.part, delta)
      return
    case 'whole':
      if (out.kind === 'tool' && delta.whole.type === 'server-tool') out.image = delta.whole.image
      reportOf(state).ext(delta.whole.ext, delta.whole.at)
      return
    default:
      delta satisfies never
  }
}

type AddReasoning = {
  out: Extract<PartOut, { kind: 'reasoning' }>
  delta: Extract<Delta, { kind: 'reasoning' }>
  put: (delta: ChatCompletionsDelta) => void
}

/** An empty line separates segments, and also parts that follow each other directly. */
function addReasoning(
  state: EncoderState,
  choice: Choice,
  { out, delta, put }: AddReasoning,
): void {
  const { settings } = state
  const { segments } = out.part
  const begins = !segments[delta.segment]?.text
  const gap = begins && (choice.reasoned || out.first < delta.segment)
  addDelta(out.part, delta)
  if (!delta.text) return
  if (out.first === Infinity) noteDialect(out.part.at, writingOf(state))
  out.first = Math.min(out.first, delta.segment)
  if (settings.reasoningField === 'details') return
  const text = gap ? `\n\n${delta.text}` : delta.text
  put(textField(settings) === 'reasoning' ? { reasoning: text } : { reasoning_content: text })
}

export function writeLogprobs(
  state: EncoderState,
  choice: Choice,
  { key, logprobs, emit }: { key: 'text' | 'refusal'; logprobs: TokenLogprob[]; emit: EmitWire },
): void {
  if (logprobs.length === 0) return
  noteTokens(logprobs, protocolName, reportOf(state))
  const tokens = encodeLogprobs(logprobs)
  if (!choice.begun) sendDelta(state, choice, { delta: {}, emit })
  const shown =
    key === 'text' ? { content: tokens, refusal: null } : { content: null, refusal: tokens }
  write(state, { index: choice.index, delta: {}, logprobs: shown, finish_reason: null }, emit)
}

/**
 * The fields to write next to a call that carries the reasoning before it. Undefined: it carries
 * none.
 */
function carriedTo(
  { settings, native }: EncoderState,
  { since, head }: CallOut,
): ChatCompletionsSignatureFields | undefined {
  return native || !carriesReasoning(settings) ? undefined : carryReasoning(partsOf(since), head)
}

/** What has been written of reasoning, texts and calls. */
function partsOf(outs: readonly PartOut[]): Part[] {
  return outs.flatMap((out): Part[] => {
    if (out.kind === 'reasoning') return [out.part]
    if (out.kind === 'call') return [out.head]
    if (out.kind !== 'text') return []
    const { text, phase, signature, at } = out
    return [omitUndefined({ type: 'text' as const, text, phase, signature, at })]
  })
}

/**
 * Puts the signatures of a complete choice into the store of the caller. False: there is no call
 * whose id could be the key.
 */
export function storeSignatures(state: EncoderState, choice: Choice, details: unknown): boolean {
  const calls = [...choice.parts.values()].flatMap(out => (out.kind === 'call' ? [out.head] : []))
  const extra = Object.fromEntries(
    calls.flatMap(head =>
      head.signature ? [[shownId(state, head), encodeCarried(head.signature).extra_content]] : [],
    ),
  )
  const first = state.single ? undefined : calls[0]
  const isKept = keep(state.signatures, first && shownId(state, first), { details, extra })
  if (!isKept) noteUnstored(partsOf([...choice.parts.values()]), placeOf(choice), reportOf(state))
  return isKept
}

/** The path of the first of the messages that were merged into this choice. */
const placeOf = ({ roles }: Choice): Place => Object.values(roles)[0]?.at ?? ''

const shownId = ({ native }: EncoderState, { id }: ToolCallPart): string =>
  native ? id : mapCallId(id, validCallId)

/**
 * For the end of the stream, what plain text cannot carry: signatures, segments, the order of the
 * parts.
 */
export function encodeReasoning(
  state: EncoderState,
  choice: Choice,
): Pick<ChatCompletionsCarriers, 'reasoning_details' | 'thinking_blocks' | 'reasoning_items'> {
  const parts = partsOf([...choice.parts.values()])
  const reasoning = parts.filter(part => part.type === 'reasoning')
  const from = { parts, reasoning: 'all', recipient: 'client', at: placeOf(choice) } as const
  const carriers = finishCarriers(reasoning, from, writingOf(state))
  // The text has been written.
  delete carriers[textField(state.settings)]
  return carriers
}

/** Notes the phases that the client does not get. `isKept`: it gets what is recorded. */
export function noteLostPhases(
  state: EncoderState,
  { parts, phases }: Choice,
  isKept: boolean,
): void {
  const worded = new Set(
    [...parts.values()].map(out => (out.kind === 'text' && out.text !== '' ? out.message : -1)),
  )
  const messages = [...phases].map(([message, of]) => ({ ...of, hasWords: worded.has(message) }))
  notePhases(messages, isKept, writingOf(state))
}

type Writing = { call: CallOut; emit: EmitWire }

/** Starts a call. Only where the source was cut off is another one open. */
export function openCall(state: EncoderState, choice: Choice, { call, emit }: Writing): void {
  closeCall(state, choice, emit, true)
  const { index, head } = call
  choice.open = call
  // The input comes in deltas, so none is made up here.
  const bare: ToolCallPart = { cut: true, ...head, input: '' }
  if (state.single) {
    // In streams, the name stands without its namespace.
    const { namespace: _, ...named } = bare
    const called = encodeLegacyCall(named, writingOf(state))
    sendDelta(state, choice, { delta: { function_call: called }, emit })
    return
  }
  const carried = carriedTo(state, call)
  const { signature: _, ...unsigned } = bare
  const isElsewhere = carried !== undefined || state.settings.signatures === 'store'
  const wire: JsonObject = encodeCall(isElsewhere ? unsigned : bare, 'client', writingOf(state))
  // Clients see the kind of a call by its object.
  const other = head.kind === 'function' ? 'custom' : 'function'
  const { [other]: left, ...shown } = wire
  if (left !== undefined)
    reportOf(state).add('field.unknown', `${pointerOf(head.at ?? '')}/${other}`)
  sendDelta(state, choice, {
    delta: {
      tool_calls: [merge<ChatCompletionsCallDelta>({ index, ...shown }, { ...carried, index })],
    },
    emit,
  })
}

export function addCallSignature(
  state: EncoderState,
  choice: Choice,
  { call, signature, emit }: { call: CallOut; signature: Signature; emit: EmitWire },
): void {
  const known = call.head.signature
  call.head = { ...call.head, signature }
  if (state.single) {
    if (!known) noteLostSignature(call.head, writingOf(state))
    return
  }
  if (state.settings.signatures === 'store') return
  const writing = writingOf(state)
  // The id has been written.
  const beside =
    carriedTo(state, call) ??
    encodeSignature(call.head, '', { recipient: 'client', writing }).beside
  if (!beside) return
  // Clients take a call as complete when the next one begins.
  if (call.index < choice.nextCall - 1) noteLostSignature(call.head, writingOf(state))
  else sendDelta(state, choice, { delta: { tool_calls: [{ index: call.index, ...beside }] }, emit })
}

export function addInput(
  state: EncoderState,
  choice: Choice,
  { call, text, emit }: Writing & { text: string },
): void {
  if (!text) return
  call.input += text
  writeInput(state, choice, { call, emit, text })
}

function writeInput(
  state: EncoderState,
  choice: Choice,
  { call, text, emit }: Writing & { text: string },
): void {
  call.sent = true
  if (state.single) {
    sendDelta(state, choice, { delta: { function_call: { arguments: text } }, emit })
    return
  }
  const inner: Omit<ChatCompletionsCallDelta, 'index'> =
    call.head.kind === 'function' ? { function: { arguments: text } } : { custom: { input: text } }
  sendDelta(state, choice, { delta: { tool_calls: [{ index: call.index, ...inner }] }, emit })
}

/**
 * Ends the open call. A function call without arguments gets an empty object, because clients parse
 * the arguments.
 */
export function closeCall(state: EncoderState, choice: Choice, emit: EmitWire, cut = false): void {
  const call = choice.open
  choice.open = undefined
  if (!call || call.sent || cut || call.head.kind === 'freeform' || state.native) return
  reportOf(state).add('tool-call.empty-input', '/choices')
  writeInput(state, choice, { call, emit, text: '{}' })
}
