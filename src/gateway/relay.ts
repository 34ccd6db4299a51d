import type { Before, Frames, Protocol } from '../protocol.ts'
import { encoded, plus, textOf } from '../sse/bytes.ts'
import { endOfFrames } from '../sse/split.ts'
import type { StreamTranslator as Translator } from '../translate/stream-translator.ts'
import { AfterFinish } from './after-finish.ts'
import { type Clock, createClock, ping } from './clock.ts'
import {
  brokenOff,
  clientLeft,
  failedStream,
  GatewayError,
  mayRetry,
  reject,
  rejectionOf,
  streamEndedEarly,
} from './error.ts'

type Chunk = string | Uint8Array
type StreamTranslator = Translator<Chunk>

/**
 * An upstream that has begun to respond. `raw`: it speaks the caller's protocol, so that its frames
 * pass. `idleMs`: the longest silence; 0: no limit.
 */
export type RelaySource = {
  translator: StreamTranslator
  body: AsyncIterator<Chunk>
  raw: boolean
  idleMs: number
  /** What the translator has written before. */
  out?: Chunk
}

export type RelayOptions = {
  /** Of the caller. */
  protocol: Protocol
  /** Calls the upstream; rejects if that fails. */
  open(): Promise<RelaySource>
  /** Of a response that fails before the upstream has begun it. */
  head?(): Before
  /** 0: no pings. */
  keepAliveMs: number
  /**
   * See `Frames`. After such a failure the body throws at its end, so that the host breaks the
   * connection off.
   */
  breaksOff: Frames['breaksOff'] | false
  /** Gets what is sent. `whole` is awaited before the last chunk of a complete response is sent. */
  keeping?:
    | { sent(chunk: Chunk): void; whole(translator: StreamTranslator): Promise<void> }
    | undefined
  /** Aborts the upstream call, in any phase. */
  stop(reason: GatewayError): void
  /**
   * How long the rest of the response is read after its client has disconnected, for its usage. 0:
   * not at all.
   */
  drainMs?(reason: GatewayError): number
  /** Called once at the end. `failure` absent: the response is complete. */
  onEnd(failure: GatewayError | undefined, translator: StreamTranslator | undefined): void
}

export type Relay = {
  /**
   * Waits for the first thing to send: a chunk of the response, or a keep-alive if the upstream is
   * silent, after which the status cannot change. The body awaits once per chunk of the upstream,
   * which is read no faster than the client reads.
   * @throws GatewayError when the upstream failed before there was anything to send
   */
  start(): Promise<AsyncIterable<Chunk>>
  /** Ends it early: the client has disconnected, or gets `reason` as an error. */
  giveUp(reason: GatewayError): void
}

/**
 * How long an upstream may take to close the connection after a complete response, before it is
 * aborted.
 */
const closeTimeoutMs = 1_000

export function createRelay(options: RelayOptions): Relay {
  return new RunningRelay(options)
}

class RunningRelay implements Relay {
  readonly #options: RelayOptions
  readonly #clock: Clock
  /** Undefined until the upstream has begun to respond. */
  #source: RelaySource | undefined
  /** The current wait: for the upstream's response, then for each chunk. */
  #opening: Promise<RelaySource> | undefined
  #pending: Promise<IteratorResult<Chunk>> | undefined
  /** The longest time for `#pending`; 0: no limit. */
  #idleMs = 0
  readonly #afterFinish = new AfterFinish()
  /** Something was sent, so the status cannot change. */
  #committed = false
  #done = false
  /** The client has left, and the rest is read for its usage. */
  #isLeft = false
  #failed = false
  #givenUp: GatewayError | undefined
  /** The body throws this after its last output. */
  #break: GatewayError | undefined
  /** The last output for a client that was not reading when the exchange was aborted. */
  #finalFrame: Chunk = ''
  constructor(options: RelayOptions) {
    this.#options = options
    this.#clock = createClock(options.keepAliveMs)
  }

  async start(): Promise<AsyncIterable<Chunk>> {
    let first: IteratorResult<Chunk, undefined> | undefined = await this.#next()
    const iterator = {
      next: () => {
        if (!first) return this.#next()
        const result = Promise.resolve(first)
        first = undefined
        return result
      },
      return: async () => {
        this.giveUp(clientLeft())
        return { value: undefined, done: true as const }
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  giveUp(reason: GatewayError): void {
    if (this.#done || this.#isLeft) return
    this.#opening?.catch(() => {})
    this.#pending?.catch(() => {})
    if (reason.error.kind === 'cancelled') {
      this.#leave(reason)
      return
    }
    this.#givenUp = reason
    if (!this.#clock.interrupt(reason) && this.#committed) this.#finalFrame = this.#fail(reason)
  }

  /** The client has disconnected. */
  #leave(reason: GatewayError): void {
    const end = () => {
      this.#options.stop(reason)
      this.#complete(reason)
    }
    const drainMs = this.#options.drainMs?.(reason) ?? 0
    if (drainMs === 0) end()
    else {
      this.#isLeft = true
      const timer = setTimeout(end, drainMs)
      this.#readRest()
        .catch(() => {})
        .finally(() => {
          clearTimeout(timer)
          end()
        })
    }
  }

  /** Nothing of it is sent. */
  async #readRest(): Promise<void> {
    const source = this.#source ?? (await this.#opening)
    if (!source) return
    this.#source = source
    const { translator, body } = source
    for (;;) {
      const next = await (this.#pending ?? body.next())
      this.#pending = undefined
      if (this.#done) return
      if (next.done) translator.end()
      else translator.push(next.value)
      if (next.done || isOver(source)) return
    }
  }

  async #next(): Promise<IteratorResult<Chunk, undefined>> {
    const { keeping } = this.#options
    this.#clock.sent()
    while (!this.#done && !this.#isLeft) {
      let out: Chunk
      try {
        if (this.#givenUp) throw this.#givenUp
        out = this.#source
          ? this.#onChunk(this.#source, await this.#waitForChunk(this.#source))
          : this.#onStart(await this.#waitForStart())
      } catch (error) {
        if (this.#isLeft || (this.#done && this.#givenUp)) break
        out = this.#fail(error)
      }
      if (out.length > 0) keeping?.sent(out)
      if (this.#done && !this.#failed && this.#source) await keeping?.whole(this.#source.translator)
      if (out.length > 0) {
        this.#committed = true
        return { value: out, done: false }
      }
    }
    const rest = this.#finalFrame
    this.#finalFrame = ''
    if (rest.length > 0) return { value: rest, done: false }
    const broken = this.#break
    this.#break = undefined
    if (broken) throw broken
    return { value: undefined, done: true }
  }

  #waitForStart(): Promise<RelaySource | typeof ping> {
    this.#opening ??= this.#options.open()
    return this.#clock.wait(this.#opening, 0)
  }

  #onStart(got: RelaySource | typeof ping): Chunk {
    if (this.#isLeft) return ''
    if (this.#givenUp) throw this.#givenUp
    if (got === ping) return this.#options.protocol.frames.ping
    // The first output is not kept as long as the stream.
    const { out, ...source } = got
    this.#source = source
    this.#opening = undefined
    return out === undefined ? '' : this.#given(source, out)
  }

  #waitForChunk(source: RelaySource): Promise<IteratorResult<Chunk> | typeof ping> {
    if (!this.#pending) {
      this.#pending = source.body.next()
      this.#idleMs = this.#afterFinish.idleMs(source.translator.finishes, source.idleMs)
    }
    return this.#clock.wait(this.#pending, this.#idleMs).catch(broken)
  }

  #onChunk(source: RelaySource, got: IteratorResult<Chunk> | typeof ping): Chunk {
    if (this.#isLeft) return ''
    if (this.#givenUp) throw this.#givenUp
    if (got !== ping) {
      this.#pending = undefined
      if (got.done) return this.#finish(source)
      return this.#afterFinish.isOver() ? this.#cut(source) : this.#take(source, got.value)
    }
    const frame = source.translator.ping()
    if (!frame) this.#clock.sent()
    return frame
  }

  #take(from: RelaySource, chunk: Chunk): Chunk {
    return this.#given(from, from.translator.push(chunk))
  }

  /** `out`: what the translator has written. */
  #given(from: RelaySource, out: Chunk): Chunk {
    const { translator, raw } = from
    if (!this.#committed && !translator.hasContent) {
      if (translator.error) throw failedStream(translator.error, translator.notes)
      if (raw && translator.endedEarly) throw streamEndedEarly()
    }
    if (!isOver(from)) return out
    // The response is complete: the client need not wait until the upstream closes the connection.
    const taken = typeof out === 'string' ? out : upToEnd(out, translator.after)
    drain(from.body, this.#options.stop)
    this.#complete(cutOff(translator) ?? failedEnd(translator))
    return plus(taken, translator.end())
  }

  /** The upstream has ended its response. */
  #finish({ translator }: RelaySource): Chunk {
    const out = translator.end()
    const cut = cutOff(translator)
    if (cut && !this.#committed) throw cut
    this.#complete(cut ?? failedEnd(translator))
    return out
  }

  /** The response is complete, but the upstream continues. */
  #cut(source: RelaySource): Chunk {
    source.body.return?.()?.catch(() => {})
    this.#options.stop(reject(502, 'internal', 'the upstream went on after its finish reason'))
    return this.#finish(source)
  }

  /**
   * The rest of a stream that fails.
   * @throws GatewayError if nothing was sent yet: it becomes the response
   */
  #fail(thrown: unknown): Chunk {
    const { protocol, stop } = this.#options
    const rejection = rejectionOf(thrown, 'upstream')
    stop(rejection)
    if (!this.#committed) {
      this.#complete(rejection)
      throw rejection
    }
    const { error } = rejection
    const translator = this.#source?.translator
    const out = translator
      ? translator.end(error)
      : protocol.frames.failure(error, this.#options.head?.())
    const left = error.kind === 'cancelled'
    // A timeout or broken connection after the end of the response does not matter.
    this.#complete(translator?.finished && !left ? undefined : rejection)
    return left ? '' : out
  }

  #breaksAfter(failure: GatewayError): boolean {
    const { breaksOff } = this.#options
    return breaksOff === 'retryable' ? mayRetry(failure) : breaksOff === 'always'
  }

  #complete(failure: GatewayError | undefined): void {
    if (this.#done) return
    this.#done = true
    this.#failed = failure !== undefined
    // Of a response that ends properly with a failure, bytes of the same protocol have no error
    // frame.
    const isPassedOn = this.#source?.raw && this.#source.translator.finished
    if (failure && failure.error.kind !== 'cancelled' && !isPassedOn && this.#breaksAfter(failure))
      this.#break = failure
    this.#clock.stop()
    this.#options.onEnd(failure, this.#source?.translator)
  }
}

/**
 * Reads what follows a complete response, so that its connection can be reused. Runs in the
 * background.
 */
export function drain(body: AsyncIterator<Chunk>, stop: RelayOptions['stop']): void {
  const timer = setTimeout(
    () => stop(reject(502, 'internal', 'the upstream did not close the stream')),
    closeTimeoutMs,
  )
  const read = async () => {
    while (!(await body.next()).done);
  }
  read()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}

/**
 * Is nothing more to be sent? An upstream's own error is passed on unchanged, with what follows;
 * after a frame that cannot be read nothing is.
 */
const isOver = ({ translator: { finished, endedEarly, error }, raw }: RelaySource) =>
  finished || (raw && endedEarly) || (error !== undefined && !(raw && error.protocol !== undefined))

const cutOff = ({ finished, error }: StreamTranslator) => {
  if (finished) return undefined
  if (error) return failedStream(error)
  return streamEndedEarly()
}

const failedEnd = ({ failedEnd: error }: StreamTranslator) => error && failedStream(error)

/** The Refusal for a broken connection, unless the gateway aborted it. */
function broken(error: unknown): never {
  throw error instanceof GatewayError ? error : brokenOff(error)
}

/**
 * The output without whole frames after the end of the response, which clients would take for a
 * part of it.
 */
function upToEnd(out: Uint8Array, after: string): Uint8Array {
  const rest = encoded(after.replace(/^\s*data:\s*\[DONE\]\s*/, ''))
  const end = endOfFrames(rest)
  const more = textOf(rest.subarray(0, end))
  return /^(data|event)\s*:/m.test(more) && !more.includes('\ufffd')
    ? out.subarray(0, out.length - end)
    : out
}
