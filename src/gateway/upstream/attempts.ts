import { omitUndefined } from '../../kit/fields/omit.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { PlainAbortController, type Signal } from '../../transports/abort-controller.ts'
import { atEnd } from '../at-end.ts'
import {
  failureKind,
  forClient,
  type GatewayError,
  reasonOf,
  reject,
  tooManyAtOnce,
} from '../error.ts'
import { holdUntilEnd, type Release } from '../in-flight.ts'
import type { FailureCause } from '../options.ts'
import { wordsOf } from '../record.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import { tapedChannel } from '../tape.ts'
import type { Counted } from './breaker.ts'
import { call, type Target } from './call.ts'
import type { Deployment } from './catalog.ts'
import { causeOf } from './causes.ts'
import type { Failure } from './failure.ts'
import type { Opened } from './opened.ts'

export type OpenCall = {
  /** Rejects with the Refusal of the first failure if all attempts fail. */
  opened: Promise<Opened>
  /**
   * Aborts whatever is in progress: an attempt, the wait for the next one, or reading the response.
   */
  stop(reason: GatewayError): void
}

/**
 * Tries the candidates one after another until one responds. There are no retries after the first
 * byte of a response.
 */
export function openFirst(service: Service, incoming: RequestContext, trace: Trace): OpenCall {
  const controller = new PlainAbortController()
  const { signal } = incoming.request
  const stop = (reason: GatewayError) => controller.abort(reason)
  const left = () => afterLeaving(reasonOf(signal), trace, stop)
  if (signal.aborted) left()
  else signal.addEventListener('abort', left, { once: true })
  return { opened: tryAll(service, incoming, trace, controller), stop }
}

/**
 * Stops a call whose client has left: at once, or when the rest of the response may not be read any
 * longer.
 */
function afterLeaving(reason: GatewayError, trace: Trace, stop: OpenCall['stop']): void {
  const drainMs = drainMsOf(trace, reason)
  if (drainMs === 0) {
    stop(reason)
    return
  }
  const timer = setTimeout(() => stop(reason), drainMs)
  atEnd(trace, () => clearTimeout(timer))
}

/** How long the response is read on. 0: it is not. */
export const drainMsOf = ({ sent, candidate }: Trace, { error }: GatewayError): number =>
  error.kind === 'cancelled' && sent !== undefined ? (candidate?.channel.timeouts.drainMs ?? 0) : 0

/**
 * What the result of an attempt says of its channel. An upstream that refuses or limits a request
 * works. Undefined: nothing, because the client left or no request was sent.
 */
export function verdictOn(result: Opened | Failure): 'well' | 'failed' | undefined {
  if (!('again' in result)) return 'well'
  const { again, rejection, wasNotSent } = result
  if (wasNotSent || rejection.error.kind === 'cancelled') return undefined
  return again !== 'never' && rejection.error.status >= 500 ? 'failed' : 'well'
}

async function tryAll(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  controller: PlainAbortController,
): Promise<Opened> {
  const { inFlight, breakers } = service
  const { signal } = controller
  const busy: Deployment[] = []
  const failures = new Failures(trace)
  const resting: { candidate: Deployment; restMs: number }[] = []
  let lastResort: Deployment | undefined
  /** What the request has failed of. `isOver`: no model helps but one for that. */
  const failedOf = new Set<FailureCause>()
  let isOver = false
  const isMeant = ({ on }: Deployment) => (on ? on.some(cause => failedOf.has(cause)) : !isOver)
  const counted = { client: trace.identity?.name ?? '', failedAt: new Set<string>() }
  // A breaker only leads to another channel. Without one, the request goes to the upstream.
  const others = new Set(incoming.candidates.map(({ channel }) => channel.name)).size > 1

  /** Undefined: it has failed, and the next one may be tried. */
  async function opened(candidate: Deployment, release: Release): Promise<Opened | undefined> {
    let isHeld = false
    try {
      const result = await tryOne(service, incoming, trace, {
        candidate,
        controller,
        others,
        counted,
      })
      if (!('again' in result)) {
        holdUntilEnd(release, trace, signal)
        isHeld = true
        if (candidate.fallback !== undefined)
          trace.notes.push(gatewayNote('gateway.fallback-model', ''))
        else if (failures.rejection || isSkipped(candidate))
          trace.notes.push(gatewayNote('gateway.failed-over', ''))
        return result
      }
      const cause = causeOf(result)
      if (cause) failedOf.add(cause)
      const isForAnother = incoming.candidates.some(one => one.on && isMeant(one))
      if (signal.aborted || (result.again === 'never' && !isForAnother))
        throw forClient(result.rejection)
      // What no channel mends is what the client has to know, whatever becomes of other models.
      const isKnown = isOver
      isOver ||= result.again === 'never'
      if (candidate !== incoming.candidates.at(-1) && candidate !== lastResort)
        reportFailed(service, trace, candidate, result.rejection)
      if (!isKnown) failures.add(candidate, result.rejection)
      return undefined
    } finally {
      if (!isHeld) release()
    }
  }

  async function openedInTurn(candidate: Deployment): Promise<Opened | undefined> {
    const waiting = inFlight.wait({
      name: slotOf(candidate),
      limit: candidate.channel.concurrentRequests,
      signal,
      rejection: channelIsBusy,
    })
    const release = await waiting.catch((rejection: GatewayError) => {
      if (signal.aborted) throw rejection
      failures.rejection ??= rejection
    })
    return release ? opened(candidate, release) : undefined
  }

  /** Did a channel before this one get no request? */
  const isSkipped = (candidate: Deployment) =>
    resting.length > 0 && resting[0]?.candidate !== candidate

  trace.tape?.({
    type: 'route',
    candidates: incoming.candidates.map(({ fallback, ...candidate }) => ({
      ...tapedChannel(candidate),
      ...(fallback !== undefined && { fallback }),
    })),
  })
  for (const candidate of incoming.candidates) {
    if (!isMeant(candidate)) continue
    const restMs = others ? breakers.restMs(candidate.channel, counted.client) : undefined
    if (restMs !== undefined) {
      resting.push({ candidate, restMs })
      trace.tape?.({ type: 'skip', reason: 'resting', ...tapedChannel(candidate) })
      continue
    }
    const release = inFlight.take(slotOf(candidate), candidate.channel.concurrentRequests)
    if (!release) {
      busy.push(candidate)
      trace.tape?.({ type: 'skip', reason: 'busy', ...tapedChannel(candidate) })
    }
    const response = release && (await opened(candidate, release))
    if (response) return response
  }
  // All others have failed, so these are worth a wait.
  for (const candidate of busy.filter(isMeant)) {
    const response = await openedInTurn(candidate)
    if (response) return response
  }
  // The only channel of a model gets requests whatever its breaker says, so several must not serve
  // fewer. A channel that limits its rate works, and its client knows when to come back.
  lastResort = leastBad(resting.filter(({ candidate }) => isMeant(candidate)))
  if (lastResort && failures.rejection?.error.status !== 429) {
    const response = await openedInTurn(lastResort)
    if (response) return response
  }
  throw failures.reported() ?? reject(404, 'not_found', 'no channel serves this model')
}

/** The open channel that would be tried again first. */
const leastBad = (resting: readonly { candidate: Deployment; restMs: number }[]) =>
  resting.toSorted((a, b) => a.restMs - b.restMs)[0]?.candidate

/**
 * The failures of an exchange. The client gets the first 429 or 5xx, else the last one, and the
 * record names its channel.
 */
class Failures {
  rejection: GatewayError | undefined
  readonly #trace: Trace
  #at: Pick<Trace, 'candidate' | 'upstreamRequestId'> | undefined

  constructor(trace: Trace) {
    this.#trace = trace
  }

  add(candidate: Deployment, rejection: GatewayError): void {
    const { upstreamRequestId } = this.#trace
    // Other errors, such as 401 or 404, may concern that channel only, so a later one replaces
    // them.
    if (
      !this.rejection ||
      (this.rejection.error.status < 500 && this.rejection.error.status !== 429)
    ) {
      this.rejection = rejection
      this.#at = { candidate, ...omitUndefined({ upstreamRequestId }) }
    }
    delete this.#trace.upstreamRequestId
  }

  reported(): GatewayError | undefined {
    Object.assign(this.#trace, this.#at)
    return this.rejection && forClient(this.rejection)
  }
}

const slotOf = ({ channel }: Deployment) => `channel ${channel.name}`

const channelIsBusy = () => tooManyAtOnce(503, 'channel')

/** Names the channel that failed: the client sees nothing of it when another one responds. */
function reportFailed(
  { log }: Service,
  { requestId }: Trace,
  { channel, model }: Deployment,
  rejection: GatewayError,
): void {
  const details = {
    requestId,
    channel: channel.name,
    model,
    status: rejection.error.status,
    failure: failureKind(rejection),
    error: wordsOf(rejection),
  }
  log('warn', details, 'a channel failed: the next one is tried')
}

/**
 * Tries one candidate, with up to `retries` further attempts. Between them it waits as long as the
 * upstream requested, else for a random, growing time.
 */
async function tryOne(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { candidate, controller, counted, others }: Attempted & { others: boolean },
): Promise<Opened | Failure> {
  const { retries, retryWaitMs } = service.config.defaults
  const isResting = () =>
    others && service.breakers.restMs(candidate.channel, counted.client) !== undefined
  const at: Target & Attempted = { candidate, controller, counted, dropped: [] }
  let earliest: Failure | undefined
  for (let left = retries; ; left--) {
    trace.attempts++
    trace.candidate = candidate
    const result = await attempt(service, incoming, trace, at)
    if (!('again' in result)) return result
    earliest ??= result
    const { again, waitMs = growingWait(retries - left, retryWaitMs) } = result
    if (again === 'never' || controller.signal.aborted) return result
    if (again !== 'here' || left === 0 || waitMs > retryWaitMs || isResting()) return earliest
    await pause(waitMs, controller.signal)
    // Other requests may have opened the circuit breaker during the wait.
    if (isResting()) return earliest
  }
}

type Attempted = Pick<Target, 'candidate' | 'controller'> & { counted: Counted }

/** A request loses no more fields than this at one channel: each costs a call. */
const mostDropped = 8

/** A refused field is left out, and the request sent once more. */
async function attempt(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  at: Target & Attempted,
): Promise<Opened | Failure> {
  const { candidate, controller, counted, dropped } = at
  const { channel, model } = candidate
  const result = await service.breakers.run(channel, counted, () =>
    call(service, incoming, trace, at),
  )
  if (!('again' in result) || result.wasNotSent || controller.signal.aborted) return result
  const { refusedField: refused } = result
  if (
    !refused ||
    !channel.learnUnsupported ||
    dropped.length === mostDropped ||
    dropped.some(({ field }) => field === refused.field)
  )
    return result
  service.log(
    'warn',
    { channel: channel.name, model, field: refused.field },
    'the upstream refuses a field: the request is sent again without it',
  )
  trace.attempts++
  dropped.push(refused)
  return attempt(service, incoming, trace, at)
}

/**
 * 100 ms, doubled with each wait before, and up to half of it less by chance: else all that failed
 * at once would come back at once.
 */
const growingWait = (waitsBefore: number, most: number) =>
  Math.min(100 * 2 ** waitsBefore, most) * (1 - Math.random() / 2)

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
