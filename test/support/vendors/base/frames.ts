import { EventStreamCodec } from '@smithy/eventstream-codec'

// Frames of event streams, written by the codec of AWS.

const codec = new EventStreamCodec(
  bytes => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  text => new Uint8Array(Buffer.from(text, 'utf8')),
)

export function frameOf(headers: Record<string, string>, payload?: unknown): Uint8Array {
  return codec.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }]),
    ),
    body: new Uint8Array(payload === undefined ? [] : Buffer.from(JSON.stringify(payload))),
  })
}

export const eventFrame = (type: string, payload: object): Uint8Array =>
  frameOf(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    payload,
  )

/** A failure that the service has a name for, such as `throttlingException`. */
export const exceptionFrame = (type: string, message: string): Uint8Array =>
  frameOf(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    { message },
  )

/** Any other failure. */
export const errorFrame = (code: string, message: string): Uint8Array =>
  frameOf({ ':error-code': code, ':error-message': message, ':message-type': 'error' })

/**
 * The headers and payloads of frames, as the codec of AWS reads them.
 * @throws Error for a damaged frame
 */
export function readFrames(
  bytes: Uint8Array,
): { headers: Record<string, unknown>; payload: unknown }[] {
  const read: { headers: Record<string, unknown>; payload: unknown }[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0)
    const { headers, body } = codec.decode(bytes.subarray(at, at + length))
    const text = Buffer.from(body).toString('utf8')
    read.push({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, { value }]) => [name, value]),
      ),
      payload: text ? JSON.parse(text) : undefined,
    })
    at += length
  }
  return read
}
