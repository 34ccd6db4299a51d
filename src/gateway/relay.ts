import type { CanonicalError } from '../canonical/error.ts'
import type { Protocol } from '../protocol.ts'
import { createTextReader } from '../sse/text.ts'
import type { StreamTranslator } from '../translate/stream.ts'
import { join } from './bytes.ts'
import { type Clock, createClock, ping } from './clock.ts'
import { clientLeft, failedStream, Refusal, refusalOf, refuse } from './error.ts'

type Chunk = string | Uint8Array

/** An upstream that has begun to answer. `raw`: its bytes go on as they are, and the translator only reads along. `idleMs`: how long it may be silent; 0: for ever. */
export type Source = { translator: StreamTranslator; body: AsyncIterator<Chunk>; raw: boolean; idleMs: number }

export type RelayOptions = {
  /** The caller's. */
  protocol: Protocol
  /** Calls the upstream; rejects when that fails. */
  open(): Promise<Source>
  /** 0: no pings. */
  keepAliveMs: number
  /** Sees what is sent; `whole` is waited for before the last of it goes out, when the reply came to its own end. */
  keeping?: { sent(chunk: Chunk): void; whole(translator: StreamTranslator): Promise<void> } | undefined
  /** Ends the upstream call, in whatever phase it is. */
  stop(reason: Refusal): void
  /** Called once, however it ends. `failure` is absent when the reply came to its own end. */
  onEnd(failure: Refusal | undefined, translator: StreamTranslator | undefined): void
}

export type Relay = {
  /**
   * Waits for something to send; while the upstream is silent that is a ping, after which the status is settled. The
   * body has one await for each chunk of the upstream, which is read no faster than the body is.
   * @throws Refusal when the upstream failed before there was anything to send
   */
  start(): Promise<AsyncIterable<Chunk>>
  /** Ends it before its time: nobody reads any more, or whoever reads is told why. */
  giveUp(reason: Refusal): void
}

/** What is held back at most while waiting for the first whole frame. */
const maxHeld = 64 * 1024

/** How long an upstream gets to close a reply that is complete, before its socket is given up. */
const farewellMs = 1_000

export function createRelay(options: RelayOptions): Relay {
  return new RunningRelay(options)
}

class RunningRelay implements Relay {
  readonly #options: RelayOptions
  readonly #clock: Clock
  /** Absent until the upstream has begun to answer. */
  #source: Source | undefined
  /** What is being waited for: the upstream's answer, then each chunk of it. */
  #opening: Promise<Source> | undefined
  #pending: Promise<IteratorResult<Chunk>> | undefined
  /** Something was sent, so that the status cannot change any more. */
  #committed = false
  /** A piece of the reply itself was sent, not only pings. */
  #answered = false
  #done = false
  #failed = false
  #givenUp: Refusal | undefined
  /** The last words to a client that was not reading when the exchange was given up. */
  #farewell: Chunk = ''
  /** Whole lines that wait for the first frame that says something. */
  readonly #held: Uint8Array[] = []
  #heldLength = 0
  readonly #text = createTextReader()
  /** What has come of the last line that is held, and what the whole ones before it say. */
  #line = ''
  #saysData = false
  #saysError = false
  /** The last bytes sent: pings go between frames only. */
  #tail: Chunk = '\n\n'

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

  giveUp(reason: Refusal): void {
    if (this.#done) return
    this.#opening?.catch(() => {})
    this.#pending?.catch(() => {})
    if (reason.error.kind === 'cancelled') {
      this.#options.stop(reason)
      this.#complete(reason)
      return
    }
    this.#givenUp = reason
    if (!this.#clock.interrupt(reason) && this.#committed) this.#farewell = this.#fail(reason)
  }

  async #next(): Promise<IteratorResult<Chunk, undefined>> {
    const { keeping } = this.#options
    this.#clock.sent()
    while (!this.#done) {
      let out: Chunk
      try {
        if (this.#givenUp) throw this.#givenUp
        out = this.#source ? this.#chunkCame(this.#source, await this.#waitForChunk(this.#source)) : this.#answerCame(await this.#waitForAnswer())
      } catch (error) {
        if (this.#done && this.#givenUp) break
        out = this.#fail(error)
      }
      if (out.length > 0) keeping?.sent(out)
      if (this.#done && !this.#failed && this.#source) await keeping?.whole(this.#source.translator)
      if (out.length > 0) {
        this.#committed = true
        return { value: out, done: false }
      }
    }
    const rest = this.#farewell
    this.#farewell = ''
    return rest.length > 0 ? { value: rest, done: false } : { value: undefined, done: true }
  }

  #waitForAnswer(): Promise<Source | typeof ping> {
    this.#opening ??= this.#options.open()
    return this.#clock.wait(this.#opening, 0)
  }

  #answerCame(got: Source | typeof ping): Chunk {
    if (this.#givenUp) throw this.#givenUp
    if (got === ping) return this.#options.protocol.frames.ping
    this.#source = got
    return ''
  }

  #waitForChunk(source: Source): Promise<IteratorResult<Chunk> | typeof ping> {
    this.#pending ??= source.body.next()
    return this.#clock.wait(this.#pending, source.idleMs).catch(broken)
  }

  #chunkCame(source: Source, got: IteratorResult<Chunk> | typeof ping): Chunk {
    if (this.#givenUp) throw this.#givenUp
    if (got !== ping) {
      this.#pending = undefined
      return got.done ? this.#finish(source) : this.#take(source, got.value)
    }
    if (/\n\n$|\r\n\r\n$|\r\r$/.test(lastOf(this.#tail))) return this.#options.protocol.frames.ping
    // A ping must not stand in the middle of a frame: wait for the next chance.
    this.#clock.sent()
    return ''
  }

  #take(from: Source, chunk: Chunk): Chunk {
    const taken = this.#answered ? this.#passOn(from, chunk) : this.#begin(from, chunk)
    const { translator, raw } = from
    const { error, finished } = translator
    // What an upstream says of its own failure goes on as it is; what comes after something that is no reply does not.
    if (!finished && (!error || (raw && error.protocol !== undefined))) return taken
    const whole = this.#held.length > 0 ? this.#heldBytes() : taken
    const out = typeof whole === 'string' ? whole : upToEnd(whole, translator.after)
    // The reply is complete: the client need not wait until the upstream closes.
    const owed = translator.end()
    drain(from.body, this.#options.stop)
    this.#complete(cutOff(translator) ?? failedEnd(translator))
    return plus(out, owed)
  }

  #passOn({ translator, raw }: Source, chunk: Chunk): Chunk {
    const text = translator.push(chunk)
    if (!raw) return text
    this.#tail = chunk.length < 4 ? lastOf(this.#tail) + lastOf(chunk) : chunk
    return chunk
  }

  /** Line by line until something of the reply is out: whether an early error has a status must not depend on how the bytes were cut. */
  #begin(from: Source, chunk: Chunk): Chunk {
    const { translator, raw } = from
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    let at = 0
    while (at < bytes.length) {
      const end = endOfLine(bytes, at)
      const line = bytes.subarray(at, end)
      at = end
      const text = translator.push(line)
      if (translator.error && !this.#committed) throw failedStream(translator.error, translator.notes)
      if (!raw) {
        if (!text) continue
        this.#answered = true
        return text + translator.push(bytes.subarray(at))
      }
      if (this.#hold(line)) return this.#release(from, bytes.subarray(at))
    }
    return ''
  }

  /** May what is held go out now: a whole frame that says something, or more than may be held? */
  #hold(line: Uint8Array): boolean {
    const isNext = this.#held.length === 0 || endsLine(this.#held.at(-1))
    this.#held.push(line)
    this.#heldLength += line.length
    this.#look(line)
    return this.#heldLength >= maxHeld || (isNext && isBlank(line) && this.#saysData && !this.#saysError)
  }

  /** Each line is looked at once: a body of blank lines alone would take minutes if all of them were for each. */
  #look(line: Uint8Array): void {
    this.#line += this.#text.read(line)
    if (!endsLine(line)) return
    this.#saysData ||= this.#line.startsWith('data')
    this.#saysError ||= isError(this.#line)
    this.#line = ''
  }

  #heldBytes(): Uint8Array {
    return join(this.#held, this.#heldLength)
  }

  #release(from: Source, rest: Uint8Array): Uint8Array {
    this.#answered = true
    const before = this.#heldBytes()
    this.#held.length = 0
    this.#tail = before
    return rest.length > 0 ? join([before, this.#passOn(from, rest) as Uint8Array], before.length + rest.length) : before
  }

  /** The upstream has closed. */
  #finish({ translator }: Source): Chunk {
    const owed = translator.end()
    const cut = cutOff(translator)
    if (cut && !this.#committed) throw cut
    this.#complete(cut ?? failedEnd(translator))
    return plus(this.#held.length > 0 ? this.#heldBytes() : '', owed)
  }

  /** What is still to be sent of a stream that fails. @throws Refusal where nothing was sent yet: it becomes the answer */
  #fail(thrown: unknown): Chunk {
    const { protocol, stop } = this.#options
    const refusal = refusalOf(thrown, 'upstream')
    stop(refusal)
    if (!this.#committed) {
      this.#complete(refusal)
      throw refusal
    }
    const { error } = refusal
    const translator = this.#source?.translator
    const owed = translator ? plus(this.#held.length > 0 ? this.#heldBytes() : '', translator.end(error)) : protocol.frames.failure(error)
    const left = error.kind === 'cancelled'
    // A silence or a broken connection after the reply's own end takes nothing away from it.
    this.#complete(translator?.finished && !left ? undefined : refusal)
    return left ? '' : owed
  }

  #complete(failure: Refusal | undefined): void {
    if (this.#done) return
    this.#done = true
    this.#failed = failure !== undefined
    this.#clock.stop()
    this.#options.onEnd(failure, this.#source?.translator)
  }
}

/** Reads what follows a reply that is complete, so that its connection may serve again. Nobody waits for it. */
export function drain(body: AsyncIterator<Chunk>, stop: RelayOptions['stop']): void {
  const timer = setTimeout(() => stop(refuse(502, 'internal', 'the upstream did not close the stream')), farewellMs)
  const read = async () => {
    while (!(await body.next()).done);
  }
  read()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}

const cutOff = ({ finished, error }: StreamTranslator) => (finished ? undefined : failedStream(error ?? endedEarly))

const failedEnd = ({ failedEnd: error }: StreamTranslator) => error && failedStream(error)

const endedEarly: CanonicalError = { status: 502, kind: 'internal', message: 'the upstream ended the stream before the reply was complete' }

/** Whatever a connection breaks with, unless it was broken by us. */
function broken(error: unknown): never {
  throw error instanceof Refusal ? error : new Refusal({ status: 502, kind: 'internal', message: 'the upstream broke the connection' }, { cause: error })
}

function plus(out: Chunk, text: string): Chunk {
  if (!text) return out
  if (typeof out === 'string') return out + text
  const more = new TextEncoder().encode(text)
  return join([out, more], out.length + more.length)
}

function endOfLine(bytes: Uint8Array, from: number): number {
  for (let i = from; i < bytes.length; i++) if (bytes[i] === 0x0a || (bytes[i] === 0x0d && bytes[i + 1] !== 0x0a)) return i + 1
  return bytes.length
}

const isBlank = (line: Uint8Array) => line[0] === 0x0a || line[0] === 0x0d
const endsLine = (line: Uint8Array | undefined) => line?.at(-1) === 0x0a || line?.at(-1) === 0x0d

/** The chunk without frames that follow the end of the reply: clients would take them for a part of it. */
function upToEnd(chunk: Uint8Array, after: string): Uint8Array {
  const more = after.replace(/^\s*data:\s*\[DONE\]\s*/, '')
  if (!/^(data|event)\s*:/m.test(more) || more.includes('\ufffd')) return chunk
  return chunk.subarray(0, chunk.length - new TextEncoder().encode(more).length)
}

/** Some protocols say a failure in two frames, of which only the second is the end. */
const isError = (line: string) => /^data:\s*\{\s*"(error"|type"\s*:\s*"error")/.test(line)

function lastOf(chunk: Chunk): string {
  return typeof chunk === 'string' ? chunk.slice(-4) : String.fromCharCode(...chunk.subarray(-4))
}
