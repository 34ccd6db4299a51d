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
