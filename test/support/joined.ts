import { expect } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import type { Part } from '../../src/canonical/message.ts'
import { Mismatch, Seam } from '../../src/gateway/resume/seam.ts'
import type { Protocol } from '../../src/protocol.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'

// Streams that break and are continued, for the laws about them.

/** The events of so much of a stream. `ends`: the connection has ended. */
export function read(protocol: Protocol, text: string, ends: boolean): CanonicalEvent[] {
  const events: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, {}, event => void events.push(event))
  reader.push(text)
  if (ends) reader.end()
  return events
}

const isFailure = (event: CanonicalEvent) =>
  event.type === 'error' || (event.type === 'end' && !event.clean)

/** The events of a broken stream until its end, then those of the attempts that continue it. */
export function joined(attempts: CanonicalEvent[][]): {
  out: CanonicalEvent[]
  isGivenUp: boolean
} {
  const seam = new Seam()
  const out: CanonicalEvent[] = []
  for (const [nth, attempt] of attempts.entries()) {
    if (seam.isFinished) break
    if (nth > 0) {
      if (seam.sent === undefined) return { out, isGivenUp: true }
      seam.spend({ input: 1 })
      seam.cut()
    }
    const before = collect(out)
    try {
      for (const event of attempt) if (!isFailure(event)) out.push(...seam.take(event))
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      return { out, isGivenUp: true }
    }
    // The client keeps what it had.
    expect(textOf(out).startsWith(textOfParts(partsOf(before)))).toBe(true)
  }
  return { out, isGivenUp: false }
}

const partsOf = ({ response }: ReturnType<typeof collect>): Part[] =>
  response.candidates.flatMap(({ messages }) => messages.flatMap(({ parts }) => parts))
const textOfParts = (parts: Part[]) =>
  parts.map(part => (part.type === 'text' ? part.text : '')).join('')
export const textOf = (events: CanonicalEvent[]) => textOfParts(partsOf(collect(events)))
export const callsOf = (events: CanonicalEvent[]) =>
  partsOf(collect(events)).flatMap(part =>
    part.type === 'tool-call' ? [{ name: part.name, input: part.input }] : [],
  )

/**
 * Of several candidates, of parts that are mixed, and with parts of other kinds a stream is not
 * continued.
 */
export function isPlain(events: CanonicalEvent[]): boolean {
  let last = -1
  return events.every(event => {
    if ('candidate' in event && event.candidate > 0) return false
    if (event.type === 'part.start') last = event.part
    if (event.type === 'part.start')
      return ['text', 'reasoning', 'tool-call'].includes(event.head.type)
    return event.type !== 'part.delta' || !('text' in event.delta) || event.part === last
  })
}
