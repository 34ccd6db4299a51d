import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { tooLarge } from '../gateway/body/decompress.ts'
import { membersOf, outlineOf } from '../gateway/body/outline.ts'
import { GatewayError, reject, rejectionOf, streamEndedEarly, wireOf } from '../gateway/error.ts'
import type { SocketSettings } from '../gateway/gateway.ts'
import { newId } from '../gateway/ids.ts'
import type { Share } from '../gateway/memory.ts'
import type { GatewayRequest, GatewayResponse } from '../gateway/request.ts'
import { parseExact, writeExact } from '../kit/json/digits.ts'
import { type JsonObject, parseObject } from '../kit/json/json.ts'
import { nesting } from '../kit/json/scan.ts'
import type { Headers, Protocol, SocketGlance, SocketWire } from '../protocol.ts'
import { textOf } from '../sse/bytes.ts'
import { createFrameParser, type Frame } from '../sse/parse.ts'
import type { PlainAbortController } from '../transports/abort-controller.ts'
import { drained } from '../transports/drained.ts'
import { FrameHeaders } from './frame-headers.ts'

export type Handle = (request: GatewayRequest) => Promise<GatewayResponse>

/**
 * `stream`: the connection below. `handshake`: each message becomes a request with its headers.
 * `left`: aborted when the connection closes. `memory`: what the connection takes. `isKnown`: is
 * the key of the handshake still valid?
 */
type Parts = {
  connection: WebSocket
  stream: Duplex
  protocol: Protocol
  wire: SocketWire
  handshake: GatewayRequest
  left: PlainAbortController
  memory: Share
  handle: Handle
  isKnown: (request: GatewayRequest) => Promise<boolean>
  settings: SocketSettings
}

/**
 * The most messages that wait while a response is sent. A client that sends more loses its
 * connection (1008).
 */
const mostWaiting = 16

/** Close codes of RFC 6455 and the IANA registry. */
const goingAway = 1001
const policyViolation = 1008
const tryAgainLater = 1013

/**
 * A message may exceed the body limit by so much and is then refused with an error event. A longer
 * one closes the connection (1009).
 */
export const excessBytes = 64 * 1024

/** How long a client may take to close the connection after the close frame of the gateway. */
const closeTimeoutMs = 1_000

/** `data`: undefined for a binary one. `counted`: the bytes that the memory counts for it. */
type Message = { data: Buffer | undefined; counted: number }

/**
 * The last response of a connection, which the next message may continue even if no store has it.
 * `items`: the conversation so far, as a JSON list in UTF-8, which takes no space of the heap.
 */
type Last = { id: string; items: Buffer }

/**
 * What is known of the request of a message: everything but `marks` after the gateway has asked for
 * its body.
 */
type Turn = {
  marks?: JsonObject | undefined
  generates: boolean
  isStored: boolean
  /** The response to a request that generates nothing. */
  prepared?: { id: string; events: object[] }
  continued?: Last | undefined
  /** The items of the request. Absent: too many to keep. */
  items?: Buffer
}

/**
 * One WebSocket connection. Each message is one exchange of the gateway; they run one after the
 * other. The last conversation is kept in memory, up to the limit of a request body.
 */
export class Session {
  readonly #connection: WebSocket
  readonly #stream: Duplex
  readonly #protocol: Protocol
  readonly #wire: SocketWire
  readonly #request: GatewayRequest
  readonly #left: PlainAbortController
  readonly #memory: Share
  readonly #handle: Handle
  readonly #isKnown: Parts['isKnown']
  readonly #settings: SocketSettings
  readonly #waiting: Message[] = []
  #waitingLength = 0
  /** The lengths of the messages that are coming, and what has been announced of the last one. */
  readonly #coming: number[] = []
  #announced = 0
  #isBusy = false
  #end: { code: number; reason: string } | undefined
  #last: Last | undefined

  constructor(parts: Parts) {
    const { connection, stream, wire, handshake } = parts
    this.#connection = connection
    this.#stream = stream
    this.#protocol = parts.protocol
    this.#wire = wire
    this.#left = parts.left
    this.#memory = parts.memory
    this.#handle = parts.handle
    this.#isKnown = parts.isKnown
    this.#settings = parts.settings
    this.#request = {
      ...handshake,
      method: 'POST',
      headers: requestHeaders(wire.requestHeaders(handshake.headers)),
    }
    const headers = new FrameHeaders((length, isLast) => this.#count(length, isLast))
    // Before the listener of `ws`, which keeps the bytes until a message is complete.
    stream.prependListener('data', (chunk: Buffer) => headers.push(chunk))
    connection.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary))
    // It is closed by `ws` itself, with the code for the fault.
    connection.on('error', () => {})
    this.#ping()
  }

  /** Closes the connection, at once or when the response in progress has ended. */
  close(code = goingAway, reason = 'the gateway is shutting down'): void {
    this.#end ??= { code, reason }
    if (!this.#isBusy) this.#closeNow(this.#end)
  }

  #closeNow({ code, reason }: { code: number; reason: string }): void {
    this.#connection.close(code, reason)
    const timer = setTimeout(() => this.#connection.terminate(), closeTimeoutMs)
    this.#connection.once('close', () => clearTimeout(timer))
  }

  #count(length: number, isLast: boolean): void {
    // One that is far too long is refused by `ws`.
    const isRead = length <= this.#settings.messageLimitBytes + excessBytes
    if (!isRead || this.#left.aborted || this.#connection.isPaused) return
    try {
      this.#memory.add(length)
      this.#announced += length
      if (!isLast) return
      this.#coming.push(this.#announced)
      this.#announced = 0
    } catch (thrown) {
      void this.#fail(thrown)
      this.#closeNow({ code: tryAgainLater, reason: 'too many large messages at the same time' })
      // Nothing more of it is read.
      this.#connection.pause()
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const counted = this.#coming.shift() ?? 0
    this.#waitingLength += isBinary ? 0 : data.length
    const isTooMuch =
      this.#isBusy &&
      (this.#waiting.length >= mostWaiting ||
        this.#waitingLength > this.#settings.messageLimitBytes)
    if (isTooMuch)
      this.#connection.close(policyViolation, 'too many messages before the end of a response')
    else this.#waiting.push({ data: isBinary ? undefined : data, counted })
    if (!this.#isBusy) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isBusy = true
    for (
      let message = this.#waiting.shift();
      message && !this.#left.aborted && !this.#end;
      message = this.#waiting.shift()
    ) {
      this.#waitingLength -= message.data?.length ?? 0
      await this.#respond(message)
    }
    this.#isBusy = false
    if (this.#end) this.#closeNow(this.#end)
  }

  /** Never rejects: every failure becomes an error event. */
  async #respond(message: Message): Promise<void> {
    const { isAcknowledgement, marks } = this.#glanceAt(message)
    const turn: Turn = { marks, generates: true, isStored: false }
    let last: Last | undefined
    try {
      if (!isAcknowledgement) last = await this.#exchange(message, turn)
    } catch (thrown) {
      await this.#fail(thrown, turn.marks)
    }
    this.#free(message)
    if (turn.items) this.#memory.add(-turn.items.length)
    // A failed exchange leaves the conversation that it did not continue.
    if (last || turn.continued) this.#keep(last)
  }

  /** Of the outermost fields, without parsing what is in them. */
  #glanceAt({ data }: Message): SocketGlance {
    const members = data && membersOf(data, { deepest: this.#settings.depthLimit })
    const outline = data && outlineOf(data, members)
    return outline ? this.#wire.glance(outline) : { isAcknowledgement: false }
  }

  #free(message: Message): void {
    this.#memory.add(-message.counted)
    message.counted = 0
    message.data = undefined
  }

  /** Without a new conversation if there is no memory for it. */
  #keep(last: Last | undefined): void {
    const before = this.#last?.items.length ?? 0
    this.#last = undefined
    this.#memory.add(-before)
    try {
      this.#memory.add(last?.items.length ?? 0)
      this.#last = last
    } catch {}
  }

  /** Undefined: the response cannot be continued. */
  async #exchange(message: Message, turn: Turn): Promise<Last | undefined> {
    const response = await this.#handle({
      ...this.#request,
      body: { bytes: lazily(() => this.#bodyOf(message, turn)) },
      generates: () => turn.generates,
    })
    const { status, headers, body } = response
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) return this.#relay(body, turn)
    if (status < 400) {
      if (!turn.prepared) throw reject(500, 'internal', 'a stream was expected')
      const { id, events } = turn.prepared
      for (const event of events) await this.#send(event, turn.marks)
      return this.#lastOf(turn, id, [])
    }
    if (status === 401) this.#end ??= { code: policyViolation, reason: 'the API key is not valid' }
    const error = parseObject(typeof body === 'string' ? body : textOf(body))
    await this.#send(this.#wire.failure(status, headers, error), turn.marks)
    return undefined
  }

  /** The body of the request that the message is. @throws GatewayError, TranslationError */
  #bodyOf(message: Message, turn: Turn): Buffer {
    const requested = this.#wire.read(this.#objectOf(message.data))
    this.#free(message)
    const { previous } = requested
    turn.generates = requested.generates
    turn.isStored = requested.isStored
    turn.continued = previous !== undefined && previous === this.#last?.id ? this.#last : undefined
    // What only a provider has cannot be prepared.
    if (previous !== undefined && !turn.continued && !turn.generates)
      throw unknownPrevious(this.#protocol, previous)
    const body = turn.continued
      ? this.#wire.continued(requested.body, parseExact(String(turn.continued.items)) as unknown[])
      : requested.body
    const items = Buffer.from(writeExact(this.#wire.itemsOf(body)))
    if (items.length <= this.#settings.messageLimitBytes) {
      this.#memory.add(items.length)
      turn.items = items
    }
    if (!turn.generates) {
      const id = newId('resp_')
      const events = this.#wire.prepared(body, id, Math.floor(Date.now() / 1000))
      turn.prepared = { id, events }
    }
    return Buffer.from(writeExact(body))
  }

  #objectOf(data: Buffer | undefined): JsonObject {
    if (data === undefined)
      throw reject(400, 'invalid_request', 'a message must be text, not binary')
    const { messageLimitBytes, depthLimit } = this.#settings
    if (data.length > messageLimitBytes) throw tooLarge(messageLimitBytes)
    const text = String(data)
    if (nesting(text, depthLimit) > depthLimit)
      throw reject(400, 'invalid_request', 'the JSON is nested too deeply')
    const message = parseObject(text)
    if (!message) throw reject(400, 'invalid_request', 'a message must be a JSON object')
    return message
  }

  async #relay(stream: AsyncIterable<string | Uint8Array>, turn: Turn): Promise<Last | undefined> {
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
        if (end) last = this.#lastOf(turn, end.continues, end.output?.length ? end.output : output)
        hasEnded ||= end !== undefined
        this.#connection.send(marked(sent, turn.marks))
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

  #lastOf(
    { items, isStored }: Turn,
    id: string | undefined,
    output: readonly unknown[],
  ): Last | undefined {
    if (id === undefined || !items) return undefined
    const more = this.#wire.readable(output, isStored)
    const whole = more.length === 0 ? items : joinedLists(items, writeExact(more))
    return whole.length > this.#settings.messageLimitBytes ? undefined : { id, items: whole }
  }

  async #fail(thrown: unknown, marks?: JsonObject): Promise<void> {
    const rejection = rejectionOf(thrown, 'request')
    const { status, headers, body } = wireOf(rejection, this.#protocol, newId('req_'))
    await this.#send(this.#wire.failure(status, { ...headers, ...rejection.headers }, body), marks)
  }

  async #send(event: object, marks: JsonObject | undefined): Promise<void> {
    this.#connection.send(marked(writeExact(event), marks))
    if (this.#stream.writableNeedDrain) await drained(this.#stream)
  }

  /**
   * Closes connections that do not respond to pings. A client that is slow to read gets its pings
   * late, so unsent data delays the check.
   */
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
      void this.#checkKey()
    }, pingMs)
    timer.unref()
    this.#connection.on('pong', alive)
    this.#connection.on('message', alive)
    this.#connection.once('close', () => clearInterval(timer))
  }

  /** A key that was deleted or disabled ends its connections, also those without messages. */
  async #checkKey(): Promise<void> {
    if (!(await this.#isKnown(this.#request)))
      this.close(policyViolation, 'the API key is not valid')
  }
}

/** A body that is made when it is read. */
async function* lazily(make: () => Buffer): AsyncGenerator<Buffer> {
  yield make()
}

/** The JSON of an event, with further fields. */
function marked(event: string, marks: JsonObject | undefined): string {
  if (!marks) return event
  return `${event.slice(0, event.lastIndexOf('}'))},${JSON.stringify(marks).slice(1)}`
}

/** Two JSON lists as one. The second has items. */
function joinedLists(items: Buffer, more: string): Buffer {
  const start = items.subarray(0, items.length - 1)
  return Buffer.concat([start, Buffer.from((start.length > 1 ? ',' : '') + more.slice(1))])
}

function unknownPrevious({ address }: Protocol, id: string): GatewayError {
  const error = address.stored?.unknown('previous', id)
  return error
    ? new GatewayError(error)
    : reject(400, 'invalid_request', 'unknown previous response')
}

/** Headers of the handshake that are about the connection, or about a body that it did not have. */
const ofHandshake = /^(sec-websocket-.+|upgrade|connection|content-.+|transfer-encoding)$/

function requestHeaders(handshake: Headers): Headers {
  const headers: Headers = { 'content-type': 'application/json' }
  for (const [name, value] of Object.entries(handshake))
    if (!ofHandshake.test(name)) headers[name] = value
  return headers
}
