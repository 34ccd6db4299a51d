/**
 * The gateway as middleware for Express 4 and 5, Connect and node:http.
 * @module wireglot/connect
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isAscii, textOf } from '../gateway/bytes.ts'
import { createGateway, type Gateway, type GatewayConfig, type Hooks } from '../gateway/gateway.ts'
import type { GatewayAnswer, GatewayRequest, RequestBody } from '../gateway/request.ts'
import { Chunks } from '../transports/chunks.ts'
import { plainHeaders } from '../transports/plain-headers.ts'
import { type Signal, Stopper } from '../transports/stopper.ts'
import { undiciTransport } from '../transports/undici.ts'

export { ConfigError, type GatewayConfig, type Hooks } from '../gateway/gateway.ts'

/** Express and Connect add these to a request. */
type Request = IncomingMessage & { originalUrl?: string; body?: unknown }

/** `flush` is what compression middleware adds. */
type Response = ServerResponse & { flush?: () => void }

/** A request handler for Express 4 and 5, Connect and node:http; without `next`, paths that are not ours get 404. */
export type ConnectGateway = {
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void
  /** Refuses new requests and waits until those under way are answered; what goes on after `graceMs` (default 10,000) is told that it ends here. Releases the sockets. */
  close(graceMs?: number): Promise<void>
  /** Neither keys nor `"auth": "none"` nor a hook: only clients on this machine are served. */
  readonly localOnly: boolean
}

/** How long clients get to take the last bytes of their answers. */
const farewellMs = 1_000

/**
 * The gateway as middleware, mountable under any path. Without configuration it serves the built-in demo model.
 * @throws ConfigError
 */
export function gateway(config?: GatewayConfig, hooks?: Hooks): ConnectGateway {
  const inner = createGateway(config, hooks, undiciTransport)
  let open = 0
  const handler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => {
    const url = urlOf(request)
    if (next && !inner.serves(request.method ?? 'GET', url.pathname)) return next()
    open++
    response.once('close', () => open--)
    answer(inner, request, url, response).catch((error: unknown) => {
      if (next && !response.headersSent) next(error)
      else response.destroy()
    })
  }
  return Object.assign(handler, {
    async close(graceMs?: number) {
      await inner.close(graceMs)
      // The last bytes are still on their way, or their clients do not read them.
      for (const end = Date.now() + farewellMs; open > 0 && Date.now() < end; ) await new Promise(resolve => setTimeout(resolve, 5))
    },
    localOnly: inner.localOnly,
  })
}

async function answer(inner: Gateway, request: Request, url: ReturnType<typeof urlOf>, response: Response): Promise<void> {
  const left = new Stopper()
  response.once('close', () => {
    if (!response.writableFinished) left.abort()
  })
  await send(await inner.answer(askedBy(request, url, left)), request, response, left.signal)
}

function askedBy(request: Request, { pathname, searchParams }: ReturnType<typeof urlOf>, left: Stopper): GatewayRequest {
  const headers = plainHeaders(request.headers)
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers,
    body: bodyOf(request),
    signal: left.signal,
    base: baseOf(request, headers),
    local: isLocal(request, headers),
    ...(request.socket.remoteAddress !== undefined && { address: request.socket.remoteAddress }),
  }
}

async function send({ status, headers, body }: GatewayAnswer, request: Request, response: Response, left: Signal): Promise<void> {
  if (left.aborted) return
  if (typeof body === 'string' || body instanceof Uint8Array) {
    // Made bytes here: Node would encode a text twice, once for its length.
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    response.writeHead(status, status === 204 ? headers : Object.assign({}, headers, { 'content-length': bytes.byteLength }))
    if (request.method === 'HEAD') response.end()
    // A short ASCII text goes out together with the head; for all else bytes are quicker.
    else if (bytes.byteLength < 16 * 1024 && isAscii(bytes)) response.end(typeof body === 'string' ? body : textOf(body), 'latin1')
    else response.end(bytes)
    return
  }
  response.writeHead(status, headers)
  // The head goes out with the first chunk, in one write, unless that takes its time.
  const head = setImmediate(() => response.flushHeaders())
  for await (const chunk of body) {
    clearImmediate(head)
    if (left.aborted) break
    const room = response.write(chunk)
    response.flush?.()
    if (!room) await drained(response)
  }
  clearImmediate(head)
  response.end()
}

/** Waits until the client has read what was written, or has gone. */
function drained(response: Response): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    if (response.destroyed) return resolve()
    response.on('drain', done)
    response.on('close', done)
  })
}

/** Path and query of a request. `new URL` takes 6 µs, so it is used only where something has to be tidied up. */
function urlOf({ url = '/' }: IncomingMessage): Pick<URL, 'pathname' | 'searchParams'> {
  if (/^(\/[\w:-][\w:.-]*)+$/.test(url)) return { pathname: url, searchParams: new URLSearchParams() }
  if (url.startsWith('/')) return new URL(`http://host${url}`)
  // Clients that go through a proxy send the whole address.
  return new URL(URL.canParse(url) ? url : 'http://host')
}

/** A body parser may have read the stream before us: then the body is what it left on the request. */
function bodyOf(request: Request): RequestBody {
  const { body } = request
  const read = request.readableEnded || request.readableDidRead
  if (body === undefined || !read) return { bytes: incoming(request) }
  if (body instanceof Uint8Array) return { bytes: [body] as unknown as AsyncIterable<Uint8Array> }
  return { parsed: body }
}

/** The request's body, read when somebody asks for it. A body that is given up is read to its end all the same: else the client would not see the answer. */
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
      request.on('close', () => request.readableEnded || chunks.fail(new Error('the client has gone')))
      // Whoever stood before us may have read it to its end or made it wait.
      if (request.readableEnded) chunks.end()
      else if (request.destroyed) chunks.fail(new Error('the client has gone'))
      else request.resume()
      return chunks
    },
  }
}

/** The URL that the gateway is mounted at, for messages only: a client may say any host, so nothing is decided by it. */
function baseOf({ url = '/', originalUrl = url, socket }: Request, headers: Record<string, string>): string {
  const { host } = headers
  const mount = originalUrl.endsWith(url) ? originalUrl.slice(0, originalUrl.length - url.length) : ''
  const scheme = ('encrypted' in socket && socket.encrypted) || headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  return host && /^[\w.:[\]-]+$/.test(host) ? `${scheme}://${host}${mount}` : mount
}

/**
 * Does the client run on this machine? Not when it came through a proxy, nor when it called this machine by a public name:
 * a web page may have its own name lead here (DNS rebinding).
 */
function isLocal({ socket }: IncomingMessage, headers: Record<string, string>): boolean {
  for (const name in headers) if (/^(forwarded|x-forwarded-.+|x-real-ip|via)$/.test(name)) return false
  if (!/^(127(\.\d+){3}|\[::1\]|([\w-]+\.)*localhost)(:\d+)?$/i.test(headers['host'] ?? 'localhost')) return false
  return /^(127\.|::1$|::ffff:127\.)/.test(socket.remoteAddress ?? '')
}
