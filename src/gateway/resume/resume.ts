import type { CanonicalEvent } from '../../canonical/event.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { brokenOff, failedStream, GatewayError, mayRetry, streamEndedEarly } from '../error.ts'
import { newNotes } from '../new-notes.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import { eventsOf, type Stream } from '../stream-hook.ts'
import { forgetCall } from '../use.ts'
import { continuedBody } from './continued.ts'
import { Mismatch, Seam } from './seam.ts'

/** How often a stream is continued. */
const mostAttempts = 3

/** In milliseconds, from the start of the exchange. Later a stream is not continued. */
const mostMs = 10 * 60_000

/** Is a stream of this request continued when it breaks? */
export const resumes = ({ candidates }: RequestContext): boolean =>
  candidates[0]?.entry.resume === true

/** `ask`: makes the call of a further attempt. */
type Again = {
  service: Service
  incoming: RequestContext
  trace: Trace
  ask(incoming: RequestContext): Promise<Stream>
}

/**
 * The events of a stream, and of further attempts that continue it when it breaks.
 * @throws GatewayError when it breaks, and cannot be continued
 */
export async function* resumed(
  first: Stream,
  again: Again,
): AsyncGenerator<CanonicalEvent, undefined> {
  const seam = new Seam()
  let stream = first
  for (let attempt = 0; ; attempt++) {
    const broken = yield* attempted(stream, seam, again)
    Object.assign(first, omitUndefined({ isRead: stream.isRead, signatures: stream.signatures }))
    if (!broken) return undefined
    const next = mayResume(broken, seam, again, attempt)
      ? await nextStream(broken, seam, again)
      : undefined
    if (!next) {
      if (broken.events.length === 0) throw broken.failure
      yield* broken.events
      return undefined
    }
    stream = next
  }
}

/** `events`: how it ended. Empty: by what was thrown. */
type Broken = { failure: GatewayError; events: CanonicalEvent[] }

async function* attempted(
  stream: Stream,
  seam: Seam,
  { incoming: { protocol }, trace }: Again,
): AsyncGenerator<CanonicalEvent, Broken | undefined> {
  const ending: CanonicalEvent[] = []
  let failure: GatewayError | undefined
  try {
    for await (const event of eventsOf(stream, protocol, trace)) {
      if (event.type === 'error') failure = failedStream(event.error)
      else if (event.type === 'end' && !event.clean) failure ??= streamEndedEarly()
      if (failure) ending.push(event)
      else yield* seam.take(event)
    }
  } catch (thrown) {
    if (thrown instanceof Mismatch) return { failure: streamEndedEarly(), events: [] }
    return { failure: thrown instanceof GatewayError ? thrown : brokenOff(thrown), events: [] }
  }
  return failure && { failure, events: ending }
}

function mayResume(
  { failure }: Broken,
  seam: Seam,
  { incoming, trace }: Again,
  attempt: number,
): boolean {
  return (
    attempt < mostAttempts &&
    mayRetry(failure) &&
    seam.sent !== undefined &&
    !incoming.request.signal.aborted &&
    Date.now() - trace.started < mostMs
  )
}

/** Undefined: no further attempt has begun to respond. */
async function nextStream(
  { failure }: Broken,
  seam: Seam,
  { service, incoming, trace, ask }: Again,
): Promise<Stream | undefined> {
  const { requestId, candidate, notes } = trace
  service.log(
    'warn',
    { requestId, channel: candidate?.channel.name, error: failure.message },
    'a stream broke: it is continued',
  )
  seam.spend(forgetCall(trace, failure))
  const text = seam.sent ?? ''
  const bodyFor: RequestContext['bodyFor'] = candidate => {
    const body = incoming.bodyFor?.(candidate) ?? incoming.body
    return continuedBody({ ...incoming, body }, text, candidate)
  }
  try {
    const stream = await ask({ ...incoming, bodyFor })
    seam.cut()
    const earlier = [...notes, gatewayNote('gateway.resumed', '')]
    trace.notes.unshift(...newNotes(trace.notes, earlier))
    return stream
  } catch {
    trace.notes = notes
    return undefined
  }
}
