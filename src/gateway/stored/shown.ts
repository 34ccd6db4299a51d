import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import type { Service, Trace } from '../request-context.ts'

/**
 * Counts what a stored response shows for the first time. `model`: the name that the client used;
 * absent: that of the response.
 */
export function countShown(
  { background, catalog }: Service,
  value: unknown,
  {
    protocol,
    channel,
    model,
    trace,
  }: { protocol: Protocol; channel: string; model: string | undefined; trace: Trace },
): void {
  if (!isObject(value) || typeof value['id'] !== 'string') return
  const { usage } = protocol.outcome(value)
  const more = usage && background.more(value['id'], usage, value['background'] === true)
  if (!more) return
  const name = model ?? String(value['model'] ?? '')
  const candidates = catalog.candidates(name, protocol, trace.identity ?? {}) ?? []
  const candidate = candidates.find(one => one.channel.name === channel)
  trace.usage = more
  // With it, the call has a record.
  trace.requestedModel = name
  if (candidate) trace.candidate = candidate
}
