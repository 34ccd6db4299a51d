import type { CanonicalError } from '../canonical/error.ts'
import type { Protocol } from '../protocol.ts'
import type { StreamTranslator } from '../translate/stream.ts'
import { join } from './bytes.ts'
import { clientLeft, failedStream, Refusal, refusalOf, refuse } from './error.ts'

type Chunk = string | Uint8Array

/** An upstream that has begun to answer. `raw`: its bytes go on as they are, the translator only reads along. */
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

export function createRelay({ protocol, open, keepAliveMs, keeping, stop, onEnd }: RelayOptions): Relay {
  const clock = createClock(keepAliveMs)
  let source: Source | undefined
  let opening: Promise<Source> | undefined
  let pending: Promise<IteratorResult<Chunk>> | undefined
  /** Something was sent, so that the status cannot change any more. */
  let committed = false
  /** A piece of the reply was sent. */
  let answered = false
  let done = false
  let failed = false
  let givenUp: Refusal | undefined
  /** What is still to be said to a client that was not reading when it was given up. */
  let farewell: Chunk = ''
  const held: Uint8Array[] = []
  let heldLength = 0
  /** The last bytes sent, for pings go between frames only. */
  let tail: Chunk = '\n\n'

  async function next(): Promise<IteratorResult<Chunk, undefined>> {
    clock.sent()
    while (!done) {
      let out: Chunk
      try {
        if (givenUp) throw givenUp
        if (!source) {
          opening ??= open()
          const got = await clock.wait(opening, 0)
          if (givenUp) throw givenUp
          if (got !== ping) {
            source = got
            continue
          }
          out = protocol.frames.ping
        } else {
          pending ??= source.body.next()
          const got = await clock.wait(pending, source.idleMs).catch(broken)
          if (givenUp) throw givenUp
          if (got === ping) {
            if (!/\n\n$|\r\n\r\n$|\r\r$/.test(lastOf(tail))) {
              clock.sent()
              continue
            }
            out = protocol.frames.ping
          } else {
            pending = undefined
            out = got.done ? finish(source) : take(source, got.value)
          }
        }
      } catch (error) {
        if (done && givenUp) break
        out = fail(error)
      }
      if (out.length > 0) keeping?.sent(out)
      if (done && !failed && source) await keeping?.whole(source.translator)
      if (out.length > 0) {
        committed = true
        return { value: out, done: false }
      }
    }
    const rest = farewell
    farewell = ''
    return rest.length > 0 ? { value: rest, done: false } : { value: undefined, done: true }
  }

  function take(from: Source, chunk: Chunk): Chunk {
    const taken = answered ? through(from, chunk) : begin(from, chunk)
    const { translator, raw } = from
    const { error, finished } = translator
    // What an upstream says of its own failure goes on as it is; what comes after something that is no reply does not.
    if (!finished && (!error || (raw && error.protocol !== undefined))) return taken
    const whole = held.length > 0 ? join(held, heldLength) : taken
    const out = typeof whole === 'string' ? whole : upToEnd(whole, translator.after)
    // The reply is complete: the client need not wait until the upstream closes.
    const owed = translator.end()
    drain(from.body, stop)
    complete(cutOff(translator) ?? failedEnd(translator))
    return plus(out, owed)
  }

  function through({ translator, raw }: Source, chunk: Chunk): Chunk {
    const text = translator.push(chunk)
    if (!raw) return text
    tail = chunk.length < 4 ? lastOf(tail) + lastOf(chunk) : chunk
    return chunk
  }

  /** Line by line until something of the reply is out: whether an early error has a status must not hang on how bytes were cut. */
  function begin(from: Source, chunk: Chunk): Chunk {
    const { translator, raw } = from
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    let at = 0
    while (at < bytes.length) {
      const end = endOfLine(bytes, at)
      const line = bytes.subarray(at, end)
      at = end
      const text = translator.push(line)
      if (translator.error && !committed) throw failedStream(translator.error)
      if (!raw) {
        if (!text) continue
        answered = true
        return text + translator.push(bytes.subarray(at))
      }
      const isNext = held.length === 0 || endsLine(held.at(-1))
      held.push(line)
      heldLength += line.length
      if (heldLength < maxHeld && !(isNext && isBlank(line) && saysSomething(join(held, heldLength)))) continue
      return release(from, bytes.subarray(at))
    }
    return ''
  }

  function release(from: Source, rest: Uint8Array): Uint8Array {
    answered = true
    const before = join(held, heldLength)
    held.length = 0
    tail = before
    return rest.length > 0 ? join([before, through(from, rest) as Uint8Array], before.length + rest.length) : before
  }

  /** The upstream has closed. */
  function finish(from: Source): Chunk {
    const { translator } = from
    const owed = translator.end()
    const cut = cutOff(translator)
    if (cut && !committed) throw cut
    complete(cut ?? failedEnd(translator))
    return plus(held.length > 0 ? join(held, heldLength) : '', owed)
  }

  function fail(thrown: unknown): Chunk {
    const refusal = refusalOf(thrown, 'upstream')
    stop(refusal)
    if (!committed) {
      complete(refusal)
      throw refusal
    }
    const { error } = refusal
    const owed = source ? plus(held.length > 0 ? join(held, heldLength) : '', source.translator.end(error)) : protocol.frames.failure(error)
    const left = error.kind === 'cancelled'
    // What was silent or broke after its own end has said all there was to say.
    complete(source?.translator.finished && !left ? undefined : refusal)
    return left ? '' : owed
  }

  function complete(failure: Refusal | undefined): void {
    if (done) return
    done = true
    failed = failure !== undefined
    clock.stop()
    onEnd(failure, source?.translator)
  }

  function giveUp(reason: Refusal): void {
    if (done) return
    opening?.catch(() => {})
    pending?.catch(() => {})
    if (reason.error.kind === 'cancelled') {
      stop(reason)
      complete(reason)
      return
    }
    givenUp = reason
    if (!clock.interrupt(reason) && committed) farewell = fail(reason)
  }

  return {
    async start() {
      let first: IteratorResult<Chunk, undefined> | undefined = await next()
      const iterator = {
        next() {
          if (!first) return next()
          const result = Promise.resolve(first)
          first = undefined
          return result
        },
        async return() {
          giveUp(clientLeft())
          return { value: undefined, done: true as const }
        },
      }
      return { [Symbol.asyncIterator]: () => iterator }
    },
    giveUp,
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

const ping = Symbol('ping')

/** One timer for pings and for silence; it is set anew when it fires, not for each chunk. */
function createClock(keepAliveMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let due: { resolve(value: typeof ping): void; reject(error: Refusal): void; since: number; idleMs: number } | undefined
  let setFor = 0
  let lastOut = Date.now()
  let waitingFor: unknown
  let waitingSince = 0

  function arm(): void {
    if (!due) return
    const soonest = Math.min(keepAliveMs ? lastOut + keepAliveMs : Infinity, due.idleMs ? due.since + due.idleMs : Infinity)
    if (soonest === Infinity || (timer && setFor <= soonest)) return
    clearTimeout(timer)
    setFor = soonest
    timer = setTimeout(fire, Math.max(1, soonest - Date.now()))
  }

  function fire(): void {
    timer = undefined
    const now = Date.now()
    const waiting = due
    // Taken before it is told: whoever took a ping may not be waiting any more.
    due = undefined
    if (waiting?.idleMs && now - waiting.since >= waiting.idleMs) waiting.reject(refuse(504, 'timeout', 'the upstream stopped sending'))
    else if (waiting && keepAliveMs && now - lastOut >= keepAliveMs) waiting.resolve(ping)
    else {
      due = waiting
      arm()
    }
  }

  return {
    /** The client took all it was given: from now on it is waiting. */
    sent() {
      lastOut = Date.now()
    },
    /** What the promise gives, or a ping when that takes too long. Silence is counted over pings. */
    wait<T>(promise: Promise<T>, idleMs: number): Promise<T | typeof ping> {
      return new Promise((resolve, reject) => {
        if (waitingFor !== promise) {
          waitingFor = promise
          waitingSince = Date.now()
        }
        const mine = { resolve, reject, since: waitingSince, idleMs }
        due = mine
        arm()
        promise.then(
          value => {
            if (due === mine) due = undefined
            resolve(value)
          },
          error => {
            if (due === mine) due = undefined
            reject(error)
          },
        )
      })
    },
    /** Whoever waits hears this instead. Is anybody waiting? */
    interrupt(reason: Refusal): boolean {
      const waiting = due
      due = undefined
      waiting?.reject(reason)
      return waiting !== undefined
    },
    stop() {
      clearTimeout(timer)
      due = undefined
    },
  }
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

/** Without the frames that follow the end of the reply: clients take another message for a part of this one. */
function upToEnd(chunk: Uint8Array, after: string): Uint8Array {
  const more = after.replace(/^\s*data:\s*\[DONE\]\s*/, '')
  if (!/^(data|event)\s*:/m.test(more) || more.includes('\ufffd')) return chunk
  return chunk.subarray(0, chunk.length - new TextEncoder().encode(more).length)
}

/**
 * Is there data among these lines, and is it no error? Some protocols say a failure in two frames, of which only the
 * second is the end.
 */
function saysSomething(lines: Uint8Array): boolean {
  const data = new TextDecoder()
    .decode(lines)
    .split(/\r\n|\r|\n/)
    .filter(line => line.startsWith('data'))
  return data.length > 0 && !data.some(line => /^data:\s*\{\s*"(error"|type"\s*:\s*"error")/.test(line))
}

function lastOf(chunk: Chunk): string {
  return typeof chunk === 'string' ? chunk.slice(-4) : String.fromCharCode(...chunk.subarray(-4))
}
