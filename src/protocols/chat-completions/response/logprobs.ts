import type { Part, Place, TokenLogprob } from '../../../canonical/message.ts'
import { omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import {
  bytesOf,
  isBytes,
  isTokens,
  leastLogprob,
  noteTokens,
  unreadOfToken,
} from '../../../kit/response/logprobs.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { keep, protocolName, wireOf } from '../own.ts'
import type { ChatCompletionsLogprobs, ChatCompletionsToken } from '../written.ts'

/** `logprobs` of a choice: the log probabilities of the tokens of its text and of its refusal. */

/**
 * Puts log probabilities on the part that they belong to. Returns those of text if there is no text
 * part.
 */
export function attachLogprobs(
  parts: readonly Part[],
  { logprobs, at, report }: { logprobs: JsonObject; at: Place; report: ChatCompletionsReport },
): TokenLogprob[] | undefined {
  const content = decodeLogprobs(logprobs['content'], below(at, 'content'))
  const refusal = decodeLogprobs(logprobs['refusal'], below(at, 'refusal'))
  const text = parts.find(part => part.type === 'text')
  const refused = parts.find(part => part.type === 'refusal')
  if (refusal && refused) refused.logprobs = refusal
  else if (refusal) noteUnattached(at, report)
  if (!content) return undefined
  if (!text) return content
  text.logprobs = content
  return undefined
}

/** Notes log probabilities of a refusal that is not there. `at`: path of `logprobs`. */
export const noteUnattached = (at: Place, report: ChatCompletionsReport) =>
  report.add('logprobs.unattached', below(at, 'refusal'))

/** `at`: path of the list; `first`: how many tokens came before these. */
export function decodeLogprobs(
  wire: unknown,
  at: Place = '',
  first = 0,
): TokenLogprob[] | undefined {
  if (!isTokens(wire) || wire.length === 0) return undefined
  return wire.map((entry, i) => {
    const { top_logprobs: top } = entry
    const place = below(at, first + i)
    const token: TokenLogprob = decodeToken(entry, place)
    if (isTokens(top))
      token.top = top.map((one, k) => decodeToken(one, below(below(place, 'top_logprobs'), k)))
    return token
  })
}

/** The unknown keys of `logprobs`, and lists that cannot be read. */
export function unreadOfLogprobs({ content, refusal, ...unknown }: JsonObject): JsonObject {
  return {
    ...unknown,
    ...(content != null && !isTokens(content) && { content }),
    ...(refusal != null && !isTokens(refusal) && { refusal }),
  }
}

function decodeToken(wire: JsonObject, at: Place): Omit<TokenLogprob, 'top'> {
  const { token, logprob, bytes } = wire
  const unread = omitUndefinedOrNone(unreadOfToken(wire))
  const read: Omit<TokenLogprob, 'top'> = {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logprob === 'number' ? logprob : Number.NEGATIVE_INFINITY,
  }
  if (bytes === null || isBytes(bytes)) read.bytes = bytes
  return unread ? keep({ ...read, at }, unread) : read
}

export function encodeLogprobs(
  tokens: readonly TokenLogprob[],
): NonNullable<ChatCompletionsLogprobs['content']> {
  return tokens.map(token =>
    Object.assign(encodeToken(token), { top_logprobs: (token.top ?? []).map(encodeToken) }),
  )
}

function encodeToken({ token, logprob, bytes, ext }: TokenLogprob): ChatCompletionsToken {
  const known: ChatCompletionsToken = {
    token,
    bytes: bytes === undefined ? bytesOf(token) : bytes,
    logprob: Math.max(logprob, leastLogprob),
  }
  return ext ? wireOf<ChatCompletionsToken>(known, ext) : known
}

/** `logprobs` of a choice. Undefined: none. */
export function encodeChoiceLogprobs(
  parts: readonly Part[],
  loose: readonly TokenLogprob[] | undefined,
  report: ChatCompletionsReport,
): ChatCompletionsLogprobs | undefined {
  const content = [
    ...(loose ?? []),
    ...flatMap(parts, part => (part.type === 'text' ? (part.logprobs ?? []) : [])),
  ]
  const refusal = flatMap(parts, part => (part.type === 'refusal' ? (part.logprobs ?? []) : []))
  noteTokens([...content, ...refusal], protocolName, report)
  if (content.length === 0 && refusal.length === 0) return undefined
  return {
    content: content.length > 0 ? encodeLogprobs(content) : null,
    refusal: refusal.length > 0 ? encodeLogprobs(refusal) : null,
  }
}
