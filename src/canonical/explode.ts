import type { CanonicalEvent, Delta } from './event.ts'
import type { Part } from './message.ts'
import type { CanonicalResponse } from './response.ts'

/**
 * A complete response → events, with one delta for each text, input or segment. `collect` turns
 * them back into the response. With an `error`, or a candidate without `finish`, the stream ends
 * with `clean: false`.
 * @example
 * import { normalizeResponse } from 'wireglot'
 * import { explode } from 'wireglot/protocols'
 *
 * const response = { type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi!' }], stop_reason: 'end_turn' } as const
 * console.log(explode(normalizeResponse(response, { protocol: 'messages' })).map(({ type }) => type)) // … 'part.delta' …
 */
export function explode(response: CanonicalResponse): CanonicalEvent[] {
  const {
    candidates,
    usage,
    error,
    completedAt,
    promptBlocked,
    id,
    model,
    createdAt,
    serviceTier,
    transformations,
    echo,
    ext,
  } = response
  const source = response.source && { protocol: response.source.protocol }
  const events: CanonicalEvent[] = [
    {
      type: 'start',
      ...present({ id, model, createdAt, serviceTier, transformations, echo, ext, source }),
    },
  ]
  // Some wires have the input counts at the start of a stream.
  if (usage?.input !== undefined) {
    const { input, cacheRead, cacheWrite } = usage
    events.push({ type: 'usage', usage: present({ input, cacheRead, cacheWrite }) })
  }
  if (promptBlocked) events.push({ type: 'update', promptBlocked })
  const numbers = numbersOf(candidates)
  candidates.forEach(({ messages }, place) => {
    const candidate = numbers[place] ?? place
    let next = 0
    messages.forEach(({ parts, origin, status, ...head }, message) => {
      events.push({
        type: 'message.start',
        candidate,
        message,
        ...head,
        ...(origin !== 'message' && { origin }),
      })
      for (const whole of parts) {
        const part = next++
        const { head: partHead, deltas } = takeApart(whole)
        events.push({ type: 'part.start', candidate, message, part, head: partHead })
        for (const delta of deltas) events.push({ type: 'part.delta', candidate, part, delta })
        events.push({ type: 'part.end', candidate, part })
      }
      events.push({
        type: 'message.end',
        candidate,
        message,
        ...(status && { status, ...present({ at: head.at }) }),
      })
    })
  })
  // Not in `start`: there the response is not completed yet.
  if (completedAt !== undefined) events.push({ type: 'update', completedAt })
  candidates.forEach(({ finish, logprobs, grounding, at, ext: own }, place) => {
    const candidate = numbers[place] ?? place
    // The error describes the failure. Other candidates may have ended normally.
    if (finish && !(error && finish.reason === 'error'))
      events.push({
        type: 'finish',
        candidate,
        finish,
        ...present({ logprobs, grounding, at, ext: own }),
      })
  })
  if (usage) events.push({ type: 'usage', usage })
  if (error) {
    events.push({ type: 'error', error }, { type: 'end', clean: false })
    return events
  }
  const finished =
    candidates.every(({ finish }) => finish) &&
    (candidates.length > 0 || promptBlocked !== undefined)
  events.push({ type: 'end', clean: finished })
  return events
}

/**
 * The numbers of the candidates: their `index`, or their places where the indexes have gaps or
 * repeat.
 */
function numbersOf(candidates: CanonicalResponse['candidates']): number[] {
  const numbers = candidates.map(({ index }) => index)
  const places = [...numbers.keys()]
  const given = new Set(numbers)
  return places.every(place => given.has(place)) ? numbers : places
}

/** A part → its head and the deltas that complete it. */
export function takeApart(part: Part): { head: Part; deltas: Delta[] } {
  switch (part.type) {
    case 'text': {
      const { citations: _c, logprobs: _l, signature: _s, ...rest } = part
      return { head: { ...rest, text: '' }, deltas: deltasOf(part) }
    }
    case 'refusal': {
      const { logprobs: _l, signature: _s, ...rest } = part
      return { head: { ...rest, text: '' }, deltas: deltasOf(part) }
    }
    case 'reasoning': {
      const { signature: _, ...rest } = part
      return { head: { ...rest, segments: [] }, deltas: deltasOf(part) }
    }
    case 'tool-call':
      return { head: { ...part, input: '' }, deltas: deltasOf(part) }
    case 'media':
    case 'tool-result':
    case 'server-tool':
    case 'search-result':
    case 'control':
    case 'opaque':
      return { head: part, deltas: [] }
    default:
      return part satisfies never
  }
}

/**
 * The contents of a part as deltas. The signature of a tool call is not among them: it is part of
 * the head.
 */
export function deltasOf(part: Part): Delta[] {
  const deltas: Delta[] = []
  if (part.type === 'text')
    for (const citation of part.citations ?? []) deltas.push({ kind: 'citation', citation })
  if (part.type === 'text' || part.type === 'refusal') {
    if (part.text) deltas.push({ kind: 'text', text: part.text })
    if (part.logprobs) deltas.push({ kind: 'logprobs', logprobs: part.logprobs })
  } else if (part.type === 'reasoning')
    part.segments.forEach(({ kind, text }, segment) => {
      deltas.push({ kind: 'reasoning', segment, of: kind, text })
    })
  else if (part.type === 'tool-call') {
    if (part.input) deltas.push({ kind: 'input', text: part.input })
  } else if (part.type === 'media') {
    if (part.source.type === 'base64' && part.source.data)
      deltas.push({ kind: 'media', base64: part.source.data })
    if (part.transcript) deltas.push({ kind: 'text', text: part.transcript })
  }
  if (part.signature && part.type !== 'tool-call')
    deltas.push({ kind: 'signature', signature: part.signature })
  return deltas
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function present<T extends object>(from: T): Present<T> {
  const kept: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(from)) if (value !== undefined) kept[key] = value
  return kept as Present<T>
}
