import { createWriter, type Framed } from './chunks.ts'
import type { StreamTranslator } from './stream-translator.ts'

/** A translator as a `TransformStream` from bytes or text to the bytes of its protocol. */
export function transformStreamOf(
  translator: StreamTranslator,
  to: Framed,
): TransformStream<Uint8Array | string, Uint8Array<ArrayBuffer>> {
  const bytesOf = createWriter(to)
  return new TransformStream({
    transform(chunk, controller) {
      const bytes = bytesOf(translator.push(chunk))
      if (bytes.length > 0) controller.enqueue(bytes)
    },
    flush(controller) {
      const bytes = bytesOf(translator.end())
      if (bytes.length > 0) controller.enqueue(bytes)
    },
  })
}

/**
 * A web stream of the values of an iterable, for example the body of a `Response`. Values are read
 * on demand. Cancelling the stream ends the iterable.
 * @example
 * import { toWebStream, translateStream } from 'wireglot'
 *
 * async function* upstream() {
 *   yield 'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
 * }
 * const body = toWebStream(translateStream(upstream(), { from: 'chat-completions', to: 'messages' }))
 * console.log(await new Response(body).text()) // event: message_start …
 */
export function toWebStream<T>(source: AsyncIterable<T>): ReadableStream<T> {
  const iterator = source[Symbol.asyncIterator]()
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) {
        await iterator.return?.(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
