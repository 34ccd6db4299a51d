import type { Peers } from '../../src/gateway/gateway.ts'
import { createMemoryCounter } from '../../src/stores/memory-counter.ts'

/** Processes that share what one of them counts; messages pass as the text that processes send. */
export function createPeers(): () => Peers {
  const counter = createMemoryCounter()
  const processes = new Set<Set<(message: object) => void>>()
  return () => {
    const own = new Set<(message: object) => void>()
    processes.add(own)
    return {
      count: counter.add,
      send(message) {
        const text = JSON.stringify(message)
        for (const receivers of processes)
          if (receivers !== own) for (const receive of receivers) receive(JSON.parse(text))
      },
      listen(receive) {
        own.add(receive)
        return () => void own.delete(receive)
      },
    }
  }
}
