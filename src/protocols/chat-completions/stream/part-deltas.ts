import { addDelta } from '../../../canonical/collect.ts'
import type { CanonicalEvent, Delta } from '../../../canonical/event.ts'
import type { Part, TokenLogprob } from '../../../canonical/message.ts'
import { noteTokens } from '../../../kit/reply/logprobs.ts'
import { beginsWith } from '../../../kit/text/text.ts'
import { textField } from '../content/carriers.ts'
import { protocolName } from '../content/own.ts'
import { encodeLogprobs } from '../response/logprobs.ts'
import type { ChatDelta } from '../schema.ts'
import { addCallSignature, addInput } from './call-queue.ts'
import { type Choice, choiceOf, type EmitWire, type EncoderState, isLaned, type PartOut, reportOf, write, writeDelta } from './encoder-state.ts'

/** Writes one delta of a part, or holds it until the part may be written. Long because each kind of delta has its case. */
export function addToPart(state: EncoderState, { candidate, part, delta }: Extract<CanonicalEvent, { type: 'part.delta' }>, emit: EmitWire): void {
  if (delta.ext) reportOf(state).ext(delta.ext, delta.at)
  const choice = choiceOf(state, candidate)
  const out = choice.parts.get(part)
  if (!out || out.kind === 'none') return
  // Signatures are not held, because they are written at the end anyway.
  if (isLaned(out) && choice.lanes[out.kind].open !== part && delta.kind !== 'signature') {
    out.held.push(delta)
    return
  }
  const put = (fields: ChatDelta) => writeDelta(state, choice, { delta: fields, emit })
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
        out.heard = true
        put({ audio: { id: out.id, transcript: delta.text } })
      }
      return
    case 'reasoning':
      if (out.kind === 'reasoning') addReasoning(state, choice, { out, delta, put })
      return
    case 'input':
      if (out.kind === 'call') addInput(state, choice, { part, call: out, text: delta.text, emit })
      return
    case 'signature':
      // This wire never carries an empty signature, see `emptyProof`.
      if (delta.signature.value === '') return
      if (out.kind === 'reasoning') addDelta(out.part, delta)
      else if (out.kind === 'text') out.signature = delta.signature
      else if (out.kind === 'call') addCallSignature(state, choice, { call: out, signature: delta.signature, emit })
      return
    case 'citation':
      if (out.kind === 'text') out.citations.push(delta.citation)
      return
    case 'logprobs':
      if (out.kind === 'text' || out.kind === 'refusal') writeLogprobs(state, choice, { key: out.kind, logprobs: delta.logprobs, emit })
      return
    case 'media':
      if (out.kind !== 'audio') return
      out.heard = true
      put({ audio: { id: out.id, data: delta.base64 } })
      return
    default:
      delta satisfies never
  }
}

type AddReasoning = { out: Extract<PartOut, { kind: 'reasoning' }>; delta: Extract<Delta, { kind: 'reasoning' }>; put: (delta: ChatDelta) => void }

/** An empty line separates segments, and also parts that follow each other directly. */
function addReasoning({ settings }: EncoderState, choice: Choice, { out, delta, put }: AddReasoning): void {
  const { segments } = out.part
  const begins = !segments[delta.segment]?.text
  const gap = begins && (choice.reasoned || segments.slice(0, delta.segment).some(({ text }) => text !== ''))
  addDelta(out.part, delta)
  if (!delta.text || settings.ccReasoning === 'details') return
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
  if (!choice.begun) writeDelta(state, choice, { delta: {}, emit })
  const shown = key === 'text' ? { content: tokens, refusal: null } : { content: null, refusal: tokens }
  write(state, { index: choice.index, delta: {}, logprobs: shown, finish_reason: null }, emit)
}

/** Compares a part with its final form from the source. What is missing is written now; other differences cannot be corrected. */
export function correct(
  state: EncoderState,
  { candidate, part, out, final }: { candidate: number; part: number; out: PartOut; final: Part },
  emit: EmitWire,
): void {
  const rest = (sent: string, whole: string): string => {
    if (beginsWith(whole, sent)) return whole.slice(sent.length)
    reportOf(state).once('stream.final-differs', final.at)
    return ''
  }
  const event = (delta: Delta) => addToPart(state, { type: 'part.delta', candidate, part, delta }, emit)
  if (out.kind !== 'none') reportOf(state).ext(final.ext, final.at)
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
