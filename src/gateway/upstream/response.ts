import { isBottomless, isObject, type JsonObject, parseJson } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { encoded, join, textOf } from '../../sse/bytes.ts'
import { createTextReader } from '../../sse/text.ts'
import type { PlainAbortController } from '../../transports/abort-controller.ts'
import type { TransportResponse } from '../../transports/transport.ts'
import { brokenOff, reject } from '../error.ts'

const maxErrorBytes = 64 * 1024
/** The bound of a response that has to be in memory as a whole. */
export const maxResponseBytes = 256 * 1024 * 1024

/**
 * A response, with its body as an iterator that has an idle timeout: that of the channel, or
 * `idleMs`.
 */
export type Watched = {
  response: TransportResponse
  watched(
    body: TransportResponse['body'],
    idleMs?: () => number,
  ): AsyncIterable<Uint8Array | string>
}

/**
 * The chunks of an upstream's response. A silence longer than `idleMs` aborts the call; 0: no
 * limit.
 * @throws GatewayError 502, 504
 */
export function watch(
  body: TransportResponse['body'],
  idleMs: number | (() => number),
  controller: PlainAbortController,
): AsyncIterableIterator<Uint8Array | string, undefined> {
  const chunks = body[Symbol.asyncIterator]()
  const silence = () => controller.abort(reject(504, 'timeout', 'the upstream stopped sending'))
  const watched: AsyncIterableIterator<Uint8Array | string, undefined> = {
    [Symbol.asyncIterator]: () => watched,
    async next() {
      const ms = typeof idleMs === 'number' ? idleMs : idleMs()
      const timer = ms ? setTimeout(silence, ms) : undefined
      try {
        return await chunks.next()
      } catch (error) {
        if (controller.signal.aborted) throw controller.signal.reason
        throw brokenOff(error)
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

/** The complete body of a response. @throws GatewayError 502, 504 */
export async function readWhole({ response, watched }: Watched): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of watched(response.body)) {
    const bytes = encoded(chunk)
    length = bounded(length + bytes.length)
    chunks.push(bytes)
  }
  return join(chunks, length)
}

/**
 * The JSON object in the body of a response.
 * @throws GatewayError for an error with status 200, or a body that is no JSON object
 */
export function objectOf(bytes: Uint8Array, from: Protocol): JsonObject {
  const text = textOf(bytes)
  if (isBottomless(text))
    throw reject(502, 'internal', 'the response of the upstream is nested too deeply')
  const value = parseJson(text)
  // Some providers send errors as a list of one.
  const body: unknown = Array.isArray(value) ? value[0] : value
  if (isObject(body) && body['error'] && from.detect(body).response.length === 0)
    throw reject(
      502,
      'internal',
      'the upstream failed',
      from.decodeError({ status: statusIn(body, from), headers: {}, body }).value,
    )
  if (isObject(value)) return value
  const isPage = /^\s*</.test(text)
  throw reject(
    502,
    'internal',
    isPage
      ? 'the upstream returned a web page: check its base address'
      : 'the upstream returned something that is not a JSON object',
  )
}

/**
 * The status of an error that came with status 200: its `code` if that is a status, else that of
 * its kind, else 502.
 */
function statusIn(body: JsonObject, from: Protocol): number {
  const { error } = body
  const code = isObject(error) ? error['code'] : undefined
  if (typeof code === 'number' && code >= 400 && code < 600) return code
  const { kind, status } = from.decodeError({ status: 0, headers: {}, body }).value
  return kind === 'internal' ? 502 : status
}

/** Checks the length of a response that has to be in memory as a whole. @throws GatewayError 502 */
export function bounded(length: number): number {
  if (length > maxResponseBytes)
    throw reject(502, 'internal', 'the response of the upstream is too large')
  return length
}

/** The beginning of an error body; more is not needed. */
export async function readSome(body: TransportResponse['body']): Promise<string> {
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

/** The beginning of a body for which it is still open whether it is text/event-stream. */
const undecided = /^\s*(d(at?)?|data|e(v(e(nt?)?)?)?|event|id?|r(e(t(ry?)?)?)?|retry)?$/
const maxUndecided = 64 * 1024
/** Units of a chunk that are nearly always enough. */
const few = 32

/** Reads as many chunks as are needed to recognize the kind of body. `start`: how they begin. */
export async function beginningOf(
  iterator: AsyncIterator<Uint8Array | string>,
): Promise<{ start: string; read: (Uint8Array | string)[] }> {
  const text = createTextReader()
  const read: (Uint8Array | string)[] = []
  let start = ''
  while (start.length < maxUndecided && undecided.test(start)) {
    const { done, value } = await iterator.next()
    if (done) break
    read.push(value)
    start += text.read(value.slice(0, few))
    if (undecided.test(start)) start += text.read(value.slice(few))
  }
  return { start, read }
}
