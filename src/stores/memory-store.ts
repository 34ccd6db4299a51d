import { Keyv } from 'keyv'

/** Keeps texts in this process. When they take more than the limit, the oldest go first. */
export function createMemoryStore(limitBytes: number) {
  return new Keyv<string>({ store: new Bounded(limitBytes), throwOnErrors: true })
}

/** Keyv hands over texts. Two bytes for each UTF-16 unit, which is what an engine needs at most. */
class Bounded extends Map<string, string> {
  private bytes = 0
  private readonly limitBytes: number

  constructor(limitBytes: number) {
    super()
    this.limitBytes = limitBytes
  }

  override set(key: string, value: string): this {
    this.delete(key)
    super.set(key, value)
    this.bytes += sizeOf(key, value)
    for (const oldest of this.keys()) {
      if (this.bytes <= this.limitBytes) break
      this.delete(oldest)
    }
    return this
  }

  override delete(key: string): boolean {
    const value = this.get(key)
    if (value !== undefined) this.bytes -= sizeOf(key, value)
    return super.delete(key)
  }

  override clear(): void {
    super.clear()
    this.bytes = 0
  }
}

const sizeOf = (key: string, value: string) => 2 * (key.length + value.length)
