/** Chunks → text; UTF-8 may be cut anywhere. Whoever gives text alone has no decoder made, which takes 2 µs and a native object. */
export function createTextReader(): { read(chunk: Uint8Array | string): string; end(): string } {
  let decoder: TextDecoder | undefined
  return {
    read(chunk) {
      if (typeof chunk === 'string') return chunk
      decoder ??= new TextDecoder()
      return decoder.decode(chunk, { stream: true })
    },
    end: () => decoder?.decode() ?? '',
  }
}
