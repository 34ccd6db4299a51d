import { reject } from './error.ts'

/** A bound for the bytes that clients send, of all requests and WebSocket connections together. */
export type Memory = {
  /**
   * The share of one request or connection. `client`: its name; one client gets half of the memory
   * at most.
   */
  share(client: string | undefined): Share
}

export type Share = {
  /**
   * Counts bytes that are held; a negative number counts bytes that no longer are.
   * @throws GatewayError 413, 503
   */
  add(bytes: number): void
  /** Nothing is held any more, and nothing can be added. */
  release(): void
}

/** `limit`: in bytes. */
export function createMemory(limit: number): Memory {
  let used = 0
  const usedBy = new Map<string, number>()
  return {
    share(client) {
      const most = client === undefined ? limit : limit / 2
      let own = 0
      let isOpen = true
      const count = (bytes: number) => {
        own += bytes
        used += bytes
        if (client === undefined) return
        const ofClient = (usedBy.get(client) ?? 0) + bytes
        if (ofClient > 0) usedBy.set(client, ofClient)
        else usedBy.delete(client)
      }
      return {
        add(bytes) {
          if (bytes <= 0) {
            if (isOpen) count(bytes)
            return
          }
          if (own + bytes > most)
            throw reject(413, 'too_large', `the request takes more than ${most} bytes of memory`)
          const ofClient = client === undefined ? own : (usedBy.get(client) ?? 0)
          if (!isOpen || used + bytes > limit || ofClient + bytes > most) throw noMemory()
          count(bytes)
        },
        release() {
          isOpen = false
          count(-own)
        },
      }
    },
  }
}

const noMemory = () =>
  reject(503, 'unavailable', 'too many large requests at the same time: try again later', {
    retryAfterMs: 1_000,
  })

/**
 * The limit without a setting: a quarter of the heap, but enough for some requests of the largest
 * size.
 */
export const defaultMemoryBytes = (bodyLimitBytes: number): number =>
  Math.max(heapLimit() / 4, 4 * bodyLimitBytes)

/** In bytes. 0: the runtime does not say it. */
function heapLimit(): number {
  try {
    const { process } = globalThis as {
      process?: {
        getBuiltinModule?(name: string): {
          getHeapStatistics(): { heap_size_limit: number }
        }
      }
    }
    return process?.getBuiltinModule?.('node:v8').getHeapStatistics().heap_size_limit ?? 0
  } catch {
    return 0
  }
}
