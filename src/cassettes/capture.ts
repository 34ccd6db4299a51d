import type { TapedCall, TapeEvent } from '../gateway/gateway.ts'

type Chunk = Uint8Array | string

/** What was captured of a body. `end`: absent as long as it has neither ended nor broken off. */
export type CapturedBody = {
  chunks: { atMs: number; chunk: Chunk }[]
  length: number
  leftOut: number
  end?: 'complete' | 'broken'
}

type Sent = Extract<TapeEvent, { type: 'send' }>
type Tried = Extract<TapeEvent, { type: 'tried' }>
type Begun = { status: number; headers: Record<string, string>; atMs: number; body: CapturedBody }

export type CapturedAttempt = {
  sent: Omit<Sent, 'body'>
  atMs: number
  body: CapturedBody
  tried?: Tried
  response?: Begun
}

/** What is kept of the call. */
export type CapturedCall = Omit<TapedCall, 'request'> & {
  request: Pick<TapedCall['request'], 'method' | 'path' | 'headers'>
}

/** All of an exchange as it came, with its secrets. */
export type Captured = {
  call: CapturedCall
  /** Unix milliseconds. */
  time: number
  request?: CapturedBody
  candidates: Extract<TapeEvent, { type: 'route' }>['candidates']
  skipped: Extract<TapeEvent, { type: 'skip' }>[]
  attempts: Map<number, CapturedAttempt>
  response?: Begun
  end?: Extract<TapeEvent, { type: 'end' }>
  /** In bytes: what the chunks hold. */
  held: number
}

/**
 * `take`: may so many more bytes be held, of an exchange that has `before`? It counts them if so.
 */
export type Room = { take(bytes: number, before: number): boolean }

/** Keeps what the events say, and works on nothing of it. `room`: for the bytes of this exchange. */
export class Capture {
  readonly captured: Captured
  readonly #room: Room
  readonly #began = performance.now()

  constructor(call: TapedCall, room: Room) {
    this.captured = {
      call,
      time: Date.now(),
      candidates: [],
      skipped: [],
      attempts: new Map(),
      held: 0,
    }
    this.#room = room
  }

  take(event: TapeEvent): void {
    const { captured } = this
    switch (event.type) {
      case 'request':
        captured.request = this.#whole(event.body)
        break
      case 'route':
        captured.candidates = event.candidates
        break
      case 'skip':
        captured.skipped.push(event)
        break
      case 'send': {
        const { body, ...sent } = event
        captured.attempts.set(event.attempt, { sent, atMs: this.#now(), body: this.#whole(body) })
        break
      }
      case 'receive': {
        const attempt = captured.attempts.get(event.attempt)
        if (attempt) attempt.response = this.#begun(event)
        break
      }
      case 'received':
        this.#add(captured.attempts.get(event.attempt)?.response?.body, event.chunk)
        break
      case 'receive.end':
        end(captured.attempts.get(event.attempt)?.response?.body, event.broken)
        break
      case 'tried': {
        const attempt = captured.attempts.get(event.attempt)
        if (attempt) attempt.tried = event
        break
      }
      case 'respond':
        captured.response = this.#begun(event)
        break
      case 'responded':
        this.#add(captured.response?.body, event.chunk)
        break
      case 'respond.end':
        end(captured.response?.body, event.broken)
        break
      case 'end':
        captured.end = event
        break
      default:
        event satisfies never
    }
  }

  /** Has the exchange ended, and all that was received and sent in it? */
  isComplete(): boolean {
    const { end, response, attempts } = this.captured
    if (!end || !response?.body.end) return false
    for (const attempt of attempts.values())
      if (attempt.response && !attempt.response.body.end) return false
    return true
  }

  #now(): number {
    return performance.now() - this.#began
  }

  #begun({ status, headers }: { status: number; headers: Record<string, string> }): Begun {
    return { status, headers, atMs: this.#now(), body: emptyBody() }
  }

  #whole(chunk: Chunk): CapturedBody {
    const body = emptyBody()
    // Of one body that passes, the bytes are held once.
    const isHeld = this.captured.request?.chunks[0]?.chunk === chunk
    if (isHeld) Object.assign(body, { chunks: this.captured.request?.chunks, length: chunk.length })
    else if (chunk.length > 0) this.#add(body, chunk)
    body.end = 'complete'
    return body
  }

  #add(body: CapturedBody | undefined, chunk: Chunk): void {
    if (!body) return
    if (body.leftOut > 0 || !this.#room.take(chunk.length, this.captured.held)) {
      body.leftOut += chunk.length
      return
    }
    this.captured.held += chunk.length
    body.length += chunk.length
    // Events of one chunk have one time, and those of two have two.
    const atMs = Math.max(this.#now(), (body.chunks.at(-1)?.atMs ?? 0) + 0.001)
    body.chunks.push({ atMs, chunk })
  }
}

const emptyBody = (): CapturedBody => ({ chunks: [], length: 0, leftOut: 0 })

function end(body: CapturedBody | undefined, broken: boolean): void {
  if (body) body.end ??= broken ? 'broken' : 'complete'
}
