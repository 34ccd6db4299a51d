import { createMemoryCounter } from '../stores/memory-counter.ts'
import type { Peers } from './hooks.ts'
import type { Breakers, CircuitChange } from './upstream/breaker.ts'
import type { Learned, LearnedChange } from './upstream/learned.ts'

type Message = { circuit?: CircuitChange; learned?: LearnedChange }

/** What this process sends to the others. */
export const senderOf = (peers: Peers | undefined) => ({
  circuit: (circuit: CircuitChange) => peers?.send({ circuit } satisfies Message),
  learned: (learned: LearnedChange) => peers?.send({ learned } satisfies Message),
})

/** Applies what the others send. Returns a function that ends that. */
export function listenToPeers(
  peers: Peers | undefined,
  { breakers, learned }: { breakers: Pick<Breakers<never>, 'apply'>; learned: Learned },
): () => void {
  const end = peers?.listen((message: Message) => {
    if (message.circuit) breakers.apply(message.circuit)
    if (message.learned) learned.apply(message.learned)
  })
  return () => end?.()
}

/** More failures of one channel than any breaker waits for. */
const mostFailures = 100

/**
 * What gateways of one process share, each of which takes the place of the one before it when the
 * configuration is read again: counts, and circuit breakers of channels that stay as they are.
 * `others`: the other processes.
 */
export function createSuccession(
  others?: Peers,
): (channels: readonly { name?: string | undefined; vendor?: string | undefined }[]) => Peers {
  const counter = createMemoryCounter()
  const receivers = new Set<(message: object) => void>()
  /** By channel: what has happened since its last success. */
  const failures = new Map<string, { change: CircuitChange; at: number }[]>()
  let known = new Map<string, string>()

  function pass(message: Message, from?: (message: object) => void): void {
    if (message.circuit) remember(message.circuit)
    for (const receive of receivers) if (receive !== from) receive(message)
  }

  function remember(change: CircuitChange): void {
    const before = (change.is === 'failed' && failures.get(change.channel)) || []
    if (change.is === 'succeeded') failures.delete(change.channel)
    else
      failures.set(change.channel, [
        ...before.slice(1 - mostFailures),
        { change, at: performance.now() },
      ])
  }

  others?.listen(pass)
  return channels => {
    let own: ((message: object) => void) | undefined
    return {
      count: others?.count ?? counter.add,
      send(message) {
        pass(message, own)
        others?.send(message)
      },
      listen(receive) {
        const settings = new Map(
          channels.map(channel => [channel.name ?? channel.vendor ?? '', JSON.stringify(channel)]),
        )
        for (const name of failures.keys())
          if (settings.get(name) !== known.get(name)) failures.delete(name)
        known = settings
        const now = performance.now()
        for (const { change, at } of [...failures.values()].flat())
          receive({ circuit: { ...change, agoMs: now - at } } satisfies Message)
        own = receive
        receivers.add(receive)
        return () => void receivers.delete(receive)
      },
    }
  }
}
