/**
 * The gateway as middleware for Express 4 and 5, Connect and node:http.
 * @module wireglot/connect
 */

import { type IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isAscii } from '../gateway/body/bytes.ts'
import { GatewayError } from '../gateway/error.ts'
import {
  createGateway,
  type GatewayConfig,
  type GatewayState,
  type Hooks,
  type Identity,
  type LearnedFields,
} from '../gateway/gateway.ts'
import { isLocal } from '../gateway/local.ts'
import type { GatewayRequest, GatewayResponse, RequestBody } from '../gateway/request.ts'
import { without } from '../kit/json/json.ts'
import { createSessions } from '../sockets/sessions.ts'
import { PlainAbortController, type Signal } from '../transports/abort-controller.ts'
import { only } from '../transports/bodies.ts'
import { Chunks } from '../transports/chunks.ts'
import { drained } from '../transports/drained.ts'
import { plainHeaders } from '../transports/plain-headers.ts'
import { undiciTransport } from '../transports/undici.ts'
import { baseOf } from './base.ts'
import { errorFlushed } from './error-flush.ts'

export {
  type Attempt,
  type BodyCall,
  type BodyChange,
  type ChannelState,
  ConfigError,
  type ConfigFault,
  type Exchange,
  type GatewayConfig,
  type GatewayError,
  type GatewayState,
  type HookRequest,
  type Hooks,
  type Identity,
  type LearnedField,
  type LearnedFields,
  type Logger,
  type Peers,
  reject,
  type ServerToolCall,
  type ServerToolInput,
  type ServerToolName,
  type ServerToolResult,
  type ServerTools,
  type Store,
  type StreamCall,
  type UsageRecord,
} from '../gateway/gateway.ts'
export { createServer, type ServerOptions } from './server.ts'

/** With the properties that Express and Connect add. */
type Request = IncomingMessage & { originalUrl?: string; body?: unknown }

/** `flush`: added by compression middleware. `stream`: of HTTP/2. */
type Response = ServerResponse & { flush?: () => void; stream?: ServerHttp2Stream }

/**
 * A request handler for Express 4 and 5, Connect and node:http. Only exact endpoints are handled;
 * other paths go to `next`, or get 404 if there is none.
 */
export type ConnectGateway = {
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void
  /**
   * A listener for the event `upgrade` of an HTTP server. False: the path is not an endpoint of the
   * gateway, and the socket is not touched. With `webSocket` in the configuration, protocols that
   * have it are served over WebSocket; other requests are handled as without an upgrade.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /**
   * Refuses new requests, waits up to `graceMs` milliseconds (default 10,000) for those in
   * progress, ends the rest with an error, and releases the sockets.
   */
  close(graceMs?: number): Promise<void>
  /**
   * Only clients on this machine are served, because there are neither keys nor `"auth": "none"`
   * nor the hook `authenticate`.
   */
  readonly localOnly: boolean
  /** What happens at this moment, for health checks and metrics. */
  state(): GatewayState
  /** The fields that are left out of requests, because upstreams have refused them. */
  learned(): LearnedFields
  /**
   * The client of a request, by its key. Its rate limits are neither checked nor counted.
   * @throws GatewayError 401
   */
  identify(request: IncomingMessage): Promise<Identity>
}

/** The error code `INTERNAL_ERROR` of HTTP/2. */
const internalError = 2

/** How long clients have to read the last bytes of their responses. */
const closeTimeoutMs = 1_000

/**
 * The gateway as middleware, mountable under any path. Without a configuration it serves the
 * built-in demo model. `Raw`: the type of the request that hooks get, such as `express.Request`.
 * @throws ConfigError when the configuration is invalid
 * @example
 * import { createServer } from 'node:http'
 * import { gateway } from 'wireglot/connect'
 *
 * const handler = gateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
 * const server = createServer(handler).listen(0, '127.0.0.1', async () => {
 *   console.log('listening')
 *   await handler.close()
 *   server.close()
 * })
 */
export function gateway<Raw extends IncomingMessage = IncomingMessage>(
  config?: GatewayConfig,
  hooks?: Hooks<Raw>,
): ConnectGateway {
  const inner = createGateway(config, hooks, undiciTransport)
  let open = 0
  const handler = (
    request: IncomingMessage,
    response: ServerResponse,
    next?: (error?: unknown) => void,
  ) => {
    const url = urlOf(request)
    const match = inner.match(url.pathname)
    if (next && !inner.claims(match, request.method ?? 'GET', mountOf(request) !== ''))
      return next()
    open++
    response.once('close', () => open--)
    const handle = (left: PlainAbortController) =>
      inner.handle(gatewayRequestOf(request, url, left), match)
    respond(handle, request, response).catch((error: unknown) => {
      if (next && !response.headersSent) next(error)
      else breakOff(response)
    })
  }
  const isKnown = (handshake: GatewayRequest) =>
    inner.identify(handshake).then(
      () => true,
      (error: unknown) => !isWrongKey(error),
    )
  const sessions = inner.sockets && createSessions(inner.sockets, { handle: inner.handle, isKnown })
  return Object.assign(handler, {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
      const url = urlOf(request)
      const match = inner.match(url.pathname)
      if (!inner.claims(match, request.method ?? 'GET', false)) return false
      const left = new PlainAbortController()
      // Node has removed its own listener, and without one an error would end the process.
      socket.on('error', () => {})
      socket.once('close', () => left.abort())
      const handshake = gatewayRequestOf(request, url, left)
      const sendPlain = (response: GatewayResponse) =>
        send(response, request, responseOn(request, socket), left.signal)
      const serve = async () => {
        if (!sessions || !(await sessions.isReady()))
          return sendPlain(await inner.handle(handshake, match))
        const response = await inner.handle({ ...handshake, upgrades: true }, match)
        const { memory } = response
        if (!memory || match.kind !== 'call') return sendPlain(response)
        const { protocol } = match
        sessions.open({ request, socket, head, handshake, left, memory, protocol })
      }
      serve().catch(() => socket.destroy())
      return true
    },
    async close(graceMs?: number) {
      sessions?.close()
      await inner.close(graceMs)
      // The last bytes are not sent yet, or clients do not read them.
      for (const end = Date.now() + closeTimeoutMs; open > 0 && Date.now() < end; )
        await new Promise(resolve => setTimeout(resolve, 5))
    },
    localOnly: inner.localOnly,
    state: inner.state,
    learned: inner.learned,
    identify: (request: IncomingMessage) =>
      inner.identify(gatewayRequestOf(request, urlOf(request), new PlainAbortController())),
  })
}

/** Not so when the key cannot be looked up at the moment. */
const isWrongKey = (error: unknown) =>
  error instanceof GatewayError && error.error.kind === 'authentication'

async function respond(
  handle: (left: PlainAbortController) => Promise<GatewayResponse>,
  request: Request,
  response: Response,
): Promise<void> {
  const left = new PlainAbortController()
  response.once('close', () => {
    if (!isDelivered(response)) left.abort()
  })
  await send(await handle(left), request, response, left.signal)
}

/** HTTP/2 calls a response finished also when its client has reset it. */
function isDelivered({ writableFinished, writableEnded, stream }: Response): boolean {
  return writableFinished && writableEnded && !stream?.rstCode
}

function gatewayRequestOf(
  request: Request,
  { pathname, searchParams }: ReturnType<typeof urlOf>,
  left: PlainAbortController,
): GatewayRequest {
  const headers = headersOf(request)
  const { remoteAddress: address } = request.socket
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers,
    body: bodyOf(request),
    signal: left.signal,
    base: baseOf(placeOf(request, headers), name => headers[name]),
    local: isLocal({ address, headers }),
    raw: request,
    ...(address !== undefined && { address }),
  }
}

/**
 * With one string for each name. HTTP/2 has the host in `:authority`, among other pseudo-headers.
 */
function headersOf({ headers, httpVersionMajor }: Request): Record<string, string> {
  const plain = plainHeaders(headers)
  if (httpVersionMajor < 2) return plain
  const { ':authority': authority } = plain
  const fields = Object.fromEntries(Object.entries(plain).filter(([name]) => !name.startsWith(':')))
  if (authority !== undefined) fields['host'] ??= authority
  return fields
}

async function send(
  { status, headers: given, body }: GatewayResponse,
  request: Request,
  response: Response,
  left: Signal,
): Promise<void> {
  if (left.aborted) return
  const headers = response.stream ? withoutConnection(given, response) : given
  if (typeof body === 'string' || body instanceof Uint8Array) {
    // Encoded here: Node would encode a string twice, once for its length.
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    response.writeHead(
      status,
      status === 204 ? headers : Object.assign({}, headers, { 'content-length': bytes.byteLength }),
    )
    if (request.method === 'HEAD') response.end()
    // Node sends a short latin1 string in one write with the head; otherwise bytes are faster.
    else if (bytes.byteLength < 16 * 1024 && isAscii(bytes))
      response.end(
        typeof body === 'string'
          ? body
          : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'),
        'latin1',
      )
    else response.end(bytes)
    return
  }
  response.writeHead(status, headers)
  // The head is sent with the first chunk in one write, unless that chunk is late.
  const head = setImmediate(() => response.flushHeaders())
  try {
    for await (const chunk of body) {
      clearImmediate(head)
      if (left.aborted) break
      const room = response.write(chunk)
      response.flush?.()
      if (!room) await drained(response.stream ?? response)
    }
    response.end()
  } catch {
    // The stream has failed, and its clients notice only a connection that breaks. It breaks after
    // they had time to read the error frame.
    if (response.writableNeedDrain) await drained(response.stream ?? response)
    await errorFlushed()
    breakOff(response)
  } finally {
    clearImmediate(head)
  }
}

/**
 * HTTP/2 has no header `connection`. With `close` its session takes no further requests, and
 * completes those in progress.
 */
function withoutConnection(
  headers: Record<string, string>,
  response: Response,
): Record<string, string> {
  const session = response.stream?.session
  if (headers['connection'] === 'close') response.once('finish', () => session?.close())
  return without(headers, ['connection'])
}

/** A response to a request for an upgrade, which Node gives no response for. */
function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end())
  return response
}

/** The `destroy` of HTTP/2 ends the stream as if it were complete. */
function breakOff(response: Response): void {
  if (response.stream) response.stream.close(internalError)
  else response.destroy()
}

/**
 * Path and query of a request. `new URL` takes 6 µs, so it is used only for URLs that it may have
 * to normalize.
 */
function urlOf({ url = '/' }: IncomingMessage): Pick<URL, 'pathname' | 'searchParams'> {
  if (/^(\/[\w:-][\w:.-]*)+$/.test(url))
    return { pathname: url, searchParams: new URLSearchParams() }
  if (url.startsWith('/')) return new URL(`http://host${url}`)
  // Clients behind a proxy send the absolute URL.
  return new URL(URL.canParse(url) ? url : 'http://host')
}

/** The body of the request, or what a body parser before us has parsed. */
function bodyOf(request: Request): RequestBody {
  const { body } = request
  const read = request.readableEnded || request.readableDidRead
  if (body === undefined || !read) return { bytes: incoming(request) }
  if (body instanceof Uint8Array) return { bytes: only(body) }
  return { parsed: body }
}

/**
 * The body of the request, read on demand. When the reader stops early, the rest is discarded:
 * otherwise the client might not read the response.
 */
function incoming(request: Request): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const push = (chunk: Buffer) => chunks.push(chunk)
      const chunks = new Chunks({
        pause: () => request.pause(),
        resume: () => request.resume(),
        destroy: () => request.off('data', push).resume(),
      })
      request.on('data', push)
      request.on('end', () => chunks.end())
      request.on('error', error => chunks.fail(error))
      request.on(
        'close',
        () => request.readableEnded || chunks.fail(new Error('the client has gone')),
      )
      // Middleware before us may have read it to its end, or paused it.
      if (request.readableEnded) chunks.end()
      else if (request.destroyed) chunks.fail(new Error('the client has gone'))
      else request.resume()
      return chunks
    },
  }
}

const placeOf = (request: Request, { host }: Record<string, string>) => ({
  isEncrypted: 'encrypted' in request.socket && request.socket.encrypted === true,
  host,
  mount: mountOf(request),
})

/** The path that the gateway is mounted at. `''`: the root. */
function mountOf({ url = '/', originalUrl = url }: Request): string {
  return originalUrl.endsWith(url) ? originalUrl.slice(0, originalUrl.length - url.length) : ''
}
