import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { refusalOf, refuse, streamEndedEarly, wireOf } from '../gateway/error.ts'
import type { SocketSettings } from '../gateway/gateway.ts'
import { newId } from '../gateway/ids.ts'
import type { GatewayRequest, GatewayResponse } from '../gateway/request.ts'
import { type JsonObject, parseObject } from '../kit/json/json.ts'
import { nesting } from '../kit/json/scan.ts'
import type { Headers, Protocol, SocketWire } from '../protocol.ts'
import { textOf } from '../sse/bytes.ts'
import { createFrameParser, type Frame } from '../sse/parse.ts'
import { only } from '../transports/bodies.ts'
import { drained } from '../transports/drained.ts'
import type { Stopper } from '../transports/stopper.ts'

export type Handle = (request: GatewayRequest) => Promise<GatewayResponse>

/** `stream`: the connection below. `handshake`: each message becomes a request with its headers. `left`: aborted when the connection closes. */
type Parts = {
  connection: WebSocket
  stream: Duplex
  protocol: Protocol
  wire: SocketWire
  handshake: GatewayRequest
  left: Stopper
  handle: Handle
  settings: SocketSettings
}

/** The most messages that wait while a response is sent. A client that sends more loses its connection (1008). */
const mostWaiting = 16

/** Close codes of RFC 6455 and the IANA registry. */
const goingAway = 1001
const policyViolation = 1008

/** How long a client may take to close the connection after the close frame of the gateway. */
const closeTimeoutMs = 1_000

/** The last response of a connection, which the next message may continue even if no store has it. `items`: JSON text of the conversation so far. */
type Last = { id: string; items: string }

/**
 * One WebSocket connection. Each message is one exchange of the gateway; they run one after the other. The last conversation is kept in
 * memory, up to the limit of a request body.
 */
export class Session {
  readonly #connection: WebSocket
  readonly #stream: Duplex
  readonly #protocol: Protocol
  readonly #wire: SocketWire
  readonly #request: GatewayRequest
  readonly #left: Stopper
  readonly #handle: Handle
  readonly #settings: SocketSettings
  readonly #waiting: (string | undefined)[] = []
  #waitingLength = 0
  #isBusy = false
  #isClosing = false
  #last: Last | undefined

  constructor({ connection, stream, protocol, wire, handshake, left, handle, settings }: Parts) {
    this.#connection = connection
    this.#stream = stream
    this.#protocol = protocol
    this.#wire = wire
    this.#left = left
    this.#handle = handle
    this.#settings = settings
    this.#request = {
      ...handshake,
      method: 'POST',
      headers: requestHeaders(wire.requestHeaders(handshake.headers)),
    }
    connection.on('message', (data, isBinary) => this.#receive(data, isBinary))
    // It is closed by `ws` itself, with the code for the fault.
    connection.on('error', () => {})
    this.#ping()
  }

  /** Closes the connection, at once or when the response in progress has ended. */
  close(): void {
    this.#isClosing = true
    if (this.#isBusy) return
    this.#connection.close(goingAway, 'the gateway is shutting down')
    const timer = setTimeout(() => this.#connection.terminate(), closeTimeoutMs)
    this.#connection.once('close', () => clearTimeout(timer))
  }

  #receive(data: RawData, isBinary: boolean): void {
    const text = isBinary ? undefined : String(data)
    this.#waitingLength += text?.length ?? 0
    const isTooMuch =
      this.#isBusy &&
      (this.#waiting.length >= mostWaiting ||
        this.#waitingLength > this.#settings.messageLimitBytes)
    if (isTooMuch)
      this.#connection.close(policyViolation, 'too many messages before the end of a response')
    else this.#waiting.push(text)
    if (!this.#isBusy) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isBusy = true
    while (this.#waiting.length > 0 && !this.#left.aborted) {
      const text = this.#waiting.shift()
      this.#waitingLength -= text?.length ?? 0
      await this.#respond(text)
    }
    this.#isBusy = false
    if (this.#isClosing) this.close()
  }

  /** Never rejects: every failure becomes an error event. */
  async #respond(text: string | undefined): Promise<void> {
    let continued: Last | undefined
    try {
      const requested = this.#wire.read(this.#messageOf(text))
      if (!requested) return
      const { previous, generates } = requested
      continued = previous !== undefined && previous === this.#last?.id ? this.#last : undefined
      const body = continued
        ? this.#wire.continued(requested.body, JSON.parse(continued.items) as unknown[])
        : requested.body
      const last = generates ? await this.#exchange(body) : await this.#prepare(body)
      // A failed exchange leaves the conversation that it did not continue.
      if (last || continued) this.#last = last
    } catch (thrown) {
      if (continued) this.#last = undefined
      await this.#fail(thrown)
    }
  }

  #messageOf(text: string | undefined): JsonObject {
    if (text === undefined)
      throw refuse(400, 'invalid_request', 'a message must be text, not binary')
    if (nesting(text, this.#settings.depthLimit) > this.#settings.depthLimit)
      throw refuse(400, 'invalid_request', 'the JSON is nested too deeply')
    const message = parseObject(text)
    if (!message) throw refuse(400, 'invalid_request', 'a message must be a JSON object')
    return message
  }

  /** Undefined: the response cannot be continued. */
  async #exchange(body: JsonObject): Promise<Last | undefined> {
    const bytes = Buffer.from(JSON.stringify(body))
    const response = await this.#handle({ ...this.#request, body: { bytes: only(bytes) } })
    const { status, headers } = response
    if (typeof response.body !== 'string' && !(response.body instanceof Uint8Array))
      return this.#relay(body, response.body)
    if (status < 400) throw refuse(500, 'internal', 'a stream was expected')
    await this.#send(
      JSON.stringify(
        this.#wire.failure(
          status,
          headers,
          parseObject(typeof response.body === 'string' ? response.body : textOf(response.body)),
        ),
      ),
    )
    return undefined
  }

  async #relay(
    body: JsonObject,
    stream: AsyncIterable<string | Uint8Array>,
  ): Promise<Last | undefined> {
    const { eventLimit: maxLength } = this.#settings
    const output: unknown[] = []
    let last: Last | undefined
    let hasEnded = false
    let frames: Frame[] = []
    const parser = createFrameParser(frame => frames.push(frame), { maxLength })
    const flush = async () => {
      const ready = frames
      frames = []
      for (const { data, event } of ready) {
        if (hasEnded || !data.startsWith('{')) continue
        const { item, end, sent = data } = this.#wire.meaning(data, event)
        if (item !== undefined) output.push(item)
        // Before the event: the client may continue the response as soon as it gets it.
        if (end) last = this.#lastOf(body, end.continues, end.output?.length ? end.output : output)
        hasEnded ||= end !== undefined
        this.#connection.send(sent)
      }
      if (this.#stream.writableNeedDrain) await drained(this.#stream)
    }
    try {
      for await (const chunk of stream) {
        parser.push(chunk)
        await flush()
        if (this.#left.aborted) return undefined
      }
      parser.end()
      await flush()
    } catch (thrown) {
      // The relay breaks the connection off after an error event, which was sent.
      if (!hasEnded) throw thrown
    }
    if (!hasEnded) throw streamEndedEarly()
    return last
  }

  /** Nothing is generated, so no provider is requested. */
  async #prepare(body: JsonObject): Promise<Last | undefined> {
    const id = newId('resp_')
    for (const event of this.#wire.prepared(body, id, Math.floor(Date.now() / 1000)))
      await this.#send(JSON.stringify(event))
    return this.#lastOf(body, id, [])
  }

  #lastOf(body: JsonObject, id: string | undefined, output: readonly unknown[]): Last | undefined {
    if (id === undefined) return undefined
    const items = JSON.stringify(this.#wire.itemsOf(body, output))
    return items.length > this.#settings.messageLimitBytes ? undefined : { id, items }
  }

  async #fail(thrown: unknown): Promise<void> {
    const refusal = refusalOf(thrown, 'request')
    const { status, headers, body } = wireOf(refusal, this.#protocol, newId('req_'))
    await this.#send(
      JSON.stringify(this.#wire.failure(status, { ...headers, ...refusal.headers }, body)),
    )
  }

  async #send(text: string): Promise<void> {
    this.#connection.send(text)
    if (this.#stream.writableNeedDrain) await drained(this.#stream)
  }

  /** Closes connections that do not respond to pings. A client that is slow to read gets its pings late, so unsent data delays the check. */
  #ping(): void {
    const { pingMs } = this.#settings
    if (pingMs === 0) return
    let isAlive = true
    const alive = () => {
      isAlive = true
    }
    const timer = setInterval(() => {
      if (!isAlive && this.#stream.writableLength === 0) return this.#connection.terminate()
      isAlive = false
      this.#connection.ping()
    }, pingMs)
    timer.unref()
    this.#connection.on('pong', alive)
    this.#connection.on('message', alive)
    this.#connection.once('close', () => clearInterval(timer))
  }
}

/** Headers of the handshake that are about the connection, or about a body that it did not have. */
const ofHandshake = /^(sec-websocket-.+|upgrade|connection|content-.+|transfer-encoding)$/

function requestHeaders(handshake: Headers): Headers {
  const headers: Headers = { 'content-type': 'application/json' }
  for (const [name, value] of Object.entries(handshake))
    if (!ofHandshake.test(name)) headers[name] = value
  return headers
}
