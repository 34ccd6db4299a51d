import type { Place, TokenLogprob } from '../../canonical/message.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { below } from '../notes/path.ts'

/**
 * The UTF-8 bytes of a token, for wires without them. null: the text is or contains part of a
 * character.
 */
export function bytesOf(token: string): number[] | null {
  return token.isWellFormed() && !token.includes('\ufffd')
    ? [...new TextEncoder().encode(token)]
    : null
}

export const isBytes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every(byte => Number.isInteger(byte) && byte >= 0 && byte <= 255)

export const isTokens = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) && value.every(isObject)

/**
 * What cannot be read of a token: its unknown keys, and known ones with a value of another type.
 */
export function unreadOfToken({
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
