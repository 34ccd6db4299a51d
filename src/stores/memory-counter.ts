/** Counts in this process. Its minutes are those of a clock that never jumps. */
export function createMemoryCounter() {
  const counts = new Map<string, { count: number; until: number }>()
  /** When all that is over is forgotten, so that names which do not come again take no memory. */
  let cleanAt = 0
  return {
    async add(name: string, calls: number, windowMs: number) {
      const now = performance.now()
      if (now >= cleanAt) {
        for (const [old, { until }] of counts) if (until <= now) counts.delete(old)
        cleanAt = now + windowMs
      }
      const known = counts.get(name)
      const counted = known && known.until > now ? known : { count: 0, until: now + windowMs }
      counted.count += calls
      counts.set(name, counted)
      return { count: counted.count, resetMs: Math.ceil(counted.until - now) }
    },
    close(): void {},
  }
}
