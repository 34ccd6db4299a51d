import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Protocol } from '../../protocol.ts'
import { encoded, joined } from '../../sse/bytes.ts'
import { named, parseData } from '../../sse/data.ts'
import { createFrameParser, type Frame } from '../../sse/parse.ts'
import { createFrameRewriter } from '../../sse/rewrite.ts'
import { createTextReader } from '../../sse/text.ts'
import { WholeFrames } from '../../sse/whole-frames.ts'
import { streamHeaders } from '../../sse/write.ts'
import { renamedFrame } from '../../translate/renamed-frame.ts'
import type { Service, Trace } from '../ask.ts'
import { renamed } from '../body/outline.ts'
import { createClock, ping } from '../clock.ts'
import { Refusal, reasonOf, refusalOf, refuse, streamEndedEarly } from '../error.ts'
import { keptHeaders } from '../headers.ts'
import type { Identity } from '../hooks.ts'
import type { ChannelEntry, Settled } from '../options.ts'
import { type GatewayAnswer, type GatewayRequest, jsonAnswer } from '../request.ts'
import type { StoredRoute } from '../route.ts'
import { objectOf, readSome, readWhole, watch } from '../upstream/answer.ts'
import { withoutSecrets } from '../upstream/blot.ts'
import { addressed, limitTotal, linked } from '../upstream/call.ts'
import { failureOf, unreachable } from '../upstream/failure.ts'
import type { Kept } from './reply-store.ts'

type Call = Omit<StoredRoute, 'kind'> & { request: GatewayRequest }

/**
 * Answers a call about a stored reply: from the gateway's store, or by the channel whose provider stores it.
 * @throws Refusal 404 for an unknown reply
 */
export async function answerStored(service: Service, call: Call, trace: Trace): Promise<GatewayAnswer> {
  const { stored, asked, method, request } = call
  const { replyStore } = service
  const owner = trace.identity ?? {}
  // Upstream it would be a step of the path.
  if (/^\.{1,2}$/.test(asked.id)) throw new Refusal(stored.unknown('reply', asked.id))
  const kept = await replyStore?.reply(owner, asked.id)
  if (kept?.body === undefined) {
    const answer = await forward(service, { ...call, channel: channelFor(service, call, { kept, owner }), model: kept?.model }, trace)
    if (method === 'DELETE') await replyStore?.forget(owner, asked.id, [])
    return answer
  }
  if (asked.part === 'cancel') throw new Refusal(stored.finished)
  if (method === 'DELETE') {
    await replyStore?.forget(owner, asked.id, stored.itemsOf(kept.body))
    return jsonAnswer(stored.deleted(asked.id))
  }
  return jsonAnswer(stored.show({ body: kept.body, input: kept.input ?? [] }, asked.part, request.query))
}

/** The channel whose provider stores the reply: known from the store, or the only possible one. */
function channelFor({ config, catalog, replyStore }: Service, { protocol, stored, asked }: Call, { kept, owner }: { kept: Kept | undefined; owner: Identity }) {
  const unknown = stored.unknown('reply', asked.id)
  const speaking = config.channels.filter(channel => !channel.embedded && channel.protocols?.some(name => name === protocol.name))
  if (replyStore) {
    const keeper = speaking.find(({ name }) => name === kept?.channel)
    if (keeper) return keeper
    throw new Refusal(unknown)
  }
  const [only, ...others] = speaking.filter(channel => catalog.reaches(channel, owner))
  if (only && others.length === 0) return only
  const why = only
    ? 'Several channels may have it, and without a `store` the gateway does not know which.'
    : 'The gateway keeps no replies (no `store` is configured), and no channel speaks this protocol.'
  throw new Refusal({ ...unknown, message: `${unknown.message} ${why}` })
}

/** Forwards the call to the upstream and returns its answer unchanged. */
async function forward(
  { transport, limits, config }: Service,
  { protocol, stored, asked, method, request, channel, model }: Call & { channel: ChannelEntry; model: string | undefined },
  trace: Trace,
): Promise<GatewayAnswer> {
  const retryAfterMs = await limits.take(`channel ${channel.name}`, channel.requestsPerMinute)
  if (retryAfterMs !== undefined) throw refuse(429, 'rate_limit', 'the upstream channel is at its limit of requests per minute', { retryAfterMs })
  const { connectMs, firstByteMs, idleMs } = channel.timeouts
  const controller = linked(request.signal)
  limitTotal(channel, trace, controller)
  const timer = firstByteMs ? setTimeout(() => controller.abort(refuse(504, 'timeout', 'the upstream did not answer in time')), firstByteMs) : undefined
  try {
    const accept = 'application/json, text/event-stream'
    const place = addressed({ channel, protocol, caller: protocol, path: stored.target(asked), accept }, request, trace)
    const answer = withoutSecrets(await transport.send({ ...place, method, body: undefined, signal: controller.platform, connectMs }), channel)
    const watched = (body: typeof answer.body) => watch(body, idleMs, controller)
    if (answer.status < 200 || answer.status >= 300)
      throw failureOf(await readSome(watched(answer.body)), answer, { from: protocol, to: protocol, channel }).refusal
    const { status } = answer
    const kept = keptHeaders(answer.headers, channel.returnHeaders)
    // A reply that is still being generated, streamed from its beginning.
    if (/^text\/event-stream/i.test(answer.headers['content-type'] ?? '')) {
      const body = recorded(watched(answer.body), { protocol, ...config.defaults }, request, trace)
      return { status, headers: { ...streamHeaders, ...kept }, body: renamedFrames(body, protocol, model) }
    }
    const bytes = await readWhole({ answer, watched })
    if (bytes.length > 0) objectOf(bytes, protocol)
    // Never the upstream's content type: as HTML, a script in it could use the gateway with the rights of its page.
    return { status, headers: { 'content-type': 'application/json', ...kept }, body: (model === undefined ? undefined : renamed(bytes, model)) ?? bytes }
  } catch (error) {
    if (error instanceof Refusal) throw error
    if (controller.signal.aborted) throw refusalOf(controller.signal.reason, 'upstream')
    throw unreachable(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Rewrites only frames with a model name. The stream may begin in the middle of a reply, so it cannot be decoded. */
async function* renamedFrames(body: AsyncIterable<Uint8Array | string>, protocol: Protocol, model: string | undefined) {
  if (model === undefined) return yield* body
  const bytes = createTextReader()
  const rewriter = createFrameRewriter(frame => {
    if (!frame.includes('"model"')) return frame
    let written = ''
    const parser = createFrameParser(one => {
      written = renamedFrame(protocol, one, model)
    })
    parser.push(frame)
    parser.end()
    return written || frame
  })
  for await (const chunk of body) yield rewriter.push(bytes.read(chunk))
  yield rewriter.push(bytes.end()) + rewriter.end()
}

type Wire = Pick<Settled['defaults'], 'eventLimit' | 'keepAliveMs'> & { protocol: Protocol }

/** The stream. The exchange is recorded when it ends or its client disconnects. */
function recorded(body: AsyncIterable<Uint8Array | string>, wire: Wire, { signal }: GatewayRequest, trace: Trace): AsyncIterable<Uint8Array | string> {
  const ended = (failure?: Refusal) => trace.ended(failure?.error.kind === 'cancelled' ? 499 : 200, failure)
  signal.addEventListener('abort', () => ended(reasonOf(signal)), { once: true })
  return withFailure(body, wire, ended)
}

/**
 * A stream that is cut off passes in whole frames and gets an error frame of its protocol, numbered after its last one: it may have begun in
 * the middle.
 */
async function* withFailure(
  body: AsyncIterable<Uint8Array | string>,
  { protocol, eventLimit, keepAliveMs }: Wire,
  ended: (failure?: Refusal) => void,
): AsyncGenerator<Uint8Array | string> {
  const { frames } = protocol
  let failure: Refusal | undefined
  /** The data of the last frame. */
  let data: string | undefined
  /** The data of the last frame with an event. */
  let last = ''
  let isOver = false
  const take = (frame: Frame) => {
    data = frame.data
    if (!data.trimStart().startsWith('{')) return
    last = data
    // An event that ends a reply says how it ended. Events of other kinds may follow.
    if (data.includes('"status"') || data.includes('"error"')) isOver ||= isLast(frame, protocol)
  }
  const parser = createFrameParser(take, { maxLength: eventLimit })
  const whole = new WholeFrames<Uint8Array>(joined, { maxEventLength: eventLimit })
  try {
    for await (const chunk of withPings(body, keepAliveMs)) {
      if (chunk === ping) yield whole.isBetween ? frames.ping : ''
      else {
        parser.push(chunk)
        yield whole.push(encoded(chunk)) ?? ''
      }
    }
    const lastWhole = last
    data = undefined
    // Gives `take` what is left: the last frame may lack its blank line.
    parser.end()
    if (data !== undefined && parseData(data) !== undefined) yield whole.rest()
    else last = lastWhole
    // A stream that has nothing left to say is empty.
    if (last && !isOver) throw streamEndedEarly()
  } catch (error) {
    failure = error instanceof RangeError ? refuse(502, 'internal', 'an event of the upstream stream is too long') : refusalOf(error, 'upstream')
    yield `\n\n${frames.failure(failure.error, frames.countAfter?.(last))}`
  } finally {
    ended(failure)
  }
}

/** The chunks, and a ping after each silence of `keepAliveMs`. */
async function* withPings(body: AsyncIterable<Uint8Array | string>, keepAliveMs: number): AsyncGenerator<Uint8Array | string | typeof ping> {
  const clock = createClock(keepAliveMs)
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (let next = chunks.next(); ; ) {
      clock.sent()
      const came = await clock.wait(next, 0)
      if (came === ping) yield ping
      else if (came.done) return
      else {
        yield came.value
        next = chunks.next()
      }
    }
  } finally {
    clock.stop()
    chunks.return?.()?.catch(() => {})
  }
}

/** Does a stream end with this frame, well or with an error? */
function isLast({ data, event }: Frame, { streamDecoder }: Protocol): boolean {
  const state = streamDecoder.initial({})
  let last = false
  const take = (told: CanonicalEvent) => {
    last ||= told.type === 'error' || (told.type === 'end' && told.clean)
  }
  try {
    streamDecoder.step(state, named(parseData(data), event), take)
    streamDecoder.end(state, take)
  } catch {
    // Nobody can read it.
  }
  return last
}
