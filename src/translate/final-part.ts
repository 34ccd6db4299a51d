import { addDelta } from '../canonical/collect.ts'
import { copyOf } from '../canonical/copy.ts'
import type { Delta } from '../canonical/event.ts'
import type { ExtMap, Part, ReasoningPart, ReasoningSegment } from '../canonical/message.ts'
import { same } from '../kit/json/json.ts'
import { beginsWith } from '../kit/text/text.ts'

/**
 * `deltas`: what the final part has beyond the streamed one. `differs`: the rest cannot be
 * corrected.
 */
type FinalDifference = { deltas: Delta[]; differs: boolean }

/**
 * `final`: the final part with the content that the deltas add up to. Undefined: it is of another
 * type than the streamed part.
 */
type ContentDifference = FinalDifference & { final: Part | undefined }

/**
 * Compares a streamed part with its final form, which some wires send at its end. Adding the deltas
 * to the streamed part completes it.
 */
export function compareFinal(streamed: Part, final: Part): FinalDifference {
  const { deltas, final: whole, differs } = compareContent(streamed, final)
  const late = whole && lateFields(streamed, deltas, whole)
  return { deltas: late ? [...deltas, late] : deltas, differs }
}

/** What content deltas do not carry. Undefined: nothing. */
function lateFields(streamed: Part, deltas: readonly Delta[], final: Part): Delta | undefined {
  const known: Record<string, unknown> = { ...completed(streamed, deltas) }
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(final))
    if (value !== undefined && !apart.has(key) && !same(known[key], value)) fields[key] = value
  for (const key of Object.keys(known))
    if (!(key in final) && !kept.has(key)) fields[key] = undefined
  const { at, ext } = final
  const unknown = ext && newFields(ext, streamed.ext)
  const isMoved = at !== undefined && at !== '' && !same(at, streamed.at)
  if (Object.keys(fields).length === 0 && !unknown && !isMoved) return undefined
  const place = at || streamed.at
  return {
    kind: 'fields',
    fields,
    ...(place !== undefined && { at: place }),
    ...(unknown && { ext: unknown }),
  }
}

/** The streamed part with what these deltas add. */
function completed(streamed: Part, deltas: readonly Delta[]): Part {
  if (deltas.length === 0) return streamed
  const part = copyOf(streamed)
  for (const delta of deltas) addDelta(part, delta)
  return part
}

/** What has rules of its own. */
const apart: ReadonlySet<string> = new Set(['at', 'ext', 'signature'])

/** What stays where the final part lacks it. */
const kept: ReadonlySet<string> = new Set([...apart, 'citations', 'logprobs'])

/** The unknown fields that are not known yet, or had another value. */
function newFields(ext: ExtMap, known: ExtMap = {}): ExtMap | undefined {
  const found: ExtMap = {}
  for (const [protocol, { fields = {} }] of Object.entries(ext)) {
    const before = new Map<string, unknown>(Object.entries(known[protocol]?.fields ?? {}))
    const added = Object.entries(fields).filter(
      ([key, value]) => !before.has(key) || !same(before.get(key), value),
    )
    if (added.length > 0) found[protocol] = { fields: Object.fromEntries(added) }
  }
  return Object.keys(found).length > 0 ? found : undefined
}

function compareContent(streamed: Part, final: Part): ContentDifference {
  if (streamed.type === 'text' && final.type === 'text') {
    const { text, differs } = continued(streamed.text, final.text)
    const citations = (final.citations ?? []).slice(streamed.citations?.length ?? 0)
    const deltas: Delta[] = [
      ...citations.map((citation): Delta => ({ kind: 'citation', citation })),
      ...textOf(text),
      ...restOf(streamed, final),
    ]
    return { deltas, final: { ...final, text: streamed.text + text }, differs }
  }
  if (streamed.type === 'refusal' && final.type === 'refusal') {
    const { text, differs } = continued(streamed.text, final.text)
    return {
      deltas: [...textOf(text), ...restOf(streamed, final)],
      final: { ...final, text: streamed.text + text },
      differs,
    }
  }
  if (streamed.type === 'tool-call' && final.type === 'tool-call') {
    const { text, differs } = continued(streamed.input, final.input)
    const deltas: Delta[] = text ? [{ kind: 'input', text }] : []
    return {
      deltas: [...deltas, ...restOf(streamed, final)],
      final: { ...final, input: streamed.input + text },
      differs,
    }
  }
  if (streamed.type === 'reasoning' && final.type === 'reasoning')
    return compareReasoning(streamed, final)
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
  const isNew =
    streamed.type === 'tool-call'
      ? !streamed.signature
      : streamed.signature?.value !== signature?.value
  if (signature && isNew) deltas.push({ kind: 'signature', signature })
  return deltas
}

const joined = (segments: readonly ReasoningSegment[], gap: string) =>
  segments.map(({ text }) => text).join(gap)

function compareReasoning(streamed: ReasoningPart, final: ReasoningPart): ContentDifference {
  const words = joined(streamed.segments, '')
  // Some wires stream reasoning as one text, and show its segments only at its end.
  if (words === joined(final.segments, '') || words === joined(final.segments, '\n\n'))
    return { deltas: restOf(streamed, final), final, differs: false }
  const deltas: Delta[] = []
  const segments = streamed.segments.map(segment => ({ ...segment }))
  const left = new Set(segments.keys())
  let differs = false
  // Some wires list the segments of one kind before those of the other, whatever their order in the
  // stream was.
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
  return {
    deltas: [...deltas, ...restOf(streamed, final)],
    final: { ...final, segments },
    differs: differs || isLeft,
  }
}
