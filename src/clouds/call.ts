import type { Signal } from '../transports/abort-controller.ts'
import { replay } from '../transports/bodies.ts'
import type { TransportCall, TransportResponse } from '../transports/transport.ts'

/**
 * The call with some of its parts replaced. `signal` is a getter in calls of the gateway, which
 * creates an AbortSignal.
 */
export function changed(
  call: TransportCall,
  more: Partial<Pick<TransportCall, 'url' | 'method' | 'headers' | 'body'>>,
): TransportCall {
  const { url, method, headers, body, stop, connectMs, proxy, socket } = call
  return {
    url,
    method,
    headers,
    body,
    connectMs,
    ...(stop && { stop }),
    ...(proxy !== undefined && { proxy }),
    ...(socket && { socket }),
    ...more,
    get signal() {
      return call.signal
    },
  }
}

/**
 * The value, unless the call is aborted before. Nothing else is aborted, because other calls may
 * wait for the same value.
 */
export function unlessAborted<Value>(value: Promise<Value>, call: TransportCall): Promise<Value> {
  const signal: Signal = call.stop ?? call.signal
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Bytes of a body that are read to recognize an error. */
const longest = 64 * 1024

/** The beginning of the body of an error, and the response with its complete body. */
export async function peeked(
  response: TransportResponse,
): Promise<{ text: string; response: TransportResponse }> {
  const decoder = new TextDecoder()
  const chunks = response.body[Symbol.asyncIterator]()
  const read: (Uint8Array | string)[] = []
  let text = ''
  while (text.length < longest) {
    const { done, value } = await chunks.next()
    if (done) break
    read.push(value)
    text += typeof value === 'string' ? value : decoder.decode(value, { stream: true })
  }
  return { text, response: { ...response, body: replay(read, chunks) } }
}

/** Ends a response without reading it. */
export async function discard({ body }: TransportResponse): Promise<void> {
  await body[Symbol.asyncIterator]().return?.()
}
