import type { Transport } from './transport.ts'

/** Uses the global `fetch`, for edge runtimes without sockets. Ignores `connectMs`. */
export function fetchTransport(): Transport {
  return {
    async send({ url, method, headers, body, signal }) {
      const response = await fetch(url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(body !== undefined && { body }),
      })
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: response.body ? chunksOf(response.body) : nothing,
      }
    },
  }
}

/** Iterates over a web stream, which not every runtime supports directly. */
function chunksOf(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const reader = stream.getReader()
      return {
        async next() {
          const { done, value } = await reader.read()
          return done ? { done, value: undefined } : { done, value }
        },
        async return() {
          await reader.cancel()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

const nothing: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
}
