import type { Part, Place, TokenLogprob } from '../../../canonical/message.ts'
import type { CanonicalResponse, Finish } from '../../../canonical/response.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { leastLogprob, noteTokens } from '../../../kit/response/logprobs.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { extOf, type GenerateContentReport, ownFields, protocolName } from '../own.ts'
import type { GenerateContentLogprob } from '../schema.ts'
import { failedFinishReasons, finishReason, finishWord, finishWords } from '../vocabulary.ts'
import type {
  GenerateContentEnd,
  GenerateContentFeedback,
  GenerateContentLogprobs,
  GenerateContentToken,
} from '../written.ts'

/**
 * The finish of a response. There is no finish reason for calls: a response with calls ends like
 * any other.
 */

/** A call that cannot be read as one, e.g. without a name. */
export const isBrokenCall = (part: Part) =>
  part.type === 'opaque' && isObject(part.raw) && part.raw['functionCall'] !== undefined

/** What a candidate holds, which decides what its finish reason means. */
type Held = { hasCalls: boolean; hasContent: boolean; hasBrokenCall?: boolean }

/**
 * Undefined: there is no finish reason. A candidate that failed without content becomes an `error`.
 */
export function decodeFinish(
  reason: unknown,
  message: string | null | undefined,
  { hasCalls, hasContent, hasBrokenCall }: Held,
): Finish | undefined {
  const raw = finishWord(reason)
  if (raw === undefined) return undefined
  if (!hasContent && failedFinishReasons.has(raw))
    return { reason: 'error', raw, protocol: protocolName, message: message || failedText(raw) }
  const word = finishReason.toOurs(raw) ?? 'other'
  const category = word !== 'other' && finishReason.toWire(word) !== raw ? raw : undefined
  return {
    reason: word === 'stop' && (hasCalls || (hasBrokenCall && !hasContent)) ? 'tool_calls' : word,
    raw,
    protocol: protocolName,
    ...omitUndefined({ message: message || undefined, category }),
  }
}

type Ending = {
  hasCalls: boolean
  at: Place | undefined
  truncated?: 'error' | 'length' | undefined
}

/**
 * `finishReason` and `finishMessage`. Not for a failed response, which has to be written as an
 * error.
 * @throws TranslationError `truncated` without a finish, unless `truncated` is `length`
 */
export function encodeFinish(
  finish: Finish | undefined,
  { hasCalls, at, truncated }: Ending,
  report: GenerateContentReport,
): GenerateContentEnd {
  if (!finish) {
    if (truncated !== 'length')
      throw new TranslationError(
        { code: 'truncated', protocol: protocolName, path: '/candidates' },
        'the response has no finish reason',
      )
    report.add('finish.truncated-as-length', at, 'finish.reason')
    return { finishReason: 'MAX_TOKENS' }
  }
  const { reason, approximate, raw, protocol, message, sequence, category, details } = finish
  if (
    protocol === protocolName &&
    raw !== undefined &&
    decodeFinish(raw, undefined, {
      hasCalls: reason === 'tool_calls',
      hasContent: reason !== 'error',
    })?.reason === reason
  )
    return {
      finishReason: raw,
      ...omitUndefined({
        finishMessage: reason === 'error' && message === failedText(raw) ? undefined : message,
      }),
    }
  if (!isExact(finish, hasCalls) || approximate)
    report.add('finish.approximated', at, 'finish.reason')
  if (sequence !== undefined) report.add('finish.details', at, 'finish.sequence')
  if (category !== undefined || details !== undefined)
    report.add('finish.details', at, 'finish.details')
  const finishMessage = message ?? (reason === 'pause' ? pausedText : undefined)
  return { finishReason: finishWords[reason].word, ...omitUndefined({ finishMessage }) }
}

/** Does the word of the reason mean the same? "Stop" means calls too, when there are any. */
function isExact({ reason, raw }: Finish, hasCalls: boolean): boolean {
  if (reason === 'other') return raw === undefined
  if (reason === 'stop') return !hasCalls
  return reason === 'tool_calls' ? hasCalls : finishWords[reason].exact
}

const failedText = (raw: string) => `the model ended without a response: ${raw}`

/** Did the candidate fail in another protocol? One of this protocol is written unchanged. */
export const isForeignFailure = (finish: Finish | undefined): finish is Finish =>
  finish?.reason === 'error' && !(finish.protocol === protocolName && finish.raw !== undefined)

const pausedText = 'The turn was paused and can be continued.'

/** `promptFeedback` of a blocked prompt. Undefined: the prompt was not blocked. */
export function decodeBlocked(
  feedback: JsonObject | null | undefined,
): CanonicalResponse['promptBlocked'] {
  const reason = feedback?.['blockReason']
  if (!feedback || typeof reason !== 'string' || reason === '') return undefined
  const message = feedback['blockReasonMessage']
  return { reason, ...(typeof message === 'string' && { message }), raw: feedback }
}

/** The received value, if it came from this protocol and still has the same reason. */
export function encodeBlocked({
  reason,
  message,
  raw,
}: NonNullable<CanonicalResponse['promptBlocked']>): GenerateContentFeedback {
  return isObject(raw) && raw['blockReason'] === reason
    ? asRead(raw)
    : { blockReason: reason, ...omitUndefined({ blockReasonMessage: message }) }
}

/** `logprobsResult` of a candidate: the tokens of its response, and the alternatives to each. */

type Token = Omit<TokenLogprob, 'top'>

/** `left`: unknown keys outside of the tokens, or everything when the tokens cannot be read. */
export function decodeLogprobs(
  result: JsonObject,
  at: Place,
): { tokens: TokenLogprob[]; left?: JsonObject | undefined } {
  const { chosenCandidates, topCandidates, ...rest } = result
  const chosen = listOf(chosenCandidates)
  const top = listOf(topCandidates)
  if (
    !chosen ||
    !(top ?? []).every(one => one['candidates'] == null || listOf(one['candidates'])) ||
    (top && top.length > chosen.length)
  )
    return { tokens: [], left: result }
  const tokens = chosen.map(
    (one, nth): TokenLogprob => tokenOf(one, below(below(at, 'chosenCandidates'), nth)),
  )
  const others = (top ?? []).map(({ candidates, ...more }, nth) => {
    const place = below(below(below(at, 'topCandidates'), nth), 'candidates')
    const token = tokens[nth]
    if (token)
      token.top = (listOf(candidates) ?? []).map((one, rank) => tokenOf(one, below(place, rank)))
    return more
  })
  return {
    tokens,
    left: omitUndefinedOrNone({
      ...rest,
      topCandidates: others.some(more => omitUndefinedOrNone(more)) ? others : undefined,
    }),
  }
}

function listOf(value: unknown): JsonObject[] | undefined {
  return Array.isArray(value) && value.every(isObject) ? value : undefined
}

const known = keysOf<GenerateContentLogprob>()('token logProbability')

/** A number or string with the default value of its type (0, empty) may be omitted on this wire. */
function tokenOf(wire: JsonObject, at: Place): Token {
  const { token, logProbability } = wire
  const read: Token = {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logProbability === 'number' ? logProbability : 0,
  }
  const unknown = unknownOf(wire, known)
  return unknown ? { ...read, at, ...omitUndefined({ ext: extOf(unknown) }) } : read
}

export function encodeLogprobs(tokens: readonly TokenLogprob[]): GenerateContentLogprobs {
  return {
    chosenCandidates: tokens.map(encodeToken),
    ...(tokens.some(({ top }) => top?.length) && {
      topCandidates: tokens.map(({ top = [] }) => ({ candidates: top.map(encodeToken) })),
    }),
  }
}

const encodeToken = ({ token, logprob, ext }: Token): GenerateContentToken => ({
  ...ownFields(ext),
  token,
  logProbability: Math.max(logprob, leastLogprob),
})

/** What of the tokens of a text is not written: unknown fields, and bytes that its text does not say. */
export function noteLogprobs(
  tokens: readonly TokenLogprob[],
  at: Place | undefined,
  report: GenerateContentReport,
): void {
  noteTokens(tokens, protocolName, report)
  const differs = ({ token, bytes }: Pick<TokenLogprob, 'token' | 'bytes'>) =>
    bytes != null && JSON.stringify(bytes) !== JSON.stringify([...new TextEncoder().encode(token)])
  if (tokens.some(one => differs(one) || one.top?.some(differs)))
    report.add('logprobs.bytes', at, 'logprobs')
}
