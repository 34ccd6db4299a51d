import { urlOf } from '../address/paths.ts'
import { isObject } from '../kit/json.ts'
import type { Protocol } from '../protocol.ts'
import { framesOfList } from '../sse/list.ts'
import { type Signal, Stopper } from '../transports/stopper.ts'
import type { TransportAnswer, TransportCall } from '../transports/transport.ts'
import type { Ask, Service, Trace } from './ask.ts'
import { blotted, withoutSecrets } from './blot.ts'
import { join, textOf } from './bytes.ts'
import { isKeyParameter } from './credential.ts'
import { demoUpstream } from './demo.ts'
import { kindOf, Refusal, refusalOf, refuse } from './error.ts'
import { beyondConnection, forwardedHeaders, keptHeaders, safeHeaders, upstreamDefaults, withLists } from './headers.ts'
import { freshIds } from './ids.ts'
import { demanding, type Prepared, prepare } from './prepare.ts'
import type { Candidate } from './upstream.ts'

/** An upstream that has said 2xx. */
export type Opened = Pick<Prepared, 'candidate' | 'settings'> & {
  answer: TransportAnswer
  kind: 'json' | 'stream'
  idleMs: number
  /** `watch` over this call. */
  watched(body: TransportAnswer['body']): AsyncIterable<Uint8Array | string>
}

/** `again`: may it be tried once more: nowhere, at another channel only, or at the same one too. */
export type Failure = { refusal: Refusal; again: 'never' | 'elsewhere' | 'here'; waitMs?: number }

const maxErrorBytes = 64 * 1024
const maxReplyBytes = 256 * 1024 * 1024

/** One attempt at one candidate. */
export async function call(
  service: Service,
  ask: Ask,
  trace: Trace,
  { candidate, controller }: { candidate: Candidate; controller: Stopper },
): Promise<Opened | Failure> {
  const { channel, protocol: to } = candidate
  const { timeouts } = channel
  const tooMany = await service.limits.take(`channel ${channel.name}`, channel.requestsPerMinute)
  if (tooMany !== undefined)
    return { refusal: refuse(429, 'rate_limit', 'the upstream channel is at its limit of requests per minute', { retryAfterMs: tooMany }), again: 'elsewhere' }
  let prepared: Prepared
  let embedded: TransportAnswer | undefined
  try {
    prepared = prepare(service, ask, candidate)
    // While the upstream thinks: its objects are ten times as large as the text, and would be carried from one collection to the next.
    ask.body.forget?.()
    if (channel.embedded)
      embedded = demoUpstream(prepared.body, to, { ...freshIds(), ...demanding(ask.operation, to), model: candidate.model, stream: prepared.stream })
  } catch (error) {
    return { refusal: refusalOf(error, 'request'), again: 'never' }
  }
  trace.notes = [...prepared.notes]
  const opened = openedBy(prepared, controller)
  if (embedded) return opened(embedded, prepared.stream ? 'stream' : 'json')

  limitTotal(channel, trace, controller)
  // An attempt that takes too long ends alone; the next one may still be tried.
  const own = linked(controller.signal)
  const firstByte = timeouts.firstByteMs
    ? setTimeout(() => own.abort(refuse(504, 'timeout', 'the upstream did not answer in time')), timeouts.firstByteMs)
    : undefined
  try {
    const { url, headers } = target(ask, trace, prepared)
    const said = await service.transport.send(new Post({ url, headers, body: prepared.bytes, stop: own, connectMs: timeouts.connectMs }))
    const answer = withoutSecrets(said, channel)
    const id = answer.headers[to.address.requestIdHeader]
    if (id !== undefined) trace.upstreamRequestId = id
    if (answer.status >= 200 && answer.status < 300) {
      const result = await sorted(answer, opened, prepared.stream)
      // An answer that nobody reads would hold its socket for ever.
      if ('again' in result) own.abort()
      return result
    }
    return failureOf(await readSome(watch(answer.body, timeouts.idleMs, own)), answer, { from: to, to: ask.protocol, channel })
  } catch (error) {
    if (own.signal.aborted) return { refusal: own.signal.reason instanceof Refusal ? own.signal.reason : refusalOf(error, 'upstream'), again: 'elsewhere' }
    if (error instanceof Refusal) return { refusal: error, again: 'never' }
    return { refusal: unreachable(error), again: 'here' }
  } finally {
    clearTimeout(firstByte)
  }
}

/** Holds nothing of what was asked: a stream may be open for long, and its request be large. */
function openedBy({ candidate, settings }: Prepared, controller: Stopper): (answer: TransportAnswer, kind: Opened['kind']) => Opened {
  const { idleMs } = candidate.channel.timeouts
  return (answer, kind) => ({ candidate, settings, answer, kind, idleMs, watched: body => watch(body, idleMs, controller) })
}

class Post implements TransportCall {
  readonly method = 'POST'
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: Prepared['bytes']
  readonly stop: Stopper
  readonly connectMs: number

  constructor({ url, headers, body, stop, connectMs }: Pick<Post, 'url' | 'headers' | 'body' | 'stop' | 'connectMs'>) {
    this.url = url
    this.headers = headers
    this.body = body
    this.stop = stop
    this.connectMs = connectMs
  }

  get signal(): AbortSignal {
    return this.stop.platform
  }
}

/** From the first attempt at a channel to the end of the exchange, answer included. */
function limitTotal({ name, timeouts: { totalMs } }: Candidate['channel'], trace: Trace, controller: Stopper): void {
  if (!totalMs || trace.limitedBy?.has(name)) return
  trace.limitedBy = new Set(trace.limitedBy).add(name)
  const timer = setTimeout(() => controller.abort(refuse(504, 'timeout', 'the upstream took too long')), totalMs)
  const { ended } = trace
  trace.ended = (...outcome) => {
    clearTimeout(timer)
    ended(...outcome)
  }
}

/** JSON, a stream or something else? Asks the first bytes where the header does not say. */
async function sorted(answer: TransportAnswer, opened: (answer: TransportAnswer, kind: Opened['kind']) => Opened, stream: boolean): Promise<Opened | Failure> {
  const type = answer.headers['content-type'] ?? ''
  if (/^text\/event-stream/i.test(type)) return opened(answer, 'stream')
  const isJson = /^application\/([\w.+-]+\+)?json/i.test(type)
  if (isJson && !stream) return opened(answer, 'json')
  if (!/html/i.test(type)) {
    const iterator = answer.body[Symbol.asyncIterator]()
    const { start, read } = await beginningOf(iterator)
    const replayed = { ...answer, body: replay(read, iterator) }
    // A list is a stream that came in one.
    if (/^\s*\[/.test(start)) return opened({ ...replayed, body: framesOfList(replayed.body) }, 'stream')
    if (isJson || /^\s*\{/.test(start)) return opened(replayed, 'json')
    if (/^\s*(data|event|id|retry)?:/.test(start)) return opened(replayed, 'stream')
  }
  return {
    refusal: refuse(502, 'internal', 'the upstream answered with a web page or something else that is no reply: is its base address right?'),
    again: 'never',
  }
}

/** What an upstream refused with → the same in the caller's dialect; between equal protocols byte for byte. */
export function failureOf(
  text: string,
  { status: given, headers }: TransportAnswer,
  { from, to, channel }: { from: Protocol; to: Protocol; channel: Candidate['channel'] },
): Failure {
  // Beyond 599 there are none, and not every host could pass one on.
  const status = given > 599 ? 502 : given
  const shown = blotted(text, channel)
  const body = parse(shown)
  const kept = keptHeaders(headers, channel.returnHeaders)
  const retry = status === 408 || status === 429 || status >= 500
  const hint = Number(headers['retry-after-ms'] ?? msUntil(headers['retry-after']))
  const waitMs = Number.isFinite(hint) && hint > 0 ? hint : undefined
  const again = !retry || headers['x-should-retry'] === 'false' ? 'never' : 'here'
  const failure = (refusal: Refusal): Failure => ({ refusal, again, ...(waitMs !== undefined && { waitMs }) })
  if (status < 400) return failure(refuse(502, 'internal', `the upstream answered with a redirect (${status}): is its base address right?`))
  if (/^\s*</.test(shown)) {
    const message = `the upstream answered ${status} with a web page`
    return failure(new Refusal({ status, kind: kindOf(status), message, ...(waitMs !== undefined && { retryAfterMs: waitMs }) }, { headers: kept }))
  }
  const { raw, ...said } = from.decodeError({ status, headers, body: body ?? shown.slice(0, 500) }).value
  // What is no JSON is no body to be given back.
  const value = body === undefined ? said : { ...said, raw }
  const wire = from === to && body !== undefined ? { status, headers: { 'content-type': 'application/json', ...kept }, body: shown } : undefined
  return failure(new Refusal(value, { headers: kept, ...(wire && { wire }) }))
}

/** Seconds, or a time of day. */
function msUntil(retryAfter = ''): number {
  const seconds = Number(retryAfter)
  return Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000
}

function target(ask: Ask, trace: Trace, { candidate, stream, settings }: Prepared): { url: string; headers: Record<string, string> } {
  const { channel, protocol, model } = candidate
  const { request, operation, protocol: caller } = ask
  const path = protocol.address.target({ operation, model, stream })
  if (path === undefined) throw refuse(404, 'not_found', 'the channel has no such call')
  const headers = { ...upstreamDefaults, accept: stream ? 'text/event-stream' : 'application/json' }
  const place = addressed({ channel, protocol, caller, path, headers }, request, trace)
  const { headers: more } = settings.context
  return more ? { url: place.url, headers: safeHeaders(withLists(place.headers, more)) } : place
}

type Addressed = { channel: Candidate['channel']; protocol: Protocol; caller: Protocol; path: string; headers: Record<string, string> }

/** URL and headers of a call to a channel. What a client of the same protocol says to its provider goes along. */
export function addressed(
  { channel, protocol, caller, path, headers }: Addressed,
  request: Ask['request'],
  { observed }: Pick<Trace, 'observed'>,
): { url: string; headers: Record<string, string> } {
  if (channel.baseUrl === undefined) throw refuse(404, 'not_found', 'the channel has no such call')
  const same = protocol === caller
  const said = beyondConnection(request.headers)
  const url = urlOf(channel.baseUrl, path)
  const sent = Object.assign(
    {},
    headers,
    forwardedHeaders(said, channel.forwardHeaders),
    observed.headers(),
    protocol.address.upstreamHeaders(channel.apiKey, same ? said : undefined),
  )
  Object.assign(sent, channel.headers)
  return { url: same ? withQuery(url, request.query) : url, headers: safeHeaders(sent) }
}

/** What the client asks of its provider in the query, but for keys and for what the address says itself. */
function withQuery(address: string, query: URLSearchParams): string {
  if (query.size === 0) return address
  const url = new URL(address)
  const ours = new Set(url.searchParams.keys())
  for (const [name, value] of query) if (!isKeyParameter(name) && !ours.has(name)) url.searchParams.append(name, value)
  return url.href
}

export function unreachable(error: unknown): Refusal {
  const code = codeOf(error)
  const timeout = code !== undefined && /TIMEOUT|ETIMEDOUT/.test(code)
  const message = `the upstream could not be reached${code ? ` (${code})` : ''}`
  return new Refusal({ status: timeout ? 504 : 502, kind: timeout ? 'timeout' : 'internal', message }, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; isObject(at) && depth < 4; at = at['cause'], depth++) if (typeof at['code'] === 'string') return at['code']
  return undefined
}

/** A controller that also fires when the signal does. */
export function linked(signal: Signal): Stopper {
  const controller = new Stopper()
  if (signal.aborted) controller.abort(signal.reason)
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
  return controller
}

/** The chunks; a silence longer than `idleMs` (0: any) ends the call. @throws Refusal 502, 504 */
export function watch(body: TransportAnswer['body'], idleMs: number, controller: Stopper): AsyncIterableIterator<Uint8Array | string, undefined> {
  const chunks = body[Symbol.asyncIterator]()
  const silence = () => controller.abort(refuse(504, 'timeout', 'the upstream stopped sending'))
  const watched: AsyncIterableIterator<Uint8Array | string, undefined> = {
    [Symbol.asyncIterator]: () => watched,
    async next() {
      const timer = idleMs ? setTimeout(silence, idleMs) : undefined
      try {
        return await chunks.next()
      } catch (error) {
        if (controller.signal.aborted) throw controller.signal.reason
        throw new Refusal({ status: 502, kind: 'internal', message: 'the upstream broke the connection' }, { cause: error })
      } finally {
        clearTimeout(timer)
      }
    },
    async return() {
      await chunks.return?.()
      return { value: undefined, done: true }
    },
  }
  return watched
}

/** The whole of a reply that is one JSON. @throws Refusal 502, 504 */
export async function readWhole({ answer, watched }: Pick<Opened, 'answer' | 'watched'>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of watched(answer.body)) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    length = bounded(length + bytes.length)
    chunks.push(bytes)
  }
  return join(chunks, length)
}

export async function readText(opened: Pick<Opened, 'answer' | 'watched'>): Promise<string> {
  return textOf(await readWhole(opened))
}

/** The length of a reply that has to be held as a whole. @throws Refusal 502 */
export function bounded(length: number): number {
  if (length > maxReplyBytes) throw refuse(502, 'internal', 'the reply of the upstream is too large')
  return length
}

/** The beginning of an error body, which is all that matters of it. */
export async function readSome(body: TransportAnswer['body']): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body) {
      text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
      if (text.length > maxErrorBytes) break
    }
  } catch {
    // The status is what counts.
  }
  return text
}

/** Of text/event-stream, of which more is needed to be sure. */
const undecided = /^\s*(d(at?)?|data|e(v(e(nt?)?)?)?|event|id?|r(e(t(ry?)?)?)?|retry)?$/
const maxUndecided = 64 * 1024

/** Chunks may be as short as a byte: so many of them as tell what the body is. */
async function beginningOf(iterator: AsyncIterator<Uint8Array | string>): Promise<{ start: string; read: (Uint8Array | string)[] }> {
  const decoder = new TextDecoder()
  const read: (Uint8Array | string)[] = []
  let start = ''
  while (start.length < maxUndecided && undecided.test(start)) {
    const { done, value } = await iterator.next()
    if (done) break
    read.push(value)
    start += typeof value === 'string' ? value : decoder.decode(value, { stream: true })
  }
  return { start, read }
}

function replay(read: readonly (Uint8Array | string)[], iterator: AsyncIterator<Uint8Array | string>): AsyncIterable<Uint8Array | string> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* read
      for (;;) {
        const { done, value } = await iterator.next()
        if (done) return
        yield value
      }
    },
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
