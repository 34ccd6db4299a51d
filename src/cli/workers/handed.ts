import type { Worker } from 'node:cluster'

/** What Node sends with a connection that a worker shall serve, and what the worker answers. */
type Handed = { act?: string; seq?: number }
type Answered = { ack?: number }

/**
 * Closes the connections that a worker was handed and has not accepted before its end. Node keeps
 * them open, and their clients would wait for nothing.
 */
export function closeUnaccepted({ process: child }: Worker): void {
  const handed = new Map<number, { close(): void }>()
  const send = child.send.bind(child) as (...sent: unknown[]) => boolean
  child.send = (...sent: unknown[]) => {
    const [message, handle] = sent as [Handed, { close(): void } | undefined]
    if (message.act === 'newconn' && message.seq !== undefined && handle)
      handed.set(message.seq, handle)
    return send(...sent)
  }
  child.on('internalMessage', ({ ack }: Answered) => ack !== undefined && handed.delete(ack))
  child.once('exit', () => {
    for (const handle of handed.values()) handle.close()
  })
}
