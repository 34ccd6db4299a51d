import { type RequestListener, Server } from 'node:http'
import type {
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  ServerHttp2Session,
} from 'node:http2'
import type { Socket } from 'node:net'
import { checkOptions } from '../gateway/check-options.ts'

/** What an HTTP/2 client without TLS sends first. No request of HTTP/1.1 begins with it. */
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** Error codes of HTTP/2. With `none` a response that was sent is complete for its client. */
const codes = { none: 0, cancel: 8 }

/** Limits of a server that accepts both versions of HTTP. */
export type ServerOptions = {
  /**
   * The most requests at the same time on one connection of HTTP/2. Clients wait with further ones.
   * Default 128.
   */
  maxConcurrentStreams?: number
}

/**
 * A `node:http` server whose port also accepts HTTP/2 without TLS, as the AWS SDK for JavaScript
 * speaks it by default. The listener gets requests of both; those of HTTP/2 through the
 * compatibility API of `node:http2`. The timeouts of the server apply to both.
 * @throws ConfigError for an unknown option
 * @example
 * import { createServer, gateway } from 'wireglot/connect'
 *
 * const handler = gateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
 * const server = createServer(handler)
 * server.listen(0, '127.0.0.1', () => server.close())
 */
export function createServer(listener: RequestListener, options: ServerOptions = {}): Server {
  checkOptions(options, ['maxConcurrentStreams'])
  const { maxConcurrentStreams = 128 } = options
  return new OnePortServer(listener, maxConcurrentStreams)
}

class OnePortServer extends Server {
  readonly #listener: RequestListener
  readonly #maxConcurrentStreams: number
  readonly #asHttp1: (socket: Socket) => void
  #http2: Http2Server | undefined
  readonly #sessions = new Set<ServerHttp2Session>()
  /** Connections whose first bytes have not come. */
  readonly #silent = new Set<Socket>()

  constructor(listener: RequestListener, maxConcurrentStreams: number) {
    super(listener)
    this.#listener = listener
    this.#maxConcurrentStreams = maxConcurrentStreams
    const own = this.listeners('connection') as ((socket: Socket) => void)[]
    this.#asHttp1 = socket => {
      for (const begin of own) begin.call(this, socket)
    }
    this.removeAllListeners('connection')
    this.on('connection', (socket: Socket) => this.#recognize(socket))
  }

  override close(done?: (error?: Error) => void): this {
    for (const socket of this.#silent) socket.destroy()
    for (const session of this.#sessions) session.close()
    return super.close(done)
  }

  override closeAllConnections(): void {
    for (const socket of this.#silent) socket.destroy()
    for (const session of this.#sessions) session.destroy()
    super.closeAllConnections()
  }

  /** Reads the first bytes, which show the protocol, and puts them back. */
  #recognize(socket: Socket): void {
    const read: Buffer[] = []
    const forget = () => {
      this.#silent.delete(socket)
      socket.setTimeout(0)
      socket
        .off('data', take)
        .off('timeout', destroy)
        .off('error', destroy)
        .off('end', destroy)
        .off('close', forget)
    }
    const destroy = () => void socket.destroy()
    const take = (chunk: Buffer) => {
      read.push(chunk)
      const bytes = read.length === 1 ? chunk : Buffer.concat(read)
      const start = bytes.toString('latin1', 0, preface.length)
      const isHttp2 = start === preface
      if (!isHttp2 && preface.startsWith(start)) return
      forget()
      socket.pause()
      socket.unshift(bytes)
      if (isHttp2) this.#asHttp2(socket)
      else {
        this.#asHttp1(socket)
        socket.resume()
      }
    }
    this.#silent.add(socket)
    socket.setTimeout(this.headersTimeout)
    socket
      .on('data', take)
      .on('timeout', destroy)
      .on('error', destroy)
      .on('end', destroy)
      .on('close', forget)
  }

  #asHttp2(socket: Socket): void {
    // HTTP/1.1 responds to a client that has only ended its side; a connection of HTTP/2 would stay
    // open.
    socket.allowHalfOpen = false
    this.#http2 ??= this.#createHttp2()
    this.#http2?.emit('connection', socket)
    if (!this.#http2) socket.destroy()
  }

  /** Loaded with the first connection that needs it, because most servers never do. */
  #createHttp2(): Http2Server | undefined {
    const settings = { maxConcurrentStreams: this.#maxConcurrentStreams }
    const http2 = process
      .getBuiltinModule('node:http2')
      .createServer({ settings }, (request, response) => {
        if (this.requestTimeout > 0 && !request.stream.endAfterHeaders)
          limitBody(request, response, this.requestTimeout)
        this.#listener(request as never, response as never)
      })
    http2.on('session', session => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
      // Streams in progress are completed.
      session.setTimeout(this.keepAliveTimeout, () => session.close())
    })
    return http2
  }
}

/**
 * Ends a request whose body has not arrived in time, as a server of HTTP/1.1 does by its
 * `requestTimeout`.
 */
function limitBody(
  { stream }: Http2ServerRequest,
  response: Http2ServerResponse,
  timeoutMs: number,
): void {
  const timer = setTimeout(() => {
    if (stream.destroyed || stream.state.remoteClose) return
    if (response.headersSent) stream.close(response.writableEnded ? codes.none : codes.cancel)
    else response.writeHead(408).end(() => stream.close(codes.none))
  }, timeoutMs)
  stream.once('close', () => clearTimeout(timer))
}
