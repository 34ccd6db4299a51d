import type { Protocol, Signatures } from '../protocol.ts'
import { framesOfText } from '../sse/framing.ts'
import { listOfFrames } from '../sse/list.ts'
import { streamHeaders } from '../sse/write.ts'
import { explodeResponse } from '../translate/fold.ts'
import { createByteTranslator } from '../translate/stream.ts'
import { only } from '../transports/bodies.ts'
import type { GatewayError } from './error.ts'
import { notesHeader } from './headers.ts'
import { freshIds } from './ids.ts'
import type { RelayOptions, RelaySource } from './relay.ts'
import { relayed } from './relayed.ts'
import type { GatewayResponse } from './request.ts'
import type { RequestContext, Service, Trace } from './request-context.ts'
import { resumed, resumes } from './resume/resume.ts'
import { type Several, severalRead } from './several.ts'
import { completeOf, headersOf, sourceOf } from './source.ts'
import { keepingOf } from './stored/keeping.ts'
import { changedStream, eventsOf, type Stream } from './stream-hook.ts'
import { openFirst } from './upstream/attempts.ts'
import type { Deployment } from './upstream/catalog.ts'
import { responseForClient } from './whole.ts'

export async function streamed(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  several: Several,
): Promise<GatewayResponse> {
  // Single values, so that closures that live as long as the stream do not keep the whole request
  // in memory.
  const { protocol, model, asList } = incoming
  const { framing } = protocol
  const { signal } = incoming.request
  const { defaults } = service.config
  let call = openFirst(service, incoming, trace)
  const stop = (reason: GatewayError) => call.stop(reason)
  const continued = continuedBy(service, incoming, trace, {
    ask: async next => {
      call = openFirst(service, next, trace)
      const opened = await call.opened
      return { opened, read: () => sourceOf(opened, protocol, trace), stop }
    },
    ...several,
  })
  let headers = {}
  let served: Deployment | undefined
  let hooked: Hooked | undefined
  const keeping = service.responseStore && keepingOf(service, incoming, trace)
  const options: RelayOptions = {
    breaksOff: !asList && protocol.frames.breaksOff,
    protocol,
    head() {
      const { now, newId } = freshIds()
      return { id: newId('resp_'), model, createdAt: now }
    },
    keepAliveMs: defaults.keepAliveMs,
    async open() {
      const opened = await call.opened
      served = opened.candidate
      // What is stored contains the request.
      if (!keeping && !continued) trace.memory?.release()
      headers = headersOf(opened)
      hooked = await hookedStream(service, { protocol, model }, trace, {
        opened,
        read: () => sourceOf(opened, protocol, trace),
        stop,
        ...(continued && { continued }),
      })
      return hooked?.source ?? sourceOf(opened, protocol, trace)
    },
    keeping: keeping && {
      sent: keeping.sent,
      whole: async ({ signatures }) =>
        served && keeping.whole(served, hooked?.kept.signatures ?? signatures),
    },
    stop,
    onEnd(failure, translator) {
      if (!failure) trace.firstByte ??= Date.now()
      if (!translator) return
      trace.notes.push(...translator.notes)
      if (translator.usage) trace.usage ??= translator.usage
    },
  }
  const body = await relayed(options, { signal, trace })
  return {
    status: 200,
    headers: Object.assign(
      {},
      streamHeaders,
      framing && { 'content-type': framing.contentType },
      asList && { 'content-type': 'application/json; charset=utf-8' },
      headers,
      defaults.notesHeader && notesHeader(trace.notes),
    ),
    body: inFraming(body, framing, asList),
  }
}

type Further = Several & {
  /** Makes a further call. */
  ask(incoming: RequestContext): Promise<Stream>
}

/**
 * Reads the events of a stream and of further calls: those that continue it, those with the results
 * of tools, and one for JSON that fits. Undefined: there are none. Only these closures keep the
 * request.
 */
function continuedBy(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { ask, ...several }: Further,
): Stream['continued'] {
  const { protocol } = incoming
  const read = (stream: Stream, given: RequestContext) =>
    resumes(given)
      ? resumed(stream, { service, incoming: given, trace, ask })
      : eventsOf(stream, protocol, trace)
  const all = severalRead(several, incoming, { service, trace, ask, read })
  if (all) return all
  return resumes(incoming) ? first => read(first, incoming) : undefined
}

function inFraming(
  body: AsyncIterable<string | Uint8Array>,
  framing: Protocol['framing'],
  asList: RequestContext['asList'],
): AsyncIterable<string | Uint8Array> {
  if (framing) return framesOfText(body, framing)
  return asList ? listOfFrames(body) : body
}

/** `kept.signatures`: those to store, which `source` does not contain. */
type Hooked = { source: RelaySource; kept: { signatures?: Signatures | undefined } }

/**
 * The stream that `onStream` or `onResponse` makes. Undefined: neither hook takes it, and nothing
 * was read.
 * @throws GatewayError, TranslationError
 */
async function hookedStream(
  service: Service,
  incoming: Pick<RequestContext, 'protocol' | 'model'>,
  trace: Trace,
  stream: Stream,
): Promise<Hooked | undefined> {
  const { opened, stop } = stream
  const { protocol } = incoming
  const changed = changedStream(service, incoming, trace, stream)
  if (changed) return { source: changed, kept: stream }
  if (!service.hooks.onResponse) return undefined
  // This hook needs the complete response.
  const read = await completeOf(opened, stop, trace)
  const { body, signatures } = await responseForClient(service, incoming, trace, { opened, read })
  const { text } = explodeResponse(body, protocol, opened.settings)
  const source = {
    translator: createByteTranslator(protocol, protocol, opened.settings),
    raw: true,
    idleMs: 0,
    body: only(text),
  }
  return { source, kept: { signatures } }
}
