import type { Delta } from '../canonical/event.ts'
import type { Part, ReasoningPart, ReasoningSegment } from '../canonical/message.ts'
import { beginsWith } from '../kit/text/text.ts'

/** `deltas`: what the final part has beyond the streamed one. `final`: the part with the content that was streamed then. `differs`: the rest cannot be corrected. */
type Settled = { deltas: Delta[]; final: Part | undefined; differs: boolean }

/** Compares a streamed part with its final form, which some wires send at its end. */
export function settleFinal(streamed: Part, final: Part): Settled {
  if (streamed.type === 'text' && final.type === 'text') {
    const { text, differs } = continued(streamed.text, final.text)
    const citations = (final.citations ?? []).slice(streamed.citations?.length ?? 0)
    const deltas: Delta[] = [...citations.map((citation): Delta => ({ kind: 'citation', citation })), ...textOf(text), ...restOf(streamed, final)]
    return { deltas, final: { ...final, text: streamed.text + text }, differs }
  }
  if (streamed.type === 'refusal' && final.type === 'refusal') {
    const { text, differs } = continued(streamed.text, final.text)
    return { deltas: [...textOf(text), ...restOf(streamed, final)], final: { ...final, text: streamed.text + text }, differs }
  }
  if (streamed.type === 'tool-call' && final.type === 'tool-call') {
    const { text, differs } = continued(streamed.input, final.input)
    const deltas: Delta[] = text ? [{ kind: 'input', text }] : []
    return { deltas: [...deltas, ...restOf(streamed, final)], final: { ...final, input: streamed.input + text }, differs }
  }
  if (streamed.type === 'reasoning' && final.type === 'reasoning') return settleReasoning(streamed, final)
  return { deltas: [], final: undefined, differs: true }
}

/** The text that is missing. Different white space around a text is no difference. */
function continued(streamed: string, final: string): { text: string; differs: boolean } {
  if (beginsWith(final, streamed)) return { text: final.slice(streamed.length), differs: false }
  return { text: '', differs: final.trim() !== streamed.trim() }
}

const textOf = (text: string): Delta[] => (text ? [{ kind: 'text', text }] : [])

/** Log probabilities and the signature, as far as they were not streamed. */
function restOf(streamed: Part, final: Part): Delta[] {
  const { signature } = final
  const deltas: Delta[] = []
  if ('logprobs' in final && final.logprobs && 'logprobs' in streamed) {
    const logprobs = final.logprobs.slice(streamed.logprobs?.length ?? 0)
    if (logprobs.length > 0) deltas.push({ kind: 'logprobs', logprobs })
  }
  const isNew = streamed.type === 'tool-call' ? !streamed.signature : streamed.signature?.value !== signature?.value
  if (signature && isNew) deltas.push({ kind: 'signature', signature })
  return deltas
}

const joined = (segments: readonly ReasoningSegment[], gap: string) => segments.map(({ text }) => text).join(gap)

function settleReasoning(streamed: ReasoningPart, final: ReasoningPart): Settled {
  const words = joined(streamed.segments, '')
  // Some wires stream reasoning as one text, and show its segments only at its end.
  if (words === joined(final.segments, '') || words === joined(final.segments, '\n\n')) return { deltas: restOf(streamed, final), final, differs: false }
  const deltas: Delta[] = []
  const segments = streamed.segments.map(segment => ({ ...segment }))
  const left = new Set(segments.keys())
  let differs = false
  // Some wires list the segments of one kind before those of the other, whatever their order in the stream was.
  for (const { kind, text } of final.segments) {
    const place = [...left].find(index => segments[index]?.kind === kind) ?? segments.length
    left.delete(place)
    const segment = segments[place] ?? { kind, text: '' }
    segments[place] = segment
    const rest = continued(segment.text, text)
    segment.text += rest.text
    differs ||= rest.differs
    if (rest.text) deltas.push({ kind: 'reasoning', segment: place, of: kind, text: rest.text })
  }
  const isLeft = [...left].some(index => segments[index]?.text.trim())
  return { deltas: [...deltas, ...restOf(streamed, final)], final: { ...final, segments }, differs: differs || isLeft }
}
