/** Values that are read from the database, and used for some time. */
export type Fresh<T> = {
  /** The value of a key. @throws Error if it cannot be read and there is none */
  get(key: string): Promise<T>
  /** The last value, without a look at the database. */
  last(key: string): T | undefined
  clear(): void
}

type Options = {
  /** A value that is older is read again, and still returned meanwhile. */
  freshMs: number
  /** A value that is older is not returned before it is read again. */
  staleMs: number
  /**
   * If the database fails, the last value counts until it works again, however old it is. Default
   * true.
   */
  keepsLast?: boolean
}

const mostRemembered = 10_000

/**
 * Reads values again in the background: once, however many ask for them. `read`: rejects soon if
 * the database hangs. Ages are those of a clock that never jumps.
 */
export function createFresh<T>(
  read: (key: string) => Promise<T>,
  { freshMs, staleMs, keepsLast = true }: Options,
): Fresh<T> {
  let known = new Map<string, { value: T; readAt: number }>()
  let reading = new Map<string, Promise<T>>()

  async function readAgain(key: string): Promise<T> {
    // What was read before the last change does not count after it.
    const [values, pending] = [known, reading]
    const keep = (value: T, readAt: number) => {
      if (values.size >= mostRemembered) values.clear()
      values.set(key, { value, readAt })
      return value
    }
    // A change during the reading may not be in it.
    const began = performance.now()
    try {
      return keep(await read(key), began)
    } catch (error) {
      const last = values.get(key)
      if (!last || !keepsLast) throw error
      return keep(last.value, performance.now())
    } finally {
      pending.delete(key)
    }
  }

  function readOnce(key: string): Promise<T> {
    const pending = reading.get(key) ?? readAgain(key)
    reading.set(key, pending)
    return pending
  }

  return {
    async get(key) {
      const found = known.get(key)
      const age = found ? performance.now() - found.readAt : staleMs
      if (found && age < freshMs) return found.value
      const pending = readOnce(key)
      if (!found || age >= staleMs) return pending
      pending.catch(() => {})
      return found.value
    },
    last: key => known.get(key)?.value,
    clear() {
      known = new Map()
      reading = new Map()
    },
  }
}
