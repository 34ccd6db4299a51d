import { collectEvent, startCollecting } from '../canonical/collect.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import type { Protocol } from '../protocol.ts'
import { asEvents, encodeCollected, explodeResponse, notesOfFailed } from '../translate/fold.ts'
import { changesResponse } from '../translate/settings.ts'
import { createByteTranslator } from '../translate/stream.ts'
import { createStreamReader } from '../translate/stream-reader.ts'
import { only } from '../transports/bodies.ts'
import { AfterFinish, brokenBy } from './after-finish.ts'
import { failedStream, type GatewayError, streamEndedEarly } from './error.ts'
import { keptHeaders } from './headers.ts'
import { drain, type RelaySource } from './relay.ts'
import type { Trace } from './request-context.ts'
import type { Opened, ReadResponse } from './upstream/opened.ts'
import { bounded, objectOf, readWhole } from './upstream/response.ts'

/** Headers of the upstream that clients use, and the name of a fallback model. */
export function headersOf({
  response,
  candidate: { channel, fallback },
}: Opened): Record<string, string> {
  const kept = keptHeaders(response.headers, channel.returnHeaders)
  if (fallback !== undefined) kept['wireglot-fallback'] = fallback
  return kept
}

/** The upstream's response as a stream, even if it came as JSON. */
export async function sourceOf(
  opened: Opened,
  protocol: Protocol,
  trace: Trace,
): Promise<RelaySource> {
  const { candidate, settings, response, kind, idleMs, begun } = opened
  const from = candidate.protocol
  const raw = from === protocol && !changesResponse(settings)
  const translated = (source: Protocol) => {
    const translator = createByteTranslator(source, protocol, settings)
    trace.received = translator
    return translator
  }
  if (begun) {
    trace.received = begun.translator
    const source = { raw, idleMs, ...begun }
    // What is sent is not kept as long as the stream.
    begun.out = ''
    return source
  }
  if (kind === 'stream')
    return {
      translator: translated(from),
      raw,
      idleMs,
      body: response.body[Symbol.asyncIterator](),
    }
  const { value } = await readOf(opened)
  recordUsage(value, opened, trace)
  if (from !== protocol) {
    const events = asEvents(value, from, settings)
    return { translator: translated(events.from), raw, idleMs: 0, body: only(events.text) }
  }
  const { text, notes } = explodeResponse(value, from, settings)
  trace.notes.push(...notes)
  return { translator: translated(from), raw, idleMs: 0, body: only(text) }
}

/** Keeps the usage of a response that `strict` refuses: it has to be paid for anyway. */
export function recordUsage(value: unknown, { candidate, settings }: Opened, trace: Trace): void {
  const { usage } = candidate.protocol.outcome(value, settings)
  if (usage) trace.usage ??= usage
}

/** A response that is not a stream. The demo model has no attempt that reads it. */
const readOf = async (opened: Opened): Promise<ReadResponse> =>
  opened.read ?? { value: objectOf(await readWhole(opened), opened.candidate.protocol) }

/** A response as a whole, also one that comes as a stream. @throws GatewayError */
export const completeOf = (
  opened: Opened,
  stop: (reason: GatewayError) => void,
  trace: Trace,
): Promise<ReadResponse> =>
  opened.kind === 'stream' ? gather(opened, stop, trace) : readOf(opened)

/**
 * Collects a stream, for a client that wants JSON.
 * @throws GatewayError if the stream failed or was cut off
 */
async function gather(
  opened: Opened,
  stop: (reason: GatewayError) => void,
  trace: Trace,
): Promise<ReadResponse> {
  const { candidate, settings, response: received, idleMs } = opened
  const from = candidate.protocol
  const into = startCollecting()
  const reader = createStreamReader(from, settings, event => collectEvent(into, event))
  trace.received = reader
  let broken: ReturnType<typeof brokenBy> | undefined
  let length = 0
  const afterFinish = new AfterFinish()
  const chunks = opened
    .watched(received.body, () => afterFinish.idleMs(reader.finishes, idleMs))
    [Symbol.asyncIterator]()
  try {
    for (
      let next = await chunks.next();
      !next.done && !afterFinish.isOver();
      next = await chunks.next()
    ) {
      length = bounded(length + next.value.length)
      reader.push(next.value)
      if (!reader.seen.ended) continue
      drain(chunks, stop)
      break
    }
  } catch (error) {
    broken = brokenBy(error)
  } finally {
    if (!reader.seen.ended) chunks.return?.()?.catch(() => {})
    reader.end()
    if (reader.seen.usage) trace.usage = reader.seen.usage
  }
  const { response, clean }: { response: CanonicalResponse; clean: boolean } = into
  if (response.error || !clean) {
    trace.notes.push(...notesOfFailed(response, reader, from))
    if (response.error) throw failedStream(response.error)
    throw broken ? broken.error : streamEndedEarly()
  }
  const { body, notes } = encodeCollected(response, reader, from, settings)
  trace.notes.push(...notes)
  return { value: body }
}
