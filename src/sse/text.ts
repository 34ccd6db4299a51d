import { quickText } from './bytes.ts'

/**
 * Chunks → text; UTF-8 may be cut anywhere, and a byte order mark stays. A decoder (2 µs and a
 * native object) is created only for bytes that are cut or invalid.
 */
export function createTextReader(): { read(chunk: Uint8Array | string): string; end(): string } {
  let decoder: TextDecoder | undefined
  /** The decoder holds the beginning of a character. */
  let isCut = false
  return {
    read(chunk) {
      if (typeof chunk === 'string') return chunk
      const text = isCut ? undefined : quickText(chunk)
      if (text !== undefined) return text
      decoder ??= new TextDecoder('utf-8', { ignoreBOM: true })
      isCut = (chunk.at(-1) ?? (isCut ? 0x80 : 0)) >= 0x80
      return decoder.decode(chunk, { stream: true })
    },
    end: () => decoder?.decode() ?? '',
  }
}
