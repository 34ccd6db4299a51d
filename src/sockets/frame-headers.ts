/**
 * Reads the headers of the frames that a WebSocket client sends (RFC 6455, section 5.2), because a
 * message has to be counted before it has come. `onData`: called for each frame of a message with
 * the length of its payload, and whether it is the last one.
 */
export class FrameHeaders {
  readonly #onData: (length: number, isLast: boolean) => void
  #header: number[] = []
  /** Bytes of the payload that have not come. */
  #left = 0

  constructor(onData: (length: number, isLast: boolean) => void) {
    this.#onData = onData
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const come = Math.min(this.#left, chunk.length - at)
        at += come
        this.#left -= come
      } else {
        this.#header.push(chunk[at] ?? 0)
        at++
        this.#read()
      }
    }
  }

  #read(): void {
    const [first = 0, second = 0] = this.#header
    const short = second & 0x7f
    const extended = extendedSizes[short] ?? 0
    const mask = second & 0x80 ? 4 : 0
    if (this.#header.length < 2 + extended + mask) return
    const digits = this.#header.slice(2, 2 + extended)
    this.#left = extended === 0 ? short : digits.reduce((sum, byte) => sum * 256 + byte, 0)
    this.#header = []
    const isControl = (first & 0x08) !== 0
    if (!isControl) this.#onData(this.#left, (first & 0x80) !== 0)
  }
}

/** The bytes of the length that follow, by the value of the short one. */
const extendedSizes: Record<number, number> = { 126: 2, 127: 8 }
