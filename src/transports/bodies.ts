type Chunk = Uint8Array | string

/** A body of one chunk. */
export async function* only<One extends Chunk>(chunk: One): AsyncGenerator<One> {
  yield chunk
}

/** The complete body, of which some chunks have been read already. */
export function replay(
  read: readonly Chunk[],
  iterator: AsyncIterator<Chunk>,
): AsyncIterable<Chunk> {
  const left = [...read]
  return {
    [Symbol.asyncIterator]: () => ({
      // Not async: that would cost each later chunk of a stream some turns of the queue.
      next: () => {
        const value = left.shift()
        return value === undefined ? iterator.next() : Promise.resolve({ done: false, value })
      },
      return: async () => {
        await iterator.return?.()
        return { value: undefined, done: true }
      },
    }),
  }
}
