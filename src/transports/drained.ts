import type { Writable } from 'node:stream'

/** Waits until the other side has read what was written, or has disconnected. */
export function drained(stream: Writable): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    if (stream.destroyed) return resolve()
    stream.on('drain', done)
    stream.on('close', done)
  })
}
