import type { StreamTranslator } from './stream-translator.ts'

/** A stream of bytes or text: the body of a `fetch` response, a Node stream, or any iterable of chunks. Null, the body of an empty response, has no chunks. */
export type ByteStream = ReadableStream<Uint8Array | string> | AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string> | null

/** The chunks of a stream. A caller that stops early cancels the stream. */
export async function* chunksOf(source: ByteStream): AsyncGenerator<Uint8Array | string> {
  if (source === null) return
  // Some browsers have readable streams that are not iterable.
  if (Symbol.asyncIterator in source || Symbol.iterator in source) yield* source
  else yield* readerOf(source)
}

async function* readerOf(source: ReadableStream<Uint8Array | string>): AsyncGenerator<Uint8Array | string> {
  const reader = source.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    // Without effect at the end of the stream. A stream that failed has reported its error already.
    await reader.cancel().catch(() => {})
  }
}

/** A translated stream: at most one chunk of UTF-8 for each chunk of the source. */
export async function* translateChunks(source: ByteStream, translator: StreamTranslator): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  for await (const chunk of chunksOf(source)) {
    const text = translator.push(chunk)
    if (text) yield encoder.encode(text)
  }
  const rest = translator.end()
  if (rest) yield encoder.encode(rest)
}
