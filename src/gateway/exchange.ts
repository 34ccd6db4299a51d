import { collectEvent, startCollecting } from '../canonical/collect.ts'
import type { CanonicalError } from '../canonical/error.ts'
import type { ControlPart } from '../canonical/message.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import { writeExact } from '../kit/json/digits.ts'
import { isObject } from '../kit/json/json.ts'
import type { Protocol, Signatures } from '../protocol.ts'
import { framesOfText } from '../sse/framing.ts'
import { listOfFrames } from '../sse/list.ts'
import { streamHeaders } from '../sse/write.ts'
import { asEvents, encodeCollected, explodeResponse, notesOfFailed } from '../translate/fold.ts'
import { isChanged, translateCounted } from '../translate/response.ts'
import { changesResponse } from '../translate/settings.ts'
import { createByteTranslator } from '../translate/stream.ts'
import { createStreamReader } from '../translate/stream-reader.ts'
import { only } from '../transports/bodies.ts'
import { AfterFinish, brokenBy } from './after-finish.ts'
import { atEnd } from './at-end.ts'
import { renamed } from './body/outline.ts'
import { changedResponse } from './body-hooks.ts'
import { compactionAsked } from './compaction/asked.ts'
import { withCompaction } from './compaction/compaction.ts'
import { failedStream, type GatewayError, streamEndedEarly } from './error.ts'
import { keptHeaders, notesHeader } from './headers.ts'
import { freshIds } from './ids.ts'
import { withDocumentText } from './media/documents.ts'
import { withDescriptions } from './media/media.ts'
import { expectedOf } from './output/checked.ts'
import { drain, type RelayOptions, type RelaySource } from './relay.ts'
import { relayed } from './relayed.ts'
import type { GatewayResponse } from './request.ts'
import type { RequestContext, Service, Trace } from './request-context.ts'
import { resumed, resumes } from './resume/resume.ts'
import { runningOf } from './server-tools/running.ts'
import { type Several, severalRead } from './several.ts'
import { keep, keepingOf } from './stored/keeping.ts'
import { recall } from './stored/recall.ts'
import { changedStream, eventsOf, type Stream } from './stream-hook.ts'
import { openFirst } from './upstream/attempts.ts'
import type { Deployment } from './upstream/catalog.ts'
import type { Opened, ReadResponse } from './upstream/opened.ts'
import { bounded, objectOf, readWhole } from './upstream/response.ts'
import { isInBackground, likelyUse, useOf, wholeWithoutCounts } from './use.ts'

/** Handles a generation request. @throws GatewayError, TranslationError */
export async function generate(
  service: Service,
  received: RequestContext,
  trace: Trace,
): Promise<GatewayResponse> {
  // Without the setting nothing is awaited: that costs a turn of each request.
  const asked = service.seal && (await compactionAsked(received))
  if (!asked) return generated(service, received, trace)
  const made = await withCompaction(service, received, trace, { asked, answer })
  return 'status' in made ? made : generated(service, made.incoming, trace, made.part)
}

/** `part`: what the response begins with. */
async function generated(
  service: Service,
  received: RequestContext,
  trace: Trace,
  part?: ControlPart,
): Promise<GatewayResponse> {
  const told = service.hooks.documentText
    ? await withDocumentText(service, received, trace)
    : received
  const seen = told.candidates[0]?.entry.media?.describe
    ? await withDescriptions(service, told, trace, answer)
    : told
  const recalled = await recall(service, seen, trace.identity ?? {})
  notePrefix(service, recalled, trace)
  if (recalled.protocol.address.stored) rememberUse(service, recalled, trace)
  const running = service.hooks.serverTools && (await runningOf(service, recalled, trace))
  const expected = expectedOf(recalled)
  const incoming = running?.incoming ?? recalled
  const several = { running, expected, part }
  if (incoming.stream) return streamed(service, incoming, trace, several)
  return running || expected || part
    ? wholeOfSeveral(service, incoming, trace, several)
    : whole(service, incoming, trace)
}

/** The response of a model to a request. @throws GatewayError, TranslationError */
export async function answer(
  service: Service,
  received: RequestContext,
  trace: Trace,
): Promise<CanonicalResponse> {
  const incoming = await recall(service, received, trace.identity ?? {})
  const { protocol } = incoming
  const { opened: first, stop } = openFirst(service, incoming, trace)
  const opened = await first
  const read = opened.kind === 'stream' ? await gather(opened, stop, trace) : await readOf(opened)
  const { body, error } = await responseForClient(service, incoming, trace, { opened, read })
  if (error) throw failedStream(error)
  return protocol.decodeResponse(body).value
}

/** Compares the prompt with the one before. What the client sent is there before it is translated. */
function notePrefix(
  { prefixes, config: { groups } }: Service,
  { request: { headers }, body, protocol, model }: RequestContext,
  trace: Trace,
): void {
  const { id, name = '', group } = trace.identity ?? {}
  if (group !== undefined && Object.hasOwn(groups, group) && !groups[group]?.cachePrefix) return
  const found = prefixes?.compare({ headers, model, client: id ?? name }, body, protocol)
  if (found) trace.cachePrefix = found
}

/** A later call may show the response again, or what it has used since then. */
function rememberUse(
  { background }: Service,
  { body, protocol }: RequestContext,
  trace: Trace,
): void {
  if (isInBackground(body.outline, protocol)) trace.expected = likelyUse(body, protocol).output
  atEnd(trace, () => {
    const id = trace.received?.id ?? trace.responseId
    const usage = useOf(trace)
    if (id !== undefined && usage) background.counted(id, usage)
  })
}

async function streamed(
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
  const read = opened.kind === 'stream' ? await gather(opened, stop, trace) : await readOf(opened)
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

/** Headers of the upstream that clients use, and the name of a fallback model. */
function headersOf({ response, candidate: { channel, fallback } }: Opened): Record<string, string> {
  const kept = keptHeaders(response.headers, channel.returnHeaders)
  if (fallback !== undefined) kept['wireglot-fallback'] = fallback
  return kept
}

/** The upstream's response as a stream, even if it came as JSON. */
async function sourceOf(opened: Opened, protocol: Protocol, trace: Trace): Promise<RelaySource> {
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

async function whole(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<GatewayResponse> {
  const call = openFirst(service, incoming, trace)
  const opened = await call.opened
  trace.firstByte ??= Date.now()
  const { candidate } = opened
  const read =
    opened.kind === 'stream' ? await gather(opened, call.stop, trace) : await readOf(opened)
  const { body, signatures, error, passed } = await responseForClient(service, incoming, trace, {
    opened,
    read,
  })
  if (service.responseStore) await keep(service, incoming, trace, { candidate, body, signatures })
  if (error) trace.ended(200, failedStream(error))
  return wholeResponse(service, trace, opened, passed ?? writeExact(body))
}

/** A whole response that may take several calls. @throws GatewayError */
async function wholeOfSeveral(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  several: Several,
): Promise<GatewayResponse> {
  const { protocol, model } = incoming
  let last: Opened | undefined
  const ask = async (next: RequestContext): Promise<Stream> => {
    const call = openFirst(service, next, trace)
    const opened = await call.opened
    last = opened
    const counted = { ...opened, settings: withUsage(opened.settings) }
    return { opened, read: () => sourceOf(counted, protocol, trace), stop: call.stop }
  }
  const first = await ask(incoming)
  trace.firstByte ??= Date.now()
  const into = startCollecting()
  const read = (stream: Stream) => eventsOf(stream, protocol, trace)
  const all = severalRead(several, incoming, { service, trace, ask, read })
  for await (const event of (all ?? eventsOf)(first, protocol, trace)) collectEvent(into, event)
  const { response, clean }: { response: CanonicalResponse; clean: boolean } = into
  if (response.error) throw failedStream(response.error)
  if (!clean) throw streamEndedEarly()
  const opened = last ?? first.opened
  const { candidate, settings } = opened
  const { wire, notes } = protocol.encodeResponse(response, optionsFor(protocol, settings))
  trace.notes.push(...notes)
  const change = await changedResponse(service, trace, { protocol, model, body: wire })
  const body = change ? change.body : wire
  if (service.responseStore)
    await keep(service, incoming, trace, { candidate, body, signatures: first.signatures })
  return wholeResponse(service, trace, opened, writeExact(body))
}

/** Whole responses have usage, also where a stream has it only on demand. */
function withUsage({ context, ...settings }: Opened['settings']): Opened['settings'] {
  const request = { messages: [], ...context?.request }
  const stream = { ...request.stream, enabled: true, includeUsage: true }
  return { ...settings, context: { ...context, request: { ...request, stream } } }
}

const wholeResponse = (
  { config: { defaults } }: Service,
  trace: Trace,
  opened: Opened,
  body: GatewayResponse['body'],
): GatewayResponse => ({
  status: 200,
  headers: {
    'content-type': 'application/json',
    ...headersOf(opened),
    ...(defaults.notesHeader && notesHeader(trace.notes)),
  },
  body,
})

type ResponseForClient = {
  body: unknown
  signatures: Signatures | undefined
  error: CanonicalError | undefined
  passed: Uint8Array<ArrayBuffer> | undefined
}

/**
 * A complete response for the client, as `onResponse` wants it. `passed`: its bytes, if they stay.
 * @throws GatewayError, TranslationError
 */
async function responseForClient(
  service: Service,
  { protocol, model }: Pick<RequestContext, 'protocol' | 'model'>,
  trace: Trace,
  { opened, read }: { opened: Opened; read: ReadResponse },
): Promise<ResponseForClient> {
  const { candidate, settings } = opened
  const from = candidate.protocol
  const passed =
    from === protocol &&
    read.bytes &&
    !service.hooks.onResponse &&
    !isChanged(read.value, from, settings)
      ? passedOn(read.bytes, settings.model)
      : undefined
  const { body, notes, signatures, usage, error }: ReturnType<typeof translateCounted> =
    passed === undefined
      ? counted(read.value, opened, protocol, trace)
      : { body: read.value, notes: [], ...(read.outcome ?? from.outcome(read.value, settings)) }
  trace.notes.push(...notes)
  trace.usage ??= usage ?? {}
  if (isObject(read.value) && typeof read.value['id'] === 'string')
    trace.responseId = read.value['id']
  if (!usage && opened.kind === 'json') trace.received = wholeWithoutCounts(read.value, from)
  // Between equal protocols a failed response is passed on unchanged; clients of other protocols
  // get an HTTP error.
  if (error && from !== protocol) throw failedStream(error)
  const change = error
    ? undefined
    : await changedResponse(service, trace, { protocol, model, body })
  return { body: change ? change.body : body, signatures, error, passed }
}

/** Keeps the usage of a response that `strict` refuses: it has to be paid for anyway. */
function recordUsage(value: unknown, { candidate, settings }: Opened, trace: Trace): void {
  const { usage } = candidate.protocol.outcome(value, settings)
  if (usage) trace.usage ??= usage
}

/** Translates a complete response. @throws TranslationError */
function counted(
  value: unknown,
  opened: Opened,
  to: Protocol,
  trace: Trace,
): ReturnType<typeof translateCounted> {
  const { candidate, settings } = opened
  const from = candidate.protocol
  try {
    const translated = translateCounted(value, from, to, settings)
    return from === to ? { ...translated, ...from.outcome(value, settings) } : translated
  } catch (error) {
    recordUsage(value, opened, trace)
    throw error
  }
}

const passedOn = (bytes: Uint8Array<ArrayBuffer>, model: string | undefined) =>
  model === undefined ? bytes : renamed(bytes, model)

/** A response that is not a stream. The demo model has no attempt that reads it. */
const readOf = async (opened: Opened): Promise<ReadResponse> =>
  opened.read ?? { value: objectOf(await readWhole(opened), opened.candidate.protocol) }

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
