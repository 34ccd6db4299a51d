import type { CanonicalError } from '../../canonical/error.ts'
import { isObject } from '../json/json.ts'
import { isSpent } from './spent.ts'

/** The value of a header, whatever the case of its name. `name` is in lower case. */
export function headerOf(
  headers: Record<string, string> | undefined,
  name: string,
): string | undefined {
  for (const [key, value] of Object.entries(headers ?? {}))
    if (key === name || key.toLowerCase() === name) return String(value)
  return undefined
}

const amount = /^\d{1,12}(\.\d+)?$/

/**
 * Milliseconds to wait before a retry. `now`: Unix seconds, needed when `retry-after` is a date.
 * Undefined: no hint.
 */
export function retryHint(
  headers: Record<string, string> | undefined,
  now: number | undefined,
): number | undefined {
  const exact = headerOf(headers, 'retry-after-ms')?.trim()
  if (exact !== undefined && amount.test(exact)) return Math.round(Number(exact))
  const rough = headerOf(headers, 'retry-after')?.trim()
  if (rough === undefined) return undefined
  if (amount.test(rough)) return Math.round(Number(rough) * 1000)
  const date = Date.parse(rough)
  return now === undefined || Number.isNaN(date) ? undefined : Math.max(0, date - now * 1000)
}

/** Names of a number of seconds in the details of an error. */
const secondsIn = ['resets_in_seconds', 'retry_after_seconds', 'retry_after'] as const

/** The words before a duration, or before the date of the end of a limit. */
const waits =
  /\b(?:(?:try|retry|available)(?: again)?|resets?|wait) ?(?:in|after|for)?:? ?(?:about |at least )?(?=\d)/gi
const regained = /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/i

/** One part of a duration such as `1m30.5s`, `2 hours 5 min` or `120ms`. */
const durationPart =
  / ?(\d{1,9}(?:\.\d{1,12})?) ?(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|hr|h|days?|d)(?![a-z])/iy

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function waitIn(message: string): number | undefined {
  for (const { 0: words, index } of message.matchAll(waits)) {
    let total: number | undefined
    durationPart.lastIndex = index + words.length
    for (let part = durationPart.exec(message); part; part = durationPart.exec(message)) {
      const unit = (part[2] ?? '').toLowerCase()
      const ms = /^(ms|mil)/.test(unit) ? 1 : (unitMs[unit.slice(0, 1)] ?? 0)
      total = (total ?? 0) + Number(part[1]) * ms
    }
    if (total !== undefined) return Math.round(total)
  }
  return undefined
}

/**
 * The same for an error that says when to come back only in its body. `now`: Unix seconds, needed
 * for dates.
 */
export function writtenHint(
  { kind, details, message, raw }: CanonicalError,
  now: number | undefined,
): number | undefined {
  if (kind !== 'rate_limit' && kind !== 'quota' && kind !== 'overloaded') return undefined
  const error = isObject(raw) ? raw['error'] : undefined
  const numberIn = (name: string): number | undefined => {
    const [value] = [details, error].flatMap(one => (isObject(one) ? (one[name] ?? []) : []))
    return typeof value === 'number' && value >= 0 && value < 1e12 ? value : undefined
  }
  for (const name of secondsIn) {
    const value = numberIn(name)
    if (value !== undefined) return Math.round(value * 1000)
  }
  const [, day, time] = regained.exec(message) ?? []
  const end = numberIn('resets_at') ?? (day && Date.parse(`${day}T${time}Z`) / 1000)
  if (now !== undefined && end) return Math.max(0, Math.round((end - now) * 1000))
  return waitIn(message)
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110). */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The headers that say whether and when to retry, unchanged: `x-should-retry`, and a `retry-after`
 * that is a date, which cannot be converted without a clock.
 */
export function retryWords(headers: Record<string, string> | undefined): Record<string, string> {
  const again = headerOf(headers, 'x-should-retry')
  const when = headerOf(headers, 'retry-after')
  return {
    ...((again === 'true' || again === 'false') && { 'x-should-retry': again }),
    ...(when !== undefined && httpDate.test(when) && { 'retry-after': when }),
  }
}

/** Can a text be the value of a header? A line break would begin another header. */
export const isHeaderValue = (text: string): boolean =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)

/**
 * The headers of an error response. `requestId`: the name of the header for the request id, which
 * may have come in a body. Official clients do not retry with `x-should-retry: false`; without it,
 * some ask for minutes after a quota is spent.
 */
export function errorHeaders(error: CanonicalError, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  const { requestId: id } = error
  if (id !== undefined && isHeaderValue(id)) headers[requestId] = id
  if (isSpent(error.kind)) headers['x-should-retry'] = 'false'
  const ms = error.retryAfterMs
  if (ms === undefined) return headers
  headers['retry-after'] = String(Math.ceil(ms / 1000))
  if (ms % 1000 !== 0) headers['retry-after-ms'] = String(ms)
  return headers
}
