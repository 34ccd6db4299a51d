/** One frame of `application/vnd.amazon.eventstream`. */
export type EventFrame = {
  /** Headers whose value is text, such as `:message-type`. Values of other types are left out. */
  headers: Record<string, string>
  payload: Uint8Array
}

/**
 * Bytes that are no frame: a wrong checksum, an impossible length, or an end in the middle of a
 * frame.
 */
export class EventFrameError extends Error {
  override name = 'EventFrameError'
}

/** Total length, header length and checksum of both: 4 bytes each. */
const PRELUDE = 12
/** Prelude and the checksum of the frame. */
const SHORTEST = PRELUDE + 4
/** Type of a header value that is text. */
const TEXT = 7
/**
 * Bytes of header values by type: true, false, byte, short, integer, long; -1 where a length
 * precedes the value; timestamp, uuid.
 */
const VALUE_LENGTHS = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16]

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (let at = 0; at < bytes.length; at++)
    value = (crcTable[(value ^ (bytes[at] as number)) & 0xff] as number) ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}

/** The bytes of one frame. Header names have at most 255 bytes, values at most 65535. */
export function writeEventFrame({ headers, payload }: EventFrame): Uint8Array {
  return writeFrameWith(writeHeaders(headers), payload)
}

/** The bytes of one frame whose headers are written already. */
export function writeFrameWith(headers: Uint8Array, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(SHORTEST + headers.length + payload.length)
  const view = new DataView(frame.buffer)
  view.setUint32(0, frame.length)
  view.setUint32(4, headers.length)
  view.setUint32(8, crc32(frame.subarray(0, 8)))
  frame.set(headers, PRELUDE)
  frame.set(payload, PRELUDE + headers.length)
  view.setUint32(frame.length - 4, crc32(frame.subarray(0, -4)))
  return frame
}

/** The bytes of the headers of a frame. Names have at most 255 bytes, values at most 65535. */
export function writeHeaders(headers: Record<string, string>): Uint8Array {
  const texts = Object.entries(headers).map(
    ([name, value]) => [encoder.encode(name), encoder.encode(value)] as const,
  )
  const bytes = new Uint8Array(
    texts.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0),
  )
  let at = 0
  for (const [name, value] of texts) {
    if (name.length > 0xff || value.length > 0xffff)
      throw new RangeError('a header of an event frame is too long')
    bytes[at] = name.length
    bytes.set(name, at + 1)
    at += 1 + name.length
    bytes[at] = TEXT
    viewOf(bytes).setUint16(at + 1, value.length)
    bytes.set(value, at + 3)
    at += 3 + value.length
  }
  return bytes
}

/** Gets a frame, with its bytes, which are valid only during the call. */
export type OnEventFrame = (frame: EventFrame, bytes: Uint8Array) => void

/** Reads frames from bytes that are cut anywhere. */
export class EventFrameReader {
  readonly #take: OnEventFrame
  readonly #maxLength: number
  /** Bytes of a frame that has begun; only the first `#length` are in use. */
  #held = new Uint8Array(0)
  #length = 0

  /** `maxLength`: bytes of the longest frame that is read. */
  constructor(
    take: OnEventFrame,
    { maxLength = 64 * 1024 * 1024 }: { maxLength?: number | undefined } = {},
  ) {
    this.#take = take
    this.#maxLength = maxLength
  }

  /**
   * Throws `EventFrameError`; the reader must not be used after that. The payload is a copy of its
   * own.
   */
  push(chunk: Uint8Array): void {
    const bytes = this.#length === 0 ? chunk : this.#append(chunk)
    let at = 0
    while (bytes.length - at >= PRELUDE) {
      const length = this.#lengthAt(bytes, at)
      if (bytes.length - at < length) break
      const own = bytes.subarray(at, at + length)
      at += length
      this.#take(frameOf(own), own)
    }
    this.#keep(bytes, at)
  }

  /** A frame has begun and is not complete. */
  get isInside(): boolean {
    return this.#length > 0
  }

  /** Throws `EventFrameError` where the stream stops in the middle of a frame. */
  end(): void {
    if (this.#length > 0) throw new EventFrameError('the stream ended in the middle of a frame')
  }

  #lengthAt(bytes: Uint8Array, at: number): number {
    const view = viewOf(bytes)
    if (crc32(bytes.subarray(at, at + 8)) !== view.getUint32(at + 8))
      throw new EventFrameError('the checksum of a prelude is wrong')
    const length = view.getUint32(at)
    if (length < SHORTEST || view.getUint32(at + 4) > length - SHORTEST)
      throw new EventFrameError('the lengths of a frame contradict each other')
    if (length > this.#maxLength)
      throw new EventFrameError(`a frame has more than ${this.#maxLength} bytes`)
    return length
  }

  /** Doubles its room, so that a long frame in small chunks is not copied once per chunk. */
  #append(chunk: Uint8Array): Uint8Array {
    const length = this.#length + chunk.length
    if (length > this.#held.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#held.length))
      larger.set(this.#held.subarray(0, this.#length))
      this.#held = larger
    }
    this.#held.set(chunk, this.#length)
    this.#length = length
    return this.#held.subarray(0, length)
  }

  #keep(bytes: Uint8Array, from: number): void {
    if (from === 0 && this.#length > 0) return
    this.#held = bytes.slice(from)
    this.#length = this.#held.length
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function frameOf(bytes: Uint8Array): EventFrame {
  const view = viewOf(bytes)
  if (crc32(bytes.subarray(0, -4)) !== view.getUint32(bytes.length - 4))
    throw new EventFrameError('the checksum of a frame is wrong')
  const headersEnd = PRELUDE + view.getUint32(4)
  return {
    headers: headersOf(bytes.subarray(PRELUDE, headersEnd)),
    payload: bytes.slice(headersEnd, -4),
  }
}

function headersOf(bytes: Uint8Array): Record<string, string> {
  const view = viewOf(bytes)
  const found: [string, string][] = []
  let at = 0
  const skip = (length: number): number => {
    const start = at
    at += length
    if (at > bytes.length) throw new EventFrameError('a header reaches beyond the headers')
    return start
  }
  while (at < bytes.length) {
    const nameLength = bytes[skip(1)] as number
    const nameStart = skip(nameLength)
    const type = bytes[skip(1)] as number
    const fixed = VALUE_LENGTHS[type]
    if (fixed === undefined) throw new EventFrameError(`a header has the unknown type ${type}`)
    const length = fixed === -1 ? view.getUint16(skip(2)) : fixed
    const start = skip(length)
    if (type === TEXT)
      found.push([
        decoder.decode(bytes.subarray(nameStart, nameStart + nameLength)),
        decoder.decode(bytes.subarray(start, at)),
      ])
  }
  return Object.fromEntries(found)
}
