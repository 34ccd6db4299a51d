import type { TokenLogprob } from '../../canonical/message.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { leastLogprob } from '../../kit/logprobs.ts'

/** `logprobsResult` of a candidate: the tokens of its answer, and the alternatives to each. */

type Token = Pick<TokenLogprob, 'token' | 'logprob'>

/** `left`: unknown fields, nested as they were. Undefined: none. */
export function decodeLogprobs(result: JsonObject): { tokens: TokenLogprob[]; left?: JsonObject } {
  const { chosenCandidates, topCandidates, ...rest } = result
  const chosen = listOf(chosenCandidates)
  const top = listOf(topCandidates)
  if (!chosen || !(top ?? []).every(one => one['candidates'] == null || listOf(one['candidates'])) || (top && top.length > chosen.length))
    return { tokens: [], left: result }
  const others = top?.map(({ candidates, ...more }) => ({ tokens: listOf(candidates) ?? [], more }))
  const tokens = chosen.map((one, place) => ({ ...tokenOf(one), ...(others?.[place] && { top: others[place].tokens.map(tokenOf) }) }))
  const left: JsonObject = {
    ...rest,
    ...whereAny('chosenCandidates', chosen.map(leftOf)),
    ...whereAny('topCandidates', others?.map(other => ({ ...whereAny('candidates', other.tokens.map(leftOf)), ...other.more })) ?? []),
  }
  return { tokens, ...(Object.keys(left).length > 0 && { left }) }
}

function listOf(value: unknown): JsonObject[] | undefined {
  return Array.isArray(value) && value.every(isObject) ? value : undefined
}

/** A number or string with the default value of its type (0, empty) may be omitted on this wire. */
function tokenOf({ token, logProbability }: JsonObject): Token {
  return { token: typeof token === 'string' ? token : '', logprob: typeof logProbability === 'number' ? logProbability : 0 }
}

/** The unknown fields of a token; null means absent. */
function leftOf({ token: _, logProbability: __, ...more }: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null))
}

function whereAny(key: string, list: JsonObject[]): JsonObject {
  return list.some(one => Object.keys(one).length > 0) ? { [key]: list } : {}
}

export function encodeLogprobs(tokens: readonly TokenLogprob[]): JsonObject {
  return {
    chosenCandidates: tokens.map(encodeToken),
    ...(tokens.some(({ top }) => top?.length) && { topCandidates: tokens.map(({ top = [] }) => ({ candidates: top.map(encodeToken) })) }),
  }
}

const encodeToken = ({ token, logprob }: Token): JsonObject => ({ token, logProbability: Math.max(logprob, leastLogprob) })

/** Does a token have bytes that differ from its text? Only the text can be written here. */
export function hasOwnBytes(tokens: readonly TokenLogprob[]): boolean {
  const differs = ({ token, bytes }: Pick<TokenLogprob, 'token' | 'bytes'>) =>
    bytes != null && JSON.stringify(bytes) !== JSON.stringify([...new TextEncoder().encode(token)])
  return tokens.some(one => differs(one) || one.top?.some(differs))
}
