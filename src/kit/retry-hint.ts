import type { CanonicalError } from '../canonical/error.ts'

/** The value of a header, whatever the case of its name. `name` is in lower case. */
export function headerOf(headers: Record<string, string> | undefined, name: string): string | undefined {
  for (const [key, value] of Object.entries(headers ?? {})) if (key === name || key.toLowerCase() === name) return String(value)
  return undefined
}

const amount = /^\d{1,12}(\.\d+)?$/

/** Milliseconds to wait before another try. A date says nothing without the time it is now (`now`, in seconds). */
export function retryHint(headers: Record<string, string> | undefined, now: number | undefined): number | undefined {
  const exact = headerOf(headers, 'retry-after-ms')?.trim()
  if (exact !== undefined && amount.test(exact)) return Math.round(Number(exact))
  const rough = headerOf(headers, 'retry-after')?.trim()
  if (rough === undefined) return undefined
  if (amount.test(rough)) return Math.round(Number(rough) * 1000)
  const date = Date.parse(rough)
  return now === undefined || Number.isNaN(date) ? undefined : Math.max(0, date - now * 1000)
}

/** As RFC 9110 has it: `Sun, 06 Nov 1994 08:49:37 GMT`. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Whether to ask again, and the date when: these go on as they were said, for a date cannot be told in another way without a clock. */
export function retryWords(headers: Record<string, string> | undefined): Record<string, string> {
  const again = headerOf(headers, 'x-should-retry')
  const when = headerOf(headers, 'retry-after')
  return {
    ...((again === 'true' || again === 'false') && { 'x-should-retry': again }),
    ...(when !== undefined && httpDate.test(when) && { 'retry-after': when }),
  }
}

/** The headers that go with the body of an error; `requestId`: under which name its id stands there. */
export function errorHeaders(error: CanonicalError, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (error.requestId !== undefined) headers[requestId] = error.requestId
  const ms = error.retryAfterMs
  if (ms === undefined) return headers
  headers['retry-after'] = String(Math.ceil(ms / 1000))
  if (ms % 1000 !== 0) headers['retry-after-ms'] = String(ms)
  return headers
}
