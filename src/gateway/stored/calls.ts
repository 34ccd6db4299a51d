import type { Protocol } from '../../protocol.ts'
import { streamHeaders } from '../../sse/write.ts'
import { renamed } from '../body/outline.ts'
import { proxyOf } from '../channel.ts'
import { channelAtLimit, forClient, GatewayError, reject, rejectionOf } from '../error.ts'
import { keptHeaders } from '../headers.ts'
import type { Identity } from '../hooks.ts'
import type { ChannelEntry, ParsedConfig } from '../options.ts'
import { relayed } from '../relayed.ts'
import { type GatewayRequest, type GatewayResponse, jsonResponse } from '../request.ts'
import type { Service, Trace } from '../request-context.ts'
import type { StoredRoute } from '../route.ts'
import { addressed, limitTotal, linked } from '../upstream/call.ts'
import { failureOf, unreachable } from '../upstream/failure.ts'
import { withoutSecrets } from '../upstream/redact.ts'
import { objectOf, readSome, readWhole, watch } from '../upstream/response.ts'
import type { Kept } from './response-store.ts'
import { countShown } from './shown.ts'
import { StoredStream } from './stream.ts'

type Call = Omit<StoredRoute, 'kind'> & { request: GatewayRequest }

/**
 * Handles a call about a stored response: from the gateway's store, or by the channel whose
 * provider stores it.
 * @throws GatewayError 404 for an unknown response
 */
export async function handleStored(
  service: Service,
  call: Call,
  trace: Trace,
): Promise<GatewayResponse> {
  const { stored, requested, method, request } = call
  const { responseStore } = service
  const owner = trace.identity ?? {}
  // Upstream it would be a step of the path.
  if (/^\.{1,2}$/.test(requested.id))
    throw new GatewayError(stored.unknown('response', requested.id))
  const kept = await responseStore?.response(owner, requested.id)
  if (kept?.body === undefined) {
    const response = await forward(
      service,
      { ...call, channel: channelFor(service, call, { kept, owner }), model: kept?.model },
      trace,
    )
    if (method === 'DELETE') await responseStore?.forget(owner, requested.id, [])
    return response
  }
  if (requested.part === 'cancel') throw new GatewayError(stored.finished)
  if (method === 'DELETE') {
    await responseStore?.forget(owner, requested.id, stored.itemsOf(kept.body))
    return jsonResponse(stored.deleted(requested.id))
  }
  return jsonResponse(
    stored.show({ body: kept.body, input: kept.input ?? [] }, requested.part, request.query),
  )
}

/**
 * The channel whose provider stores the response: known from the store, or the only possible one.
 */
function channelFor(
  { config, catalog, responseStore }: Service,
  { protocol, stored, requested }: Call,
  { kept, owner }: { kept: Kept | undefined; owner: Identity },
) {
  const unknown = stored.unknown('response', requested.id)
  const speaking = config.channels.filter(
    channel => !channel.embedded && channel.protocols?.some(name => name === protocol.name),
  )
  if (responseStore) {
    const keeper = speaking.find(({ name }) => name === kept?.channel)
    if (keeper) return keeper
    throw new GatewayError(unknown)
  }
  const [only, ...others] = speaking.filter(channel => catalog.reaches(channel, owner))
  if (only && others.length === 0) return only
  const why = only
    ? 'Several channels may have it, and without a `store` the gateway does not know which.'
    : 'The gateway stores no responses (no `store` is configured), and no channel speaks this protocol.'
  throw new GatewayError({ ...unknown, message: `${unknown.message} ${why}` })
}

/** Forwards the call to the upstream and returns its response unchanged. */
async function forward(
  service: Service,
  {
    protocol,
    stored,
    requested,
    method,
    request,
    channel,
    model,
  }: Call & { channel: ChannelEntry; model: string | undefined },
  trace: Trace,
): Promise<GatewayResponse> {
  const { send, limits, config } = service
  const shown = { protocol, channel: channel.name, model, trace }
  const retryAfterMs = (await limits.take(`channel ${channel.name}`, channel.requestsPerMinute))
    ?.waitMs
  if (retryAfterMs !== undefined) throw channelAtLimit(retryAfterMs)
  const { connectMs, firstByteMs, idleMs } = channel.timeouts
  const controller = linked(request.signal)
  limitTotal(channel, trace, controller)
  const timer = firstByteMs
    ? setTimeout(
        () => controller.abort(reject(504, 'timeout', 'the upstream did not respond in time')),
        firstByteMs,
      )
    : undefined
  try {
    const accept = 'application/json, text/event-stream'
    const place = addressed(
      { channel, protocol, caller: protocol, path: stored.target(requested), accept },
      request,
      trace,
    )
    const call = {
      ...place,
      method,
      body: undefined,
      signal: controller.platform,
      connectMs,
      ...proxyOf(channel),
    }
    const response = withoutSecrets(await send(channel, call), channel)
    const watched = (body: typeof response.body) => watch(body, idleMs, controller)
    if (response.status < 200 || response.status >= 300)
      throw forClient(
        failureOf(await readSome(watched(response.body)), response, {
          from: protocol,
          to: protocol,
          channel,
        }).rejection,
      )
    const { status } = response
    const kept = keptHeaders(response.headers, channel.returnHeaders)
    if (/^text\/event-stream/i.test(response.headers['content-type'] ?? '')) {
      const stop = (reason: GatewayError) => controller.abort(reason)
      const around = {
        protocol,
        signal: request.signal,
        trace,
        defaults: config.defaults,
        onEnd: (response: unknown) => countShown(service, response, shown),
      }
      return {
        status,
        headers: { ...streamHeaders, ...kept },
        body: await streamed(
          { body: response.body, idleMs, model, stop, id: requested.id },
          around,
        ),
      }
    }
    const bytes = await readWhole({ response, watched })
    const value = bytes.length > 0 ? objectOf(bytes, protocol) : undefined
    if (method !== 'DELETE') countShown(service, value, shown)
    // Never the upstream's content type: as HTML, a script in it could use the gateway with the
    // rights of its page.
    return {
      status,
      headers: { 'content-type': 'application/json', ...kept },
      body: (model === undefined ? undefined : renamed(bytes, model)) ?? bytes,
    }
  } catch (error) {
    if (error instanceof GatewayError) throw error
    if (controller.signal.aborted) throw rejectionOf(controller.signal.reason, 'upstream')
    throw unreachable(error)
  } finally {
    clearTimeout(timer)
  }
}

type Opened = {
  body: AsyncIterable<Uint8Array | string>
  idleMs: number
  id: string
  model: string | undefined
  stop: (reason: GatewayError) => void
}
type Around = {
  protocol: Protocol
  signal: GatewayRequest['signal']
  trace: Trace
  defaults: ParsedConfig['defaults']
  /** Gets the response in the last event. */
  onEnd(response: unknown): void
}

/**
 * A response that is still being generated, streamed from its beginning or from the event that the
 * client names.
 */
function streamed(
  { body, idleMs, model, stop, id }: Opened,
  { protocol, signal, trace, defaults, onEnd }: Around,
): Promise<AsyncIterable<Uint8Array | string>> {
  const translator = new StoredStream(protocol, { id, model, maxEventLength: defaults.eventLimit })
  const open = async () => ({ translator, body: body[Symbol.asyncIterator](), raw: true, idleMs })
  return relayed(
    {
      protocol,
      breaksOff: false,
      keepAliveMs: defaults.keepAliveMs,
      open,
      stop,
      onEnd: () => onEnd(translator.lastResponse()),
    },
    { signal, trace },
  )
}
