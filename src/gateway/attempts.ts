import { ExponentialBackoff } from 'cockatiel'
import { type Signal, Stopper } from '../transports/stopper.ts'
import type { Ask, Service, Trace } from './ask.ts'
import { call, type Opened } from './call.ts'
import { type Refusal, reasonOf, refuse } from './error.ts'
import type { Candidate } from './upstream.ts'
import type { Failure } from './upstream-failure.ts'

export type OpenCall = {
  /** Rejects with the Refusal of the first failure when every attempt failed. */
  opened: Promise<Opened>
  /** Ends whatever is under way: the attempt, the wait for the next, or the answer that is being read. */
  stop(reason: Refusal): void
}

/** Tries the candidates one after another until one answers. Nothing is tried again once a byte of an answer has come. */
export function openFirst(service: Service, ask: Ask, trace: Trace): OpenCall {
  const controller = new Stopper()
  const { signal } = ask.request
  const stop = (reason: Refusal) => controller.abort(reason)
  const left = () => stop(reasonOf(signal))
  if (signal.aborted) left()
  else signal.addEventListener('abort', left, { once: true })
  return { opened: tryAll(service, ask, trace, controller), stop }
}

/** Does this result count against its channel? A limit does not, nor does a client that left. */
export function isFault(result: unknown): boolean {
  const { again, refusal } = result as Partial<Failure>
  return refusal !== undefined && again !== 'never' && refusal.error.status >= 500 && refusal.error.kind !== 'cancelled'
}

async function tryAll(service: Service, ask: Ask, trace: Trace, controller: Stopper): Promise<Opened> {
  let first: Refusal | undefined
  let resting: Refusal | undefined
  for (const candidate of ask.candidates) {
    const restMs = service.breakers.restMs(candidate.channel)
    if (restMs !== undefined) {
      resting ??= refuse(503, 'unavailable', 'the upstream channel keeps failing and is left alone for a while', { retryAfterMs: restMs })
      continue
    }
    const result = await tryOne(service, ask, trace, { candidate, controller })
    if (!('again' in result)) return result
    if (result.again === 'never' || controller.signal.aborted) throw result.refusal
    first ??= result.refusal
  }
  throw first ?? resting ?? refuse(404, 'not_found', 'no channel serves this model')
}

/** Tries one candidate up to `retries` times more. Between tries it waits as long as the upstream asked, else a random time that grows. */
async function tryOne(
  service: Service,
  ask: Ask,
  trace: Trace,
  { candidate, controller }: { candidate: Candidate; controller: Stopper },
): Promise<Opened | Failure> {
  const { retries, retryWaitMs } = service.config.defaults
  const isResting = () => service.breakers.restMs(candidate.channel) !== undefined
  let backoff = new ExponentialBackoff({ initialDelay: 100, maxDelay: retryWaitMs }).next()
  let earliest: Failure | undefined
  for (let left = retries; ; left--) {
    trace.attempts++
    trace.candidate = candidate
    const result = await service.breakers.run(candidate.channel, () => call(service, ask, trace, { candidate, controller }))
    if (!('again' in result)) return result
    earliest ??= result
    const { again, waitMs = backoff.duration } = result
    if (again === 'never' || controller.signal.aborted) return result
    if (again !== 'here' || left === 0 || waitMs > retryWaitMs || isResting()) return earliest
    await pause(waitMs, controller.signal)
    // While this one waited, other requests may have found the channel failing.
    if (isResting()) return earliest
    backoff = backoff.next(undefined)
  }
}

function pause(ms: number, signal: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', gone)
      resolve()
    }, ms)
    signal.addEventListener('abort', gone, { once: true })
  })
}
