/** Keeps texts in this process. When they take more than the limit, the oldest go first. */
export function createMemoryStore(limitBytes: number) {
  const kept = new Bounded(limitBytes)
  return {
    async get(key: string): Promise<unknown> {
      const found = kept.get(key)
      if (found && found.until <= Date.now()) kept.delete(key)
      return kept.get(key)?.text
    },
    async set(key: string, text: string, ttlMs = Number.POSITIVE_INFINITY): Promise<void> {
      kept.set(key, { text, until: Date.now() + ttlMs })
    },
    async delete(key: string): Promise<void> {
      kept.delete(key)
    },
  }
}

type Entry = { text: string; until: number }

/** Two bytes for each UTF-16 unit, which is what an engine needs at most. */
class Bounded extends Map<string, Entry> {
  private bytes = 0
  private readonly limitBytes: number

  constructor(limitBytes: number) {
    super()
    this.limitBytes = limitBytes
  }

  override set(key: string, entry: Entry): this {
    this.delete(key)
    super.set(key, entry)
    this.bytes += sizeOf(key, entry)
    for (const oldest of this.keys()) {
      if (this.bytes <= this.limitBytes) break
      this.delete(oldest)
    }
    return this
  }

  override delete(key: string): boolean {
    const entry = this.get(key)
    if (entry) this.bytes -= sizeOf(key, entry)
    return super.delete(key)
  }
}

const sizeOf = (key: string, { text }: Entry) => 2 * (key.length + text.length)
