import type { CanonicalError } from '../../canonical/error.ts'
import type { Usage } from '../../canonical/response.ts'
import { optionsFor } from '../../kit/fields/option-groups.ts'
import type { JsonObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { plus } from '../../sse/bytes.ts'
import { createByteTranslator } from '../../translate/stream.ts'
import type { StreamTranslator } from '../../translate/stream-translator.ts'
import { replay } from '../../transports/bodies.ts'
import { mayHoldAny, mayHoldTwice } from '../body/bytes.ts'
import { membersOf, outlineOf } from '../body/outline.ts'
import { failedStream, type GatewayError, reject, rejectionOf, streamEndedEarly } from '../error.ts'
import type { Opened, ReadResponse } from './opened.ts'
import { objectOf, readWhole } from './response.ts'

type Chunk = Uint8Array | string
type Translator = StreamTranslator<Chunk>

/**
 * A response without content. `usage`: what it has cost. `asIs`: it is a response of its protocol,
 * which says itself that it has failed.
 */
export type Contentless = {
  error: GatewayError
  usage: Usage | undefined
  asIs?: Uint8Array<ArrayBuffer>
}

/**
 * The response with the beginning of its content. Only then a status of 200 is a success: before,
 * the request may be sent again. A stream is read up to its first content, anything else as a
 * whole. `passes`: the bytes of a whole response are sent unchanged, so only its usage and error
 * are needed. `to`: the protocol of a client that gets the stream; undefined: it is collected.
 * @throws GatewayError when it cannot be read
 */
export async function withContent(
  opened: Opened,
  { passes, to }: { passes: boolean; to: Protocol | undefined },
): Promise<Opened | Contentless> {
  if (opened.kind === 'stream') return withFirstFrames(opened, to)
  const read = await readResponse(opened, passes)
  return 'error' in read ? read : { read, ...opened }
}

/** In bytes. What comes after so much is taken for content. */
const mostBefore = 1024 * 1024

async function withFirstFrames(
  opened: Opened,
  to: Protocol | undefined,
): Promise<Opened | Contentless> {
  const { candidate, settings, response, watched } = opened
  const from = candidate.protocol
  const body = response.body[Symbol.asyncIterator]()
  const chunks = watched({ [Symbol.asyncIterator]: () => body })[Symbol.asyncIterator]()
  const translator = createByteTranslator(from, to ?? from, settings)
  const read: Chunk[] = []
  const out: Chunk[] = []
  let length = 0
  let isWhole = false
  while (!isWhole && !translator.hasContent && !hasEnded(translator) && length < mostBefore) {
    const { done, value } = await chunks.next()
    if (done) translator.end()
    else {
      read.push(value)
      out.push(translator.push(value))
      length += value.length
    }
    isWhole = done === true
  }
  if (hasFailed(translator)) {
    const { error, usage } = translator
    return { error: error ? failedStream(error) : streamEndedEarly(), usage }
  }
  return to && !isWhole
    ? { begun: { translator, body, out: out.reduce(plus) }, ...opened }
    : { ...opened, response: { ...response, body: replay(read, body) } }
}

const hasEnded = ({ finished, endedEarly, error }: Translator) =>
  finished || endedEarly || error !== undefined

/** Has it ended without content? What `strict` refuses is no failure of the upstream. */
function hasFailed(translator: Translator): boolean {
  const { hasContent, finished, error } = translator
  const isRefused = error?.kind === 'unsupported' && error.protocol === undefined
  return hasEnded(translator) && !hasContent && !finished && !isRefused
}

async function readResponse(opened: Opened, passes: boolean): Promise<ReadResponse | Contentless> {
  const { candidate, settings } = opened
  const from = candidate.protocol
  const bytes = await readWhole(opened)
  const seen = passes && bytes.length > brief ? seenOf(bytes, from, settings) : undefined
  if (seen) return seen
  const value = objectOf(bytes, from)
  const outcome = from.outcome(value, settings)
  const { error, usage } = outcome
  // Nearly every response has its content in a list.
  const holdsList = Object.values(value).some(member => Array.isArray(member) && member.length > 0)
  const lack = error || !holdsList ? lackIn(value, error, opened) : undefined
  if (!lack) return { value, bytes, outcome }
  return { error: lack.error, usage, ...(lack.isResponse && { asIs: bytes }) }
}

/** Undefined: it has content, or says why it has none. */
function lackIn(
  value: JsonObject,
  error: CanonicalError | undefined,
  { candidate, settings }: Opened,
): { error: GatewayError; isResponse: boolean } | undefined {
  const { protocol } = candidate
  const failure = error && failedStream(error)
  try {
    const { candidates, promptBlocked, id } = protocol.decodeResponse(
      value,
      optionsFor(protocol, settings),
    ).value
    const hasParts = candidates.some(({ messages }) => messages.some(({ parts }) => parts.length))
    if (hasParts || promptBlocked) return undefined
    if (failure) return { error: failure, isResponse: candidates.length > 0 }
    // One that is still in progress has an id.
    if (candidates.some(({ finish }) => finish || id !== undefined)) return undefined
  } catch (thrown) {
    return { error: failure ?? rejectionOf(thrown, 'upstream'), isResponse: false }
  }
  return {
    error: reject(502, 'internal', 'the upstream returned no content'),
    isResponse: false,
  }
}

/** In bytes. Parsing a shorter response is faster than searching for its members. */
const brief = 4096

/**
 * The outline of a response. Undefined: it is not enough to see usage and errors. Parsing 12 KB
 * would double the garbage of an exchange.
 */
function seenOf(
  bytes: Uint8Array<ArrayBuffer>,
  from: Protocol,
  settings: Opened['settings'],
): ReadResponse | undefined {
  const value = outlineOf(bytes, membersOf(bytes))
  if (
    !value ||
    value['error'] ||
    (settings.model !== undefined && typeof value['model'] !== 'string')
  )
    return undefined
  // Some servers report errors deeper inside.
  if ('error' in value ? mayHoldTwice(bytes, '"error"') : mayHoldAny(bytes, ['"error"']))
    return undefined
  const outcome = from.outcome(value, settings)
  return outcome.usage?.output && !outcome.error && !mayHoldAny(bytes, ['\\u00'])
    ? { value, bytes, outcome }
    : undefined
}
