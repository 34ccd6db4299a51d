import type { Place, TokenLogprob } from '../../../canonical/message.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { leastLogprob, noteTokens } from '../../../kit/response/logprobs.ts'
import type { GenerateContentReport } from '../notes.ts'
import { extOf, ownFields, protocolName } from '../own.ts'
import type {
  GenerateContentLogprob,
  GenerateContentLogprobs,
  GenerateContentToken,
} from '../schema.ts'

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
