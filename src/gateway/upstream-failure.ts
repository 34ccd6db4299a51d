import { isBottomless, isObject, parseJson } from '../kit/json.ts'
import { retryHint } from '../kit/retry-hint.ts'
import type { Protocol } from '../protocol.ts'
import type { TransportAnswer } from '../transports/transport.ts'
import { blotted } from './blot.ts'
import { kindOf, Refusal, refuse } from './error.ts'
import { keptHeaders } from './headers.ts'
import type { Candidate } from './upstream.ts'

/**
 * An attempt that gave no reply. `again`: where it may be tried once more: nowhere, at another channel only, or at the same one
 * too. `waitMs`: how long the upstream asks to wait before that.
 */
export type Failure = { refusal: Refusal; again: 'never' | 'elsewhere' | 'here'; waitMs?: number }

/** What an upstream refused with → the same in the caller's dialect; between equal protocols byte for byte. */
export function failureOf(
  text: string,
  { status: given, headers }: TransportAnswer,
  { from, to, channel }: { from: Protocol; to: Protocol; channel: Candidate['channel'] },
): Failure {
  // No status is beyond 599, and not every host could pass one on.
  const status = given > 599 ? 502 : given
  const shown = blotted(text, channel)
  const body = isBottomless(shown) ? undefined : parseJson(shown)
  const kept = keptHeaders(headers, channel.returnHeaders)
  const retry = status === 408 || status === 429 || status >= 500
  // 0 asks for no wait at all, and so for none that differs from ours.
  const waitMs = retryHint(headers, Date.now() / 1000) || undefined
  const again = !retry || headers['x-should-retry'] === 'false' ? 'never' : 'here'
  const failure = (refusal: Refusal): Failure => ({ refusal, again, ...(waitMs !== undefined && { waitMs }) })
  if (status < 400) return failure(refuse(502, 'internal', `the upstream answered with a redirect (${status}): is its base address right?`))
  if (/^\s*</.test(shown)) {
    const message = `the upstream answered ${status} with a web page`
    return failure(new Refusal({ status, kind: kindOf(status), message, ...(waitMs !== undefined && { retryAfterMs: waitMs }) }, { headers: kept }))
  }
  const { raw, ...said } = from.decodeError({ status, headers, body: body ?? shown.slice(0, 500) }).value
  // Text that is no JSON must not be given back as a JSON body.
  const value = body === undefined ? said : { ...said, raw }
  const wire = from === to && body !== undefined ? { status, headers: { 'content-type': 'application/json', ...kept }, body: shown } : undefined
  return failure(new Refusal(value, { headers: kept, ...(wire && { wire }) }))
}

/** No answer came at all: no connection, or one that broke. */
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
