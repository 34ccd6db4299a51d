import { damagedStream, unreadable } from '../kit/errors/failed-response.ts'
import { parseExact, writeExact } from '../kit/json/digits.ts'
import { base64Of, bytesIn } from '../kit/media/base64.ts'
import type { Framing } from '../protocol.ts'
import { encoded, joined, quickText } from '../sse/bytes.ts'
import { createFrameParser, type Frame } from '../sse/parse.ts'
import {
  type EventFrame,
  EventFrameError,
  EventFrameReader,
  writeFrameWith,
  writeHeaders,
} from './frames.ts'

/**
 * `application/vnd.amazon.eventstream`, the binary frames of AWS. In text a frame is `data:
 * {"<event type>":<payload>}`; an exception has its exception type as the key, and an error that
 * the service does not model is `{"error":{"code","message"}}`. A frame that cannot be rebuilt from
 * this text, such as one with further headers, has its bytes in the field `id`.
 */
export const eventStream: Framing = {
  contentType: 'application/vnd.amazon.eventstream',
  decode: createDecoder,
  encode: createEncoder,
}

type Chunk = Uint8Array | string

const bytesPrefix = 'frame:'
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder()

function createDecoder(): (chunk: Chunk) => Chunk {
  let reader: EventFrameReader | undefined
  let isText = false
  let isDamaged = false
  let due = ''
  /**
   * `data: ` was written for a frame that is not complete, so that a stream that stops there ends
   * in the middle of a frame in text, too.
   */
  let isBegun = false
  const write = (text: string) => {
    due += `${isBegun ? '' : 'data: '}${text}\n\n`
    isBegun = false
  }
  return chunk => {
    if (isText || isDamaged || chunk.length === 0) return isDamaged ? '' : chunk
    if (!reader && (typeof chunk === 'string' || !isBinary(chunk))) {
      isText = true
      return chunk
    }
    reader ??= new EventFrameReader((frame, bytes) => write(textOfFrame(frame, bytes)))
    due = ''
    try {
      reader.push(encoded(chunk))
    } catch (error) {
      if (!(error instanceof EventFrameError)) throw error
      isDamaged = true
      write(
        JSON.stringify({
          error: {
            code: damagedStream,
            message: `${unreadable}: ${error.message}`,
          },
        }),
      )
    }
    if (!isDamaged && reader.isInside && !isBegun) {
      due += 'data: '
      isBegun = true
    }
    return due
  }
}

/** The first byte is that of a length below 150 MB, with which no text begins. */
const isBinary = (chunk: Uint8Array) => (chunk[0] as number) < 9

/** The data of the frame in text, and where it is not enough also the field `id`. */
function textOfFrame({ headers, payload }: EventFrame, bytes: Uint8Array): string {
  const { name, known } = nameOf(headers)
  const text = exactText(payload)
  const data =
    headers[':message-type'] === 'error'
      ? errorOf(headers)
      : `{${JSON.stringify(name)}:${text === '' ? '{}' : (text ?? lenient.decode(payload)).replaceAll(/[\r\n]+/g, ' ')}}`
  const isExact =
    known !== undefined &&
    text !== undefined &&
    text !== '' &&
    !/[\r\n]/.test(text) &&
    hasHeaders(bytes, known)
  return isExact ? data : `${data}\nid: ${bytesPrefix}${base64Of(bytes)}`
}

function nameOf(headers: Record<string, string>): { name: string; known?: Uint8Array } {
  const exception = headers[':exception-type']
  const name = exception ?? headers[':event-type'] ?? 'unknown'
  const known = knownHeaders(name)
  return known ? { name, known } : { name }
}

const errorOf = (headers: Record<string, string>) =>
  JSON.stringify({
    error: { code: headers[':error-code'] ?? 'Unknown', message: headers[':error-message'] ?? '' },
  })

/** The text of valid UTF-8. Undefined: it is invalid. */
function exactText(bytes: Uint8Array): string | undefined {
  const text = quickText(bytes)
  if (text !== undefined) return text
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

function hasHeaders(frame: Uint8Array, headers: Uint8Array): boolean {
  const start = 12
  if (
    frame[4] !== 0 ||
    frame[5] !== 0 ||
    ((frame[6] as number) << 8) + (frame[7] as number) !== headers.length
  )
    return false
  for (let at = 0; at < headers.length; at++) if (frame[start + at] !== headers[at]) return false
  return true
}

/**
 * By name: the bytes of the headers that the service writes. Names are those of a protocol, so
 * there are few.
 */
const written = new Map<string, Uint8Array>()
const mostNames = 100

/** Undefined for names that services do not have, and for `error`, which is no event. */
function knownHeaders(name: string): Uint8Array | undefined {
  const found = written.get(name)
  if (found || name === 'error' || !/^[\w.-]{1,100}$/.test(name)) return found
  const isException = /Exception$/.test(name)
  const headers = writeHeaders({
    [isException ? ':exception-type' : ':event-type']: name,
    ':content-type': 'application/json',
    ':message-type': isException ? 'exception' : 'event',
  })
  if (written.size < mostNames) written.set(name, headers)
  return headers
}

function createEncoder(): (chunk: Chunk) => Uint8Array {
  let due: Uint8Array[] = []
  const parser = createFrameParser(frame => {
    const bytes = bytesOfFrame(frame)
    if (bytes) due.push(bytes)
  })
  return chunk => {
    due = []
    parser.push(chunk)
    return joined(due)
  }
}

/** Undefined: the frame holds no event. */
function bytesOfFrame({ data, id }: Frame): Uint8Array | undefined {
  const own = id?.startsWith(bytesPrefix) ? ownBytes(id.slice(bytesPrefix.length)) : undefined
  if (own) return own
  const event = eventOf(data)
  if (!event) return undefined
  const [name, payload] = event
  if (name === 'error') return errorFrame(payload)
  const headers = knownHeaders(name)
  return headers && writeFrameWith(headers, encoded(payload))
}

/**
 * Name and payload. An object with further keys, as some servers write it, counts as the event of
 * its first object.
 */
function eventOf(data: string): [name: string, payload: string] | undefined {
  const name = /^\{"([^"\\]+)":/.exec(data)?.[1]
  try {
    const entries = Object.entries(parseExact(data) as object)
    if (entries.length === 1 && name !== undefined) return [name, data.slice(name.length + 4, -1)]
    const entry = entries.find(([, value]) => typeof value === 'object' && value !== null)
    return entry && [entry[0], writeExact(entry[1])]
  } catch {
    return undefined
  }
}

function errorFrame(payload: string): Uint8Array {
  const { code, message } = (JSON.parse(payload) ?? {}) as { code?: unknown; message?: unknown }
  // The clients of AWS read an error only where both are there.
  const headers = {
    ':error-code': String(code ?? 'InternalServerException'),
    ':error-message': String(message ?? ''),
    ':message-type': 'error',
  }
  return writeFrameWith(writeHeaders(shortened(headers)), new Uint8Array())
}

/** A header has at most 65535 bytes; a UTF-16 unit has at most three. */
const shortened = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.slice(0, 20_000)]))

/** The bytes of a frame in base64. Undefined: these are no bytes of one frame. */
function ownBytes(base64: string): Uint8Array | undefined {
  try {
    const bytes = bytesIn(base64)
    let count = 0
    const reader = new EventFrameReader(() => count++)
    reader.push(bytes)
    reader.end()
    return count === 1 ? bytes : undefined
  } catch {
    return undefined
  }
}
