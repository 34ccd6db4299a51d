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
