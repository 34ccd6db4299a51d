import { refuseStream } from '../kit/json/wrong-input.ts'
import type { ProtocolFacts } from '../protocol.ts'
import { joined } from '../sse/bytes.ts'
import type { StreamTranslator } from './stream-translator.ts'

/**
 * A stream of bytes or text: the body of a `fetch` response, a Node stream, any iterable of chunks,
 * or the whole text or bytes at once. Null, the body of an empty response, has no chunks.
 */
export type ByteStream =
  | ReadableStream<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>
  | Iterable<Uint8Array | string>
  | string
  | Uint8Array
  | null

/** The chunks of a stream. A caller that stops early cancels the stream. */
export async function* chunksOf(source: ByteStream): AsyncGenerator<Uint8Array | string> {
  if (source === null) return
  if (typeof source === 'string' || ArrayBuffer.isView(source)) return yield source
  if (typeof source !== 'object') refuseStream(source)
  // Some browsers have readable streams that are not iterable.
  if (Symbol.asyncIterator in source || Symbol.iterator in source) yield* source
  else if ('getReader' in source) yield* readerOf(source)
  else refuseStream(source)
}

async function* readerOf(
  source: ReadableStream<Uint8Array | string>,
): AsyncGenerator<Uint8Array | string> {
  const reader = source.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    // Without effect at the end of the stream. A stream that failed has reported its error already.
    await reader.cancel().catch(() => {})
  }
}

/** The protocol whose frames are written. */
export type Framed = Pick<ProtocolFacts, 'framing'>

/**
 * A translated stream as the bytes of its protocol: at most one chunk for each chunk of the source.
 */
export async function* translateChunks(
  source: ByteStream,
  translator: StreamTranslator,
  to: Framed,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const bytesOf = createWriter(to)
  for await (const chunk of chunksOf(source)) {
    const bytes = bytesOf(translator.push(chunk))
    if (bytes.length > 0) yield bytes
  }
  const rest = bytesOf(translator.end())
  if (rest.length > 0) yield rest
}

/** Text of a stream → the bytes that go over the wire. */
export function createWriter({ framing }: Framed): (text: string) => Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const encode = framing?.encode()
  return encode ? text => joined([encode(text)]) : text => encoder.encode(text)
}
