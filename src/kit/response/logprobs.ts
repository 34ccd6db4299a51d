import type { Place, TokenLogprob } from '../../canonical/message.ts'
import { omitUndefined } from '../fields/omit.ts'
import { createOwn } from '../fields/own.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { below } from '../notes/path.ts'

type Token = Omit<TokenLogprob, 'top'>
type WireToken<None> = { token: string; bytes?: number[] | None; logprob: number }

/** A token with its alternatives on these wires. `None`: the bytes of a token that has none. */
export type WireLogprob<None> = WireToken<None> & { top_logprobs?: WireToken<None>[] }

/**
 * Reads and writes the tokens of a wire that has `token`, `logprob`, `bytes` and `top_logprobs`.
 * `missing`: the log probability of a token without one. `noBytes`: the bytes of a token that has
 * none.
 */
/* @__NO_SIDE_EFFECTS__ */
export function createTokens<None extends null | []>(
  protocol: string,
  { missing, noBytes }: { missing: number; noBytes: None },
) {
  const { keep, ownOf } = createOwn(protocol)

  /** Unknown keys are kept with the token. */
  function decodeToken(wire: JsonObject, at: Place): Token {
    const { token, logprob, bytes } = wire
    const read: Token = {
      token: typeof token === 'string' ? token : '',
      logprob: typeof logprob === 'number' ? logprob : missing,
    }
    if (bytes === null || isBytes(bytes)) read.bytes = bytes?.length === 0 && noBytes ? null : bytes
    const unread = unreadOfToken(wire)
    if (Object.keys(unread).length === 0) return read
    read.at = at
    return keep(read, unread)
  }

  /** `at`: path of the list; `first`: number of tokens in it before these. */
  function decodeTokens(wire: readonly unknown[], at: Place, first = 0): TokenLogprob[] {
    return wire.map((one, i) => {
      const given = isObject(one) ? one : {}
      const place = below(at, first + i)
      const token: TokenLogprob = decodeToken(given, place)
      const { top_logprobs: top } = given
      if (isTokens(top))
        token.top = top.map((other, k) =>
          decodeToken(other, below(below(place, 'top_logprobs'), k)),
        )
      return token
    })
  }

  function encodeOne({ token, logprob, bytes, ext }: Token, whole: boolean): WireToken<None> {
    const given = bytes === undefined && whole ? bytesOf(token) : bytes
    const known: WireToken<None> = omitUndefined({
      token,
      bytes: given === null ? noBytes : given,
      logprob: Math.max(logprob, leastLogprob),
    })
    return ext ? { ...ownOf(ext), ...known } : known
  }

  /** `whole`: bytes and alternatives are required. */
  function encodeToken({ top, ...token }: TokenLogprob, whole: boolean): WireLogprob<None> {
    const known: WireLogprob<None> = encodeOne(token, whole)
    const tops = top?.map(one => encodeOne(one, whole)) ?? (whole ? [] : undefined)
    if (tops) known.top_logprobs = tops
    return known
  }

  return { decodeTokens, encodeToken }
}

/**
 * The UTF-8 bytes of a token, for wires without them. null: the text is or contains part of a
 * character.
 */
export function bytesOf(token: string): number[] | null {
  return token.isWellFormed() && !token.includes('\ufffd')
    ? [...new TextEncoder().encode(token)]
    : null
}

const isBytes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every(byte => Number.isInteger(byte) && byte >= 0 && byte <= 255)

export const isTokens = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) && value.every(isObject)

/**
 * What cannot be read of a token: its unknown keys, and known ones with a value of another type.
 */
function unreadOfToken({
  token,
  logprob,
  bytes,
  top_logprobs: top,
  ...unknown
}: JsonObject): JsonObject {
  return {
    ...unknown,
    ...(token != null && typeof token !== 'string' && { token }),
    ...(logprob != null && typeof logprob !== 'number' && { logprob }),
    ...(bytes != null && !isBytes(bytes) && { bytes }),
    ...(top != null && !isTokens(top) && { top_logprobs: top }),
  }
}

/** Represents minus infinity, which JSON does not have. */
export const leastLogprob = -9999

/**
 * Notes unknown keys of tokens that another protocol has kept, each key only once, as there may be
 * thousands of tokens.
 */
export function noteTokens(
  tokens: readonly TokenLogprob[],
  protocol: string,
  report: { once(code: 'field.unknown', at: Place): void },
): void {
  for (const { at = '', ext, top } of tokens) {
    if (top) noteTokens(top, protocol, report)
    for (const [name, { fields }] of Object.entries(ext ?? {}))
      if (name !== protocol)
        for (const key of Object.keys(fields ?? {})) report.once('field.unknown', below(at, key))
  }
}
