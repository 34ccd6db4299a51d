import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStreamCodec, Int64 } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type EventFrame,
  EventFrameError,
  EventFrameReader,
  writeEventFrame,
} from '../../src/eventstream/frames.ts'

const judge = new EventStreamCodec(
  bytes => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  text => new Uint8Array(Buffer.from(text, 'utf8')),
)
const published =
  'AAAAdgAAAFKW1freCzpldmVudC10eXBlBwAMbWVzc2FnZVN0YXJ0DTpjb250ZW50LXR5cGUHABBhcHBsaWNhdGlvbi9qc29uDTptZXNzYWdlLXR5cGUHAAVldmVudHsicm9sZSI6ImFzc2lzdGFudCJ9b6jFmQ=='

const text = fc.string({ unit: 'binary', maxLength: 40 })
const anyFrame: fc.Arbitrary<EventFrame> = fc.record({
  headers: fc.dictionary(fc.string({ minLength: 1, maxLength: 30 }), text, {
    maxKeys: 4,
    noNullPrototype: true,
  }),
  payload: fc.uint8Array({ maxLength: 200 }),
})

function read(chunks: Uint8Array[], maxLength?: number): EventFrame[] {
  const found: EventFrame[] = []
  const reader = new EventFrameReader(frame => found.push(frame), {
    maxLength,
  })
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return found
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  )
}

test('a frame of the service is read, and written with the same bytes', () => {
  const bytes = new Uint8Array(Buffer.from(published, 'base64'))
  const [frame] = read([bytes])
  expect(frame?.headers).toEqual({
    ':event-type': 'messageStart',
    ':content-type': 'application/json',
    ':message-type': 'event',
  })
  expect(writeEventFrame(frame as EventFrame)).toEqual(bytes)
})

describe('against the codec of the AWS SDK', () => {
  test('it reads what is written here', () => {
    fc.assert(
      fc.property(anyFrame, frame => {
        const { headers, body } = judge.decode(writeEventFrame(frame))
        expect(
          Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value])),
        ).toEqual(frame.headers)
        expect(new Uint8Array(body)).toEqual(frame.payload)
      }),
    )
  })

  test('what it writes is read here, and headers of other types are left out', () => {
    fc.assert(
      fc.property(anyFrame, fc.integer({ min: -128, max: 127 }), ({ headers, payload }, byte) => {
        const typed = Object.entries(headers).map(
          ([name, value]) => [name, { type: 'string' as const, value }] as const,
        )
        const others = {
          '\u0001b': { type: 'byte' as const, value: byte },
          '\u0001d': { type: 'timestamp' as const, value: new Date(0) },
          '\u0001s': { type: 'short' as const, value: byte },
          '\u0001i': { type: 'integer' as const, value: byte },
          '\u0001l': { type: 'long' as const, value: Int64.fromNumber(byte) },
          '\u0001x': { type: 'binary' as const, value: payload },
          '\u0001u': { type: 'uuid' as const, value: '01234567-89ab-cdef-0123-456789abcdef' },
          '\u0001t': { type: 'boolean' as const, value: true },
        }
        const bytes = judge.encode({
          headers: { ...others, ...Object.fromEntries(typed) },
          body: payload,
        })
        expect(read([bytes])).toEqual([{ headers, payload }])
      }),
    )
  })
})

test('frames are the same wherever their bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(anyFrame, { maxLength: 5 }),
      fc.integer({ min: 1, max: 300 }),
      (frames, size) => {
        const bytes = new Uint8Array(Buffer.concat(frames.map(writeEventFrame)))
        expect(read(cut(bytes, size))).toEqual(frames)
      },
    ),
  )
})

test('any changed bit is an error, and never another frame', () => {
  const bytes = new Uint8Array(Buffer.from(published, 'base64'))
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = bytes.slice()
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    expect(() => read([changed])).toThrow(EventFrameError)
  }
})

test('an end in the middle of a frame is an error; between frames it is none', () => {
  const bytes = new Uint8Array(Buffer.from(published, 'base64'))
  for (let length = 1; length < bytes.length; length++)
    expect(() => read([bytes.slice(0, length)])).toThrow(EventFrameError)
  expect(read([bytes, bytes])).toHaveLength(2)
  expect(read([])).toEqual([])
})

test('a frame that is too long is refused before it is held', () => {
  const bytes = writeEventFrame({ headers: {}, payload: new Uint8Array(1000) })
  expect(() => read([bytes.slice(0, 12)], 500)).toThrow('more than 500 bytes')
})

const folder =
  process.env.WIREGLOT_SHARED && join(process.env.WIREGLOT_SHARED, 'corpus-converse/streams')
test.skipIf(!folder || !existsSync(folder))('recorded streams are read whole', () => {
  type Recorded = {
    framesFrom: string
    events: { payload: unknown }[]
    frames: string
  }
  let recorded = 0
  for (const name of readdirSync(folder as string)) {
    const { events, frames } = JSON.parse(
      readFileSync(join(folder as string, name), 'utf8'),
    ) as Recorded
    const found = read(cut(new Uint8Array(Buffer.from(frames, 'base64')), 97))
    expect(
      found.map(({ payload }) => JSON.parse(Buffer.from(payload).toString('utf8'))),
      name,
    ).toEqual(events.map(({ payload }) => payload))
    recorded++
  }
  expect(recorded).toBeGreaterThan(50)
})
