/** Chunks → text; UTF-8 may be cut anywhere. The decoder (2 µs and a native object) is created only when there are bytes. */
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
