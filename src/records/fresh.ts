/** Values that are read from the database, and used for some time. */
export type Fresh<T> = {
  /** The value of a key. If the database fails or is slow, the last value counts. @throws Error if there is none */
  get(key: string): Promise<T>
  /** The last value, without a look at the database. */
  last(key: string): T | undefined
  clear(): void
}

/** Timeout of a database query. */
const timeoutMs = 2_000
const mostRemembered = 10_000

/** Reads a value again when it is older than `freshMs`: once, however many ask for it. */
export function createFresh<T>(read: (key: string) => Promise<T>, freshMs: number): Fresh<T> {
  let known = new Map<string, { value: T; until: number }>()
  let reading = new Map<string, Promise<T>>()

  async function readAgain(key: string): Promise<T> {
    // What was read before the last change does not count after it.
    const [values, pending] = [known, reading]
    const keep = (value: T) => {
      if (values.size >= mostRemembered) values.clear()
      values.set(key, { value, until: Date.now() + freshMs })
      return value
    }
    try {
      return keep(await inTime(read(key)))
    } catch (error) {
      const last = values.get(key)
      if (!last) throw error
      return keep(last.value)
    } finally {
      pending.delete(key)
    }
  }

  return {
    get(key) {
      const found = known.get(key)
      if (found && found.until > Date.now()) return Promise.resolve(found.value)
      let pending = reading.get(key)
      if (!pending) {
        pending = readAgain(key)
        reading.set(key, pending)
      }
      return pending
    },
    last: key => known.get(key)?.value,
    clear() {
      known = new Map()
      reading = new Map()
    },
  }
}

function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the database did not respond in time')), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
