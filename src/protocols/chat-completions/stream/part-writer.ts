import { addDelta } from '../../../canonical/collect.ts'
import type { Delta, EncodedPartEnd, PartDelta, PartStart } from '../../../canonical/event.ts'
import { deltasOf } from '../../../canonical/explode.ts'
import type {
  MediaPart,
  Part,
  RefusalPart,
  TextPart,
  TokenLogprob,
} from '../../../canonical/message.ts'
import { pointerOf, step } from '../../../kit/notes/path.ts'
import { noteTokens } from '../../../kit/response/logprobs.ts'
import { noteServerTool, noteUnplaced, noteUnwritten } from '../content/assistant.ts'
import { isOneTooMany } from '../content/calls.ts'
import { noteDialect, takesReasoning, textField } from '../content/carriers.ts'
import { encodeLogprobs } from '../content/content.ts'
import { encodeAudioOutput, encodeImageOutput, isAudible } from '../content/media.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { ownOf, protocolName } from '../own.ts'
import { noteMessage } from '../response/response.ts'
import type { ChatCompletionsDelta } from '../written.ts'
import { addCallSignature, addInput, closeCall, openCall } from './call-writer.ts'
import {
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
