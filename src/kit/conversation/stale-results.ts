import type { ExtMap, Message, Part, Place } from '../../canonical/message.ts'
import { flatMap } from '../text/flat-map.ts'

type Reporting = { leave(code: 'tool-result.duplicate', part: Part): void; ext(ext: ExtMap | undefined, at: Place | undefined): void }

/**
 * The conversation with only the last result of each call: clients that retry send several, which servers refuse. Results without
 * a call stay.
 */
export function withoutStaleResults(messages: readonly Message[], report: Reporting): readonly Message[] {
  const stale = staleResults(messages)
  if (stale.size === 0) return messages
  for (const part of stale) report.leave('tool-result.duplicate', part)
  return flatMap(messages, message => {
    const parts = message.parts.filter(part => !stale.has(part))
    if (parts.length > 0 || message.parts.length === 0) return [{ ...message, parts }]
    report.ext(message.ext, message.at)
    return []
  })
}

function staleResults(messages: readonly Message[]): Set<Part> {
  const stale = new Set<Part>()
  const open = new Map<string, { calls: number; results: Part[] }>()
  for (const { parts } of messages)
    for (const part of parts) {
      if (part.type === 'tool-call') {
        const before = open.get(part.id)
        // A call with the id of an answered call is a new one.
        if (before?.results.length === 0) before.calls++
        else open.set(part.id, { calls: 1, results: [] })
      } else if (part.type === 'tool-result') {
        const asked = open.get(part.callId)
        asked?.results.push(part)
        const superseded = asked && asked.results.length > asked.calls ? asked.results.shift() : undefined
        if (superseded) stale.add(superseded)
      }
    }
  return stale
}
