/** Counts calls per minute and name. */
export type Limits = {
  /** Counts one call; gives the milliseconds to wait when there were too many (then it is not counted), else undefined. */
  take(name: string, perMinute: number, now: number): number | undefined
}

/** In this process's memory. The minute slides: the one before counts by the share of it that is still within 60 s. */
export function memoryLimits(): Limits {
  const minute = 60_000
  const windows = new Map<string, { start: number; count: number; before: number }>()
  return {
    take(name, perMinute, now) {
      if (perMinute === 0) return undefined
      const start = now - (now % minute)
      let window = windows.get(name)
      if (window?.start !== start) {
        window = { start, count: 0, before: window?.start === start - minute ? window.count : 0 }
        windows.set(name, window)
      }
      const passed = (now - start) / minute
      if (window.count + window.before * (1 - passed) + 1 > perMinute) return Math.ceil(start + minute - now)
      window.count++
      return undefined
    },
  }
}
