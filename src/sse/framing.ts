import type { Framing } from '../protocol.ts'

type Chunk = Uint8Array | string

/** The chunks of a framed stream as text/event-stream. */
export const textOfFrames = (
  body: AsyncIterable<Chunk>,
  { decode }: Framing,
): AsyncIterable<Chunk> => converted(body, decode)

/** A stream of text/event-stream in frames. */
export const framesOfText = (
  body: AsyncIterable<Chunk>,
  { encode }: Framing,
): AsyncIterable<Uint8Array> => converted(body, encode)

/** Not a generator: the `return` of a generator waits for a chunk that is pending. */
function converted<Out>(
  body: AsyncIterable<Chunk>,
  create: () => (chunk: Chunk) => Out,
): AsyncIterable<Out> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body[Symbol.asyncIterator]()
      const convert = create()
      const next = ({ done, value }: IteratorResult<Chunk>): IteratorResult<Out, undefined> =>
        done ? { value: undefined, done: true } : { value: convert(value), done: false }
      return {
        next: () => chunks.next().then(next),
        async return() {
          await chunks.return?.()
          return { value: undefined, done: true }
        },
      }
    },
  }
}
