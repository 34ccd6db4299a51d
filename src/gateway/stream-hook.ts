import type { CanonicalEvent } from '../canonical/event.ts'
import type { Protocol, Signatures } from '../protocol.ts'
import { isProtocolName } from '../protocols/index.ts'
import { createByteTranslator } from '../translate/stream.ts'
import { createStreamReader } from '../translate/stream-reader.ts'
import { AfterFinish, brokenBy } from './after-finish.ts'
import { GatewayError, hookFailed, reject } from './error.ts'
import { newNotes } from './new-notes.ts'
import { drain, type RelayOptions, type RelaySource } from './relay.ts'
import type { RequestContext, Service, Trace } from './request-context.ts'
import type { Opened } from './upstream/opened.ts'

/**
 * `read`: begins to read the upstream's response, as a stream in the client's protocol. `isRead`:
 * to its end. `signatures`: those to store, which the events do not contain.
 */
export type Stream = {
  opened: Opened
  read(): Promise<RelaySource>
  stop: RelayOptions['stop']
  /** Reads its events, and those of further attempts that continue it. */
  continued?: typeof eventsOf
  isRead?: boolean
  signatures?: Signatures
}

/** What reads a response that may take several calls. `ask`: makes a further one. */
export type Reading = {
  service: Service
  trace: Trace
  ask(incoming: RequestContext): Promise<Stream>
  /** Reads one stream. */
  read(stream: Stream, incoming: RequestContext): AsyncIterable<CanonicalEvent>
}

/**
 * The stream that `onStream` makes of a stream in the client's protocol. Undefined: the hook leaves
 * this one alone, and nothing was read.
 * @throws GatewayError that the hook throws before it returns
 */
export function changedStream(
  { hooks }: Service,
  { protocol, model }: Pick<RequestContext, 'protocol' | 'model'>,
  trace: Trace,
  stream: Stream,
): RelaySource | undefined {
  const { onStream } = hooks
  const { name } = protocol
  const { continued } = stream
  const events = continued ?? eventsOf
  if ((!onStream && !continued) || !isProtocolName(name)) return undefined
  const { identity = {}, request } = trace
  const read = events(stream, protocol, trace)
  const hooked = guarded(() => onStream?.(read, { protocol: name, model, identity, request }))
  const changed = hooked ?? (continued && read)
  if (!changed) return undefined
  const { now, newId } = stream.opened.settings
  const taken: CanonicalEvent[] = []
  const translator = createByteTranslator(readingFrom(taken, protocol), protocol, { now, newId })
  return { translator, raw: false, idleMs: 0, body: framesOf(changed, taken, stream) }
}

/** A protocol whose streams contain, at each frame, the events that were taken until then. */
function readingFrom(
  taken: CanonicalEvent[],
  { shortcut: _, framing: __, ...protocol }: Protocol,
): Protocol {
  const streamDecoder: Protocol['streamDecoder'] = {
    initial: () => ({ notes: [] }),
    step: (_state, _frame, emit) => taken.splice(0).forEach(emit),
    end() {},
  }
  return { ...protocol, streamDecoder }
}

/** A frame for each event. */
async function* framesOf(
  events: AsyncIterable<CanonicalEvent>,
  taken: CanonicalEvent[],
  stream: Stream,
): AsyncGenerator<string, undefined> {
  try {
    for await (const event of events) {
      taken.push(event)
      yield 'data: {}\n\n'
    }
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : hookFailed('onStream', thrown)
  } finally {
    if (!stream.isRead)
      stream.stop(reject(502, 'internal', 'the hook onStream has ended the stream'))
  }
}

function guarded<T>(act: () => T): T {
  try {
    return act()
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : hookFailed('onStream', thrown)
  }
}

/**
 * The events of a stream. Ends the upstream call when they are no longer read.
 * @throws GatewayError when the connection breaks, or is silent for too long
 */
export async function* eventsOf(
  stream: Stream,
  protocol: Protocol,
  trace: Trace,
): AsyncGenerator<CanonicalEvent, undefined> {
  const { read, opened, stop } = stream
  const { translator, body, idleMs, out } = await read()
  const pending: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, {}, event => {
    // As the upstream reported it, not as the client's protocol does.
    pending.push(
      event.type === 'error' && translator.error ? { ...event, error: translator.error } : event,
    )
  })
  const afterFinish = new AfterFinish()
  let broken: ReturnType<typeof brokenBy> | undefined
  const chunks = opened
    .watched({ [Symbol.asyncIterator]: () => body }, () =>
      afterFinish.idleMs(translator.finishes, idleMs),
    )
    [Symbol.asyncIterator]()
  try {
    if (out) reader.push(out)
    while (!reader.seen.ended) {
      yield* pending.splice(0)
      const next = await chunks.next().catch(brokenBy)
      if ('error' in next) {
        broken = next
        break
      }
      if (next.done || afterFinish.isOver()) break
      reader.push(translator.push(next.value))
    }
    reader.push(translator.end())
    reader.end()
    if (broken && !reader.seen.clean) throw broken.error
    stream.isRead = true
  } finally {
    if (translator.usage) trace.usage ??= translator.usage
    trace.notes.push(...newNotes(trace.notes, translator.notes))
    stream.signatures = translator.signatures
    if (stream.isRead && reader.seen.clean) drain(chunks, stop)
    else chunks.return?.()?.catch(() => {})
  }
  yield* pending.splice(0)
  return undefined
}
