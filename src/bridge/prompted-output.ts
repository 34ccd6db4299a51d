import type { CanonicalEvent } from '../canonical/event.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse, Finish } from '../canonical/response.ts'
import { instructed } from '../kit/conversation/instructed.ts'
import { parseJson } from '../kit/json/json.ts'
import { jsonInstruction } from '../kit/response/json-instruction.ts'
import { isLimit } from '../kit/tools/cut-calls.ts'
import type { Emit } from '../protocol.ts'
import type { BridgeReport } from './notes.ts'
import { repaired } from './repair.ts'

/** The request for a server without a format of the output: the instructions ask for the JSON. */
export function withPromptedOutput(
  request: CanonicalRequest,
  report: BridgeReport,
): CanonicalRequest {
  const { format, ...output } = request.output ?? {}
  if (format?.type !== 'json' && format?.type !== 'schema') return request
  report.add('output.prompted', undefined, 'output.format')
  const text = jsonInstruction(format.type === 'schema' ? format.schema : undefined)
  return { ...request, output, messages: instructed(request.messages, text) }
}

/**
 * The response with JSON alone in its text, where other text is around it or the JSON is broken.
 * One whose text holds none stays as it is, and so does one that a limit cut off.
 */
export function withJsonAlone(
  response: CanonicalResponse,
  report: BridgeReport,
): CanonicalResponse {
  const candidates = response.candidates.map(candidate => {
    if (isCut(candidate.finish)) return candidate
    const texts = candidate.messages.flatMap(({ parts }) =>
      parts.filter(part => part.type === 'text' && part.text.trim() !== ''),
    )
    const [only, ...others] = texts
    if (only?.type !== 'text' || others.length > 0) return candidate
    const json = jsonIn(only.text)
    if (json === undefined) return candidate
    report.add('output.repaired', only.at, 'text')
    const messages = candidate.messages.map(message => ({
      ...message,
      parts: message.parts.map(part => (part === only ? { ...only, text: json } : part)),
    }))
    return { ...candidate, messages }
  })
  return candidates.every((one, i) => one === response.candidates[i])
    ? response
    : { ...response, candidates }
}

const isCut = (finish: Finish | undefined): boolean => finish !== undefined && isLimit(finish)

/** By candidate, what is held back from its first text on. Plain data. */
export type OutputState = { held: Map<number, CanonicalEvent[]> }

export const startOutput = (): OutputState => ({ held: new Map() })

/**
 * The same for a stream. What a model has written is known at its end, so the text is passed on
 * there, in one piece if it was changed.
 */
export function stepOutput(
  { held }: OutputState,
  event: CanonicalEvent,
  report: BridgeReport,
  emit: Emit<CanonicalEvent>,
): void {
  if (!('candidate' in event)) {
    if (event.type === 'end' || event.type === 'error')
      for (const [candidate, events] of held) {
        held.delete(candidate)
        events.forEach(emit)
      }
    emit(event)
    return
  }
  const { candidate } = event
  if (event.type === 'part.start' && event.head.type === 'text' && !held.has(candidate))
    held.set(candidate, [])
  const events = held.get(candidate)
  if (!events) {
    emit(event)
    return
  }
  events.push(event)
  if (event.type !== 'finish') return
  held.delete(candidate)
  const whole = isCut(event.finish) ? undefined : alone(events)
  if (whole) report.add('output.repaired', undefined, 'text')
  for (const one of whole ?? events) emit(one)
}

/** The events with JSON alone in their text. Undefined: they stay. */
function alone(events: readonly CanonicalEvent[]): CanonicalEvent[] | undefined {
  const texts = new Map<number, string>()
  for (const event of events)
    if (event.type === 'part.start' && event.head.type === 'text')
      texts.set(event.part, event.head.text)
    else if (event.type === 'part.delta' && event.delta.kind === 'text')
      texts.set(event.part, (texts.get(event.part) ?? '') + event.delta.text)
    else if (event.type === 'part.end' && event.final?.type === 'text')
      texts.set(event.part, event.final.text)
  const [only, ...others] = [...texts].filter(([, text]) => text.trim() !== '')
  if (!only || others.length > 0) return undefined
  const [part, text] = only
  const json = jsonIn(text)
  if (json === undefined) return undefined
  return events.flatMap((event): CanonicalEvent[] => {
    if (!('part' in event) || event.part !== part) return [event]
    if (event.type === 'part.start' && event.head.type === 'text')
      return [{ ...event, head: { ...event.head, text: '' } }]
    if (event.type === 'part.delta') return event.delta.kind === 'text' ? [] : [event]
    if (event.type !== 'part.end') return [event]
    const { candidate, final } = event
    return [
      { type: 'part.delta', candidate, part, delta: { kind: 'text', text: json } },
      final?.type === 'text' ? { ...event, final: { ...final, text: json } } : event,
    ]
  })
}

/** Undefined: the text is JSON already, or none can be found in it. */
function jsonIn(text: string): string | undefined {
  if (parseJson(text) !== undefined) return undefined
  const from = text.search(/[{[]/)
  const to = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  if (from < 0) return undefined
  const inner = to > from ? text.slice(from, to + 1) : text.slice(from)
  if (parseJson(inner) !== undefined) return inner
  const fixed = repaired(inner)
  return typeof parseJson(fixed ?? '') === 'object' ? fixed : undefined
}
