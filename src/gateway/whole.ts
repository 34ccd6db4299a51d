import { collectEvent, startCollecting } from '../canonical/collect.ts'
import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import { writeExact } from '../kit/json/digits.ts'
import { isObject } from '../kit/json/json.ts'
import type { Protocol, Signatures } from '../protocol.ts'
import { isChanged, translateCounted } from '../translate/response.ts'
import { renamed } from './body/outline.ts'
import { changedResponse } from './body-hooks.ts'
import { failedStream, streamEndedEarly } from './error.ts'
import { notesHeader } from './headers.ts'
import type { GatewayResponse } from './request.ts'
import type { RequestContext, Service, Trace } from './request-context.ts'
import { type Several, severalRead } from './several.ts'
import { completeOf, headersOf, recordUsage, sourceOf } from './source.ts'
import { keep } from './stored/keeping.ts'
import { eventsOf, type Stream } from './stream-hook.ts'
import { openFirst } from './upstream/attempts.ts'
import type { Opened, ReadResponse } from './upstream/opened.ts'
import { wholeWithoutCounts } from './use.ts'

export async function whole(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<GatewayResponse> {
  const call = openFirst(service, incoming, trace)
  const opened = await call.opened
  trace.firstByte ??= Date.now()
  const { candidate } = opened
  const read = await completeOf(opened, call.stop, trace)
  const { body, signatures, error, passed } = await responseForClient(service, incoming, trace, {
    opened,
    read,
  })
  if (service.responseStore) await keep(service, incoming, trace, { candidate, body, signatures })
  if (error) trace.ended(200, failedStream(error))
  return wholeResponse(service, trace, opened, passed ?? writeExact(body))
}

/** A whole response that may take several calls. @throws GatewayError */
export async function wholeOfSeveral(
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
export async function responseForClient(
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
  if (!usage?.output && opened.kind === 'json')
    trace.received = wholeWithoutCounts(read.value, from)
  // Between equal protocols a failed response is passed on unchanged; clients of other protocols
  // get an HTTP error.
  if (error && from !== protocol) throw failedStream(error)
  const change = error
    ? undefined
    : await changedResponse(service, trace, { protocol, model, body })
  return { body: change ? change.body : body, signatures, error, passed }
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
