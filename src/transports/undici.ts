import { Readable, Transform, type TransformCallback } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Inflate,
  constants as zlib,
} from 'node:zlib'
import { Agent, type Dispatcher } from 'undici'
import type { Signal } from './abort-controller.ts'
import { createAgents } from './agents.ts'
import { Chunks } from './chunks.ts'
import { fetchTransport } from './fetch.ts'
import { plainHeaders } from './plain-headers.ts'
import type { Transport, TransportCall, TransportResponse } from './transport.ts'
import { createSocketCalls } from './web-socket.ts'

/**
 * Undici, with connections kept alive between calls. Redirects are not followed: they would leak
 * the API key. Bun replaces undici by a module whose agents cannot send requests, so `fetch` is
 * used there.
 */
export function undiciTransport(): Transport {
  if (!('dispatch' in Agent.prototype)) return fetchTransport()
  const agents = createAgents()
  const onlyHttp2 = new Set<string>()
  const sockets = createSocketCalls()
  return {
    usesProxies: true,
    usesWebSocket: true,
    send(call) {
      if (call.socket) return sockets.send(call, call.socket)
      const { url, method, headers, body, connectMs, proxy } = call
      const signal = call.stop ?? call.signal
      const { origin, path } = placeOf(url)
      if (signal.aborted) return Promise.reject(signal.reason)
      return new Promise((resolve, reject) => {
        const start = (http2: boolean) => {
          const notConnected = (error: unknown) => {
            if (http2 || !refusesHttp1(error)) return reject(error)
            onlyHttp2.add(origin)
            start(true)
          }
          const dispatch = (agent: Dispatcher) =>
            agent.dispatch(
              { origin, path, method, ...carried(headers, body) },
              new Receiver(signal, { responded: resolve, failed: reject, notConnected }),
            )
          const agent = agents.agentFor({ connectMs, proxy, http2 })
          if ('dispatch' in agent) dispatch(agent)
          else agent.then(dispatch).catch(reject)
        }
        start(onlyHttp2.has(origin))
      })
    },
    close() {
      sockets.close()
      return agents.close()
    },
  }
}

/**
 * HTTP/1.1 is offered alone, which every other server takes: over HTTP/2 all calls would share one
 * connection. A server without it refuses the handshake, so nothing was sent.
 */
const refusesHttp1 = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/**
 * Undici keeps a request body until its response has ended, which may be minutes: a long body is
 * passed as an iterable that releases it.
 */
function carried(
  headers: Record<string, string>,
  body: TransportCall['body'],
): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  if (!(body instanceof Uint8Array) || body.length < 16 * 1024)
    return { headers, body: body ?? null }
  return {
    headers: { ...headers, 'content-length': String(body.length) },
    body: new Once(body) as unknown as Readable,
  }
}

class Once implements AsyncIterableIterator<Uint8Array, undefined> {
  #bytes: Uint8Array | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const value = this.#bytes
    this.#bytes = undefined
    return Promise.resolve(value ? { value, done: false } : { value: undefined, done: true })
  }
}

/**
 * Origin and path of a URL. `new URL` takes 2 µs, so it is used only for URLs that it may have to
 * normalize.
 */
function placeOf(url: string): { origin: string; path: string } {
  const plain = /^(https?:\/\/[a-z\d.-]+(?::\d+)?)((?:\/[\w~%:-][\w~%:.-]*)+)$/.exec(url)
  if (plain) return { origin: plain[1] as string, path: plain[2] as string }
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

/**
 * `notConnected`: instead of `failed` until the request is sent. It may hold the request, which is
 * not to stay in memory while the response comes.
 */
type Outcomes = {
  responded(response: TransportResponse): void
  failed(error: unknown): void
  notConnected(error: unknown): void
}

/**
 * Receives one response. Undici's `request` adds a stream and an async resource: 25 µs per call.
 */
class Receiver implements Dispatcher.DispatchHandler {
  readonly #signal: Signal
  readonly #outcomes: Pick<Outcomes, 'responded' | 'failed'>
  #notConnected: Outcomes['notConnected'] | undefined
  readonly #chunks = new Chunks({
    pause: () => this.#controller?.pause(),
    resume: () => this.#controller?.resume(),
    destroy: () => this.#abort(new Error('the body was given up')),
  })
  #controller: Dispatcher.DispatchController | undefined

  constructor(signal: Signal, { notConnected, ...outcomes }: Outcomes) {
    this.#signal = signal
    this.#outcomes = outcomes
    this.#notConnected = notConnected
    signal.addEventListener('abort', this.#stop)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#notConnected = undefined
    if (this.#signal.aborted) this.#stop()
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    // Slices that would keep the received buffer in memory until the response ends.
    controller.rawHeaders = null
    const { 'content-encoding': encoding, ...kept } = plainHeaders(headers)
    this.#outcomes.responded({ status, headers: kept, body: decompressed(this.#chunks, encoding) })
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#forget()
    this.#chunks.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#forget()
    this.#chunks.fail(error)
    this.#failed(error)
  }

  /**
   * Works in every phase. While connecting, only this call ends; the connection is still
   * established.
   */
  readonly #stop = () => {
    const { reason } = this.#signal
    this.#failed(reason)
    this.#abort(reason instanceof Error ? reason : new Error('the call was given up'))
  }

  #failed(error: unknown): void {
    const failed = this.#notConnected ?? this.#outcomes.failed
    failed(error)
  }

  #abort(reason: Error): void {
    this.#controller?.abort(reason)
  }

  #forget(): void {
    this.#signal.removeEventListener('abort', this.#stop)
  }
}

/** The gateway does not ask for compression, but some upstreams compress anyway. */
function decompressed(body: Chunks, encoding: string | undefined): AsyncIterable<Uint8Array> {
  if (encoding === undefined) return body
  // The last one was applied last. An unknown one stays, with what is below it.
  const [first, ...others] = decodersFor(encoding)
  if (!first) return body
  const source = Readable.from(body)
  const decoder = others.reduce(piped, piped(source, first))
  const chunks = new Chunks(decoder)
  decoder.on('data', (chunk: Buffer) => chunks.push(chunk))
  decoder.on('end', () => chunks.end())
  decoder.on('error', error => chunks.fail(error))
  decoder.on('close', () => chunks.fail(new Error('the body was given up')))
  return chunks
}

/** The decoder of what the source has, which both end together. */
function piped(source: Readable, decoder: Decoder): Decoder {
  source.on('error', error => decoder.destroy(error))
  decoder.on('close', () => source.destroy())
  return source.pipe(decoder)
}

type Decoder = NonNullable<ReturnType<typeof decoderFor>>

/** More codings than this are an attack. */
const mostCodings = 4

function decodersFor(encoding: string): Decoder[] {
  const decoders: Decoder[] = []
  for (const name of encoding.split(',', mostCodings).reverse()) {
    const decoder = decoderFor(name)
    if (decoder) decoders.push(decoder)
    else if (!['', 'identity'].includes(name.trim().toLowerCase())) break
  }
  return decoders
}

/**
 * A decoder that flushes after each chunk: otherwise a compressed event stream would arrive in
 * bursts. Undefined: unknown encoding.
 */
function decoderFor(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ flush: zlib.Z_SYNC_FLUSH })
    case 'deflate':
      return new Inflating()
    case 'br':
      return createBrotliDecompress({ flush: zlib.BROTLI_OPERATION_FLUSH })
    default:
      return undefined
  }
}

/** Deflate as it is meant, or without the head of zlib, as some servers send it. */
class Inflating extends Transform {
  #inner: Inflate | undefined

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#inner ??= this.#innerFor(chunk)
    this.#inner.write(chunk, done)
  }

  override _flush(done: TransformCallback): void {
    if (!this.#inner) done()
    else this.#inner.once('end', () => done()).end()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#inner?.destroy()
    done(error)
  }

  #innerFor([first = 0]: Buffer): Inflate {
    // The head names its only method, 8.
    const hasHead = (first & 0x0f) === 8
    const flush = { flush: zlib.Z_SYNC_FLUSH }
    const inner: Inflate = hasHead ? createInflate(flush) : createInflateRaw(flush)
    inner.on('data', (chunk: Buffer) => this.push(chunk))
    inner.on('error', error => this.destroy(error))
    return inner
  }
}
