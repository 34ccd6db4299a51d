import { copyOf, setOwn } from './copy.ts'
import type { CanonicalEvent, Delta, LateFields } from './event.ts'
import type { ExtMap, Message, Part } from './message.ts'
import { type Candidate, type CanonicalResponse, mergeUsage } from './response.ts'

/**
 * The response so far, as plain data. `parts`: those of the response, by `candidate/part`.
 * `candidates`: the same as in the response, by number.
 */
export type Collected = {
  response: CanonicalResponse
  candidates: Record<number, Candidate>
  parts: Record<string, Part>
  clean: boolean
  ended: boolean
}

export function startCollecting(): Collected {
  return { response: { candidates: [] }, candidates: {}, parts: {}, clean: false, ended: false }
}

/** Adds one event. Changes `into`; the event stays as it was. */
export function collectEvent(into: Collected, event: CanonicalEvent): void {
  const { response } = into
  switch (event.type) {
    case 'start': {
      const { type: _, ...known } = event
      Object.assign(response, known)
      return
    }
    case 'update': {
      const { type: _, ext, ...known } = event
      Object.assign(response, known)
      if (ext) response.ext = mergeExt(response.ext, ext)
      return
    }
    case 'message.start': {
      const { type: _, candidate, message, ...head } = event
      candidateOf(into, candidate).messages[message] = { origin: 'message', parts: [], ...head }
      return
    }
    case 'part.start': {
      const part = copyOf(event.head)
      messageOf(into, event.candidate, event.message).parts.push(part)
      into.parts[`${event.candidate}/${event.part}`] = part
      return
    }
    case 'part.delta': {
      const part = into.parts[`${event.candidate}/${event.part}`]
      if (part) addDelta(part, event.delta)
      return
    }
    case 'part.end': {
      const part = into.parts[`${event.candidate}/${event.part}`]
      if (part && event.final) replace(part, event.final)
      return
    }
    case 'message.end': {
      const message = messageOf(into, event.candidate, event.message)
      if (event.status) message.status = event.status
      if (event.ext) message.ext = mergeExt(message.ext, event.ext)
      return
    }
    case 'finish': {
      const candidate = candidateOf(into, event.candidate)
      candidate.finish = event.finish
      if (event.logprobs) candidate.logprobs = event.logprobs
      if (event.grounding) candidate.grounding = event.grounding
      if (event.at !== undefined) candidate.at = event.at
      if (event.ext) candidate.ext = mergeExt(candidate.ext, event.ext)
      return
    }
    case 'usage':
      response.usage = mergeUsage(response.usage, event.usage)
      return
    case 'error':
      response.error = event.error
      return
    case 'end':
      into.clean = event.clean
      sortCandidates(into)
      into.ended = true
      return
    case 'ping':
    case 'opaque':
      return
    default:
      event satisfies never
  }
}

/**
 * Events → the whole response. `clean` is false when the stream was cut off or failed.
 * @example
 * import { normalizeResponse, textOf } from 'wireglot'
 * import { collect, explode } from 'wireglot/protocols'
 *
 * const response = { type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi!' }], stop_reason: 'end_turn' } as const
 * const events = explode(normalizeResponse(response, { protocol: 'messages' }))
 * console.log(textOf(collect(events).response)) // Hi!
 */
export function collect(events: Iterable<CanonicalEvent>): {
  response: CanonicalResponse
  clean: boolean
} {
  const into = startCollecting()
  for (const event of events) collectEvent(into, event)
  sortCandidates(into)
  return { response: into.response, clean: into.clean }
}

/**
 * Adds a delta to a part in place, and to its lists, which no other part may have. A delta that
 * does not fit the part changes nothing.
 */
export function addDelta(part: Part, delta: Delta): void {
  if (delta.ext) part.ext = mergeExt(part.ext, delta.ext)
  switch (delta.kind) {
    case 'text':
      if (part.type === 'text' || part.type === 'refusal') part.text += delta.text
      else if (part.type === 'media') part.transcript = (part.transcript ?? '') + delta.text
      return
    case 'input':
      if (part.type === 'tool-call') part.input += delta.text
      return
    case 'reasoning': {
      if (part.type !== 'reasoning') return
      while (part.segments.length <= delta.segment) part.segments.push({ kind: delta.of, text: '' })
      const segment = part.segments[delta.segment]
      if (segment) segment.text += delta.text
      return
    }
    case 'signature':
      part.signature = delta.signature
      if (part.type !== 'reasoning') return
      if (delta.id !== undefined) part.id = delta.id
      delta.kinds?.forEach((kind, nth) => {
        const segment = part.segments[nth]
        if (segment) segment.kind = kind
      })
      return
    case 'citation':
      if (part.type !== 'text') return
      part.citations ??= []
      part.citations.push(delta.citation)
      return
    case 'logprobs':
      if (part.type !== 'text' && part.type !== 'refusal') return
      part.logprobs ??= []
      for (const one of delta.logprobs) part.logprobs.push(one)
      return
    case 'media':
      if (part.type === 'media' && part.source.type === 'base64') part.source.data += delta.base64
      return
    case 'fields':
      setFields(part, delta.fields)
      if (delta.at !== undefined) part.at = delta.at
      return
    case 'whole':
      replaceWhole(part, delta.whole)
      return
    default:
      delta satisfies never
  }
}

function setFields(part: Record<string, unknown>, fields: LateFields): void {
  for (const [key, value] of Object.entries(fields))
    if (value === undefined) delete part[key]
    else part[key] = copyOf<unknown>(value)
}

/** The path and the signature may have come with the start only. */
function replaceWhole(part: Part, whole: Part): void {
  if (part.type !== whole.type) return
  const { at, signature } = part
  replace(part, whole)
  // Decoders that complete a part without its path leave it empty.
  if (at !== undefined && !part.at) part.at = at
  if (signature) part.signature ??= signature
}

function replace(part: Part, final: Part): void {
  for (const key of Object.keys(part)) delete (part as Record<string, unknown>)[key]
  Object.assign(part, copyOf(final))
}

function candidateOf({ response, candidates: known }: Collected, index: number): Candidate {
  const there = known[index]
  if (there) return there
  const candidate: Candidate = { index, messages: [] }
  known[index] = candidate
  response.candidates.push(candidate)
  return candidate
}

function sortCandidates({ response }: Collected): void {
  response.candidates.sort((a, b) => a.index - b.index)
}

function messageOf(into: Collected, candidate: number, message: number): Message {
  const { messages } = candidateOf(into, candidate)
  messages[message] ??= { role: 'assistant', origin: 'message', parts: [] }
  return messages[message]
}

/**
 * What `mergeExt` has made, and nothing else has: the fields of many events are added to it in
 * place.
 */
const merging = new WeakSet<ExtMap>()

/** Both. `earlier` must not be used any more. */
export function mergeExt(earlier: ExtMap | undefined, later: ExtMap): ExtMap {
  if (!earlier) return later
  const merged = merging.has(earlier) ? earlier : withOwnFields(earlier)
  merging.add(merged)
  for (const [protocol, { fields }] of Object.entries(later)) {
    if (!fields) continue
    const known = merged[protocol]?.fields ?? {}
    merged[protocol] = { fields: known }
    for (const [key, value] of Object.entries(fields)) setOwn(known, key, value)
  }
  return merged
}

const withOwnFields = (ext: ExtMap): ExtMap =>
  Object.fromEntries(
    Object.entries(ext).map(([protocol, { fields, ...rest }]) => [
      protocol,
      fields ? { ...rest, fields: { ...fields } } : rest,
    ]),
  )
