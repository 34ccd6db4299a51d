import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventFrameReader, writeEventFrame } from '../../src/eventstream/frames.ts'
import { eventStream } from '../../src/eventstream/framing.ts'
import { protocols } from '../../src/protocols/index.ts'
import { parseFrames } from '../../src/sse/parse.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'

const payloadOf = (value: unknown) => new Uint8Array(Buffer.from(JSON.stringify(value)))
const event = (name: string, value: unknown) =>
  writeEventFrame({
    headers: { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' },
    payload: payloadOf(value),
  })
const exception = (name: string, value: unknown) =>
  writeEventFrame({
    headers: {
      ':exception-type': name,
      ':content-type': 'application/json',
      ':message-type': 'exception',
    },
    payload: payloadOf(value),
  })
const unmodelled = writeEventFrame({
  headers: { ':error-code': 'Broken', ':error-message': 'it broke', ':message-type': 'error' },
  payload: new Uint8Array(),
})

const concat = (...frames: Uint8Array[]) => new Uint8Array(Buffer.concat(frames))

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  )
}

const textOf = (chunk: Uint8Array | string) =>
  typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')

function toText(chunks: (Uint8Array | string)[]): string {
  const decode = eventStream.decode()
  return chunks.map(chunk => textOf(decode(chunk))).join('')
}

function toFrames(chunks: (Uint8Array | string)[]): Uint8Array {
  const encode = eventStream.encode()
  return concat(...chunks.map(encode))
}

const wiresOf = (text: string) => parseFrames(text).map(({ data }) => JSON.parse(data) as unknown)

const stream = concat(
  event('messageStart', { role: 'assistant', p: 'abc' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße\u2028 😀' } }),
  exception('throttlingException', { message: 'slow down' }),
)

test('decodes frames to text/event-stream with the event type as key', () => {
  expect(wiresOf(toText([stream, unmodelled]))).toEqual([
    { messageStart: { role: 'assistant', p: 'abc' } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Grüße\u2028 😀' } } },
    { throttlingException: { message: 'slow down' } },
    { error: { code: 'Broken', message: 'it broke' } },
  ])
})

test('the text is the same wherever the bytes are cut, and so are the frames that are written from it', () => {
  for (const size of [1, 2, 7, 50, 1000]) {
    expect(wiresOf(toText(cut(stream, size)))).toEqual(wiresOf(toText([stream])))
    expect(toFrames(cut(new Uint8Array(Buffer.from(toText([stream]))), size))).toEqual(stream)
  }
})

describe('frames that were decoded get the same bytes again', () => {
  const odd: Record<string, Uint8Array> = {
    'with headers in another order': writeEventFrame({
      headers: { ':message-type': 'event', ':event-type': 'ping' },
      payload: payloadOf({}),
    }),
    'with further headers': writeEventFrame({
      headers: {
        ':event-type': 'ping',
        ':content-type': 'application/json',
        ':message-type': 'event',
        more: 'x',
      },
      payload: payloadOf({ a: 1 }),
    }),
    'with an event type that no other frame has': event('x'.repeat(300), { a: 1 }),
    'with line breaks in the payload': writeEventFrame({
      headers: {
        ':event-type': 'metadata',
        ':content-type': 'application/json',
        ':message-type': 'event',
      },
      payload: new Uint8Array(Buffer.from('{\r\n "a" : 1\n}')),
    }),
    'with an empty payload': writeEventFrame({
      headers: { ':event-type': 'ping', ':message-type': 'event' },
      payload: new Uint8Array(),
    }),
    'with white space around the payload': writeEventFrame({
      headers: {
        ':event-type': 'metadata',
        ':content-type': 'application/json',
        ':message-type': 'event',
      },
      payload: new Uint8Array(Buffer.from('  { "a" : 1.0 } ')),
    }),
    'with invalid UTF-8': writeEventFrame({
      headers: {
        ':event-type': 'ping',
        ':content-type': 'application/json',
        ':message-type': 'event',
      },
      payload: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    }),
    'of an error that is not modelled': unmodelled,
    'of an exception': exception('modelStreamErrorException', {
      message: 'no',
      originalStatusCode: 500,
    }),
    'without an event type': writeEventFrame({ headers: { a: 'b' }, payload: payloadOf({}) }),
  }
  test.each(Object.entries(odd))('%s', (_, frame) => {
    expect(toFrames([toText([concat(stream, frame, stream)])])).toEqual(
      concat(stream, frame, stream),
    )
  })

  test('with any JSON under any event name', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }),
        fc.json(),
        (name, json) => {
          const frame = writeEventFrame({
            headers: {
              ':event-type': name,
              ':content-type': 'application/json',
              ':message-type': 'event',
            },
            payload: new Uint8Array(Buffer.from(json)),
          })
          expect(toFrames([toText([frame])])).toEqual(frame)
        },
      ),
    )
  })

  const folder =
    process.env['WIREGLOT_SHARED'] &&
    join(process.env['WIREGLOT_SHARED'], 'corpus-converse/streams')
  test.skipIf(!folder || !existsSync(folder))('in every recorded stream', () => {
    let count = 0
    for (const name of readdirSync(folder as string)) {
      const { events, frames } = JSON.parse(readFileSync(join(folder as string, name), 'utf8')) as {
        events: { payload: unknown }[]
        frames: string
      }
      const bytes = new Uint8Array(Buffer.from(frames, 'base64'))
      const text = toText(cut(bytes, 97))
      expect(
        wiresOf(text).map(wire => Object.values(wire as object)[0] as unknown),
        name,
      ).toEqual(events.map(({ payload }) => payload))
      expect(toFrames([text]), name).toEqual(bytes)
      expect(text, name).not.toContain('\nid: ')
      count++
    }
    expect(count).toBeGreaterThan(50)
  })
})

test('text and JSON pass unchanged, also in chunks', () => {
  for (const text of ['data: {"messageStart":{}}\n\n', '{"output":{}}', '[{}]', ': ping\n\n'])
    expect(toText([...text].map(char => new Uint8Array(Buffer.from(char))))).toBe(text)
})

test('damaged bytes become one error event, and nothing after it is read', () => {
  const damaged = concat(
    event('messageStart', {}),
    event('ping', {}).fill(1, 30, 31),
    event('messageStop', {}),
  )
  for (const size of [1, 1000]) {
    const wires = wiresOf(toText(cut(damaged, size)))
    expect(wires).toEqual([
      { messageStart: {} },
      {
        error: {
          code: 'DamagedStreamException',
          message: expect.stringContaining('checksum') as string,
        },
      },
    ])
  }
})

test('a stream that stops inside a frame stops inside a frame of the text', () => {
  const text = toText([stream.slice(0, -3)])
  expect(text.endsWith('\n\n')).toBe(false)
  expect(parseFrames(text).map(({ data }) => data !== '')).toEqual([true, true, false])
})

test('events of servers that write them as text become frames; comments and [DONE] become nothing', () => {
  const text =
    ': hello\n\ndata: { "messageStart" : {"role":"assistant"} }\n\nid: 7\ndata: {"type":"metadata","metadata":{"a":1}}\r\n\r\ndata: [DONE]\n\ndata: null\n\n'
  expect(toFrames([text])).toEqual(
    concat(event('messageStart', { role: 'assistant' }), event('metadata', { a: 1 })),
  )
})

test('an error has a code and a message, which the clients of AWS require', () => {
  const found: Record<string, string>[] = []
  const reader = new EventFrameReader(({ headers }) => found.push(headers))
  reader.push(
    toFrames([
      'data: {"error":{}}\n\ndata: {"error":null}\n\n',
      `data: {"error":{"code":"A","message":"${'ü'.repeat(70_000)}"}}\n\n`,
    ]),
  )
  expect(found).toEqual([
    { ':error-code': 'InternalServerException', ':error-message': '', ':message-type': 'error' },
    { ':error-code': 'InternalServerException', ':error-message': '', ':message-type': 'error' },
    { ':error-code': 'A', ':error-message': 'ü'.repeat(20_000), ':message-type': 'error' },
  ])
})

test('does not write bytes of a field `id` that are not a frame', () => {
  expect(toFrames([`id: frame:${btoa('no frame')}\ndata: {"ping":{}}\n\n`])).toEqual(
    event('ping', {}),
  )
})

test('damaged bytes are a fault of the upstream, whatever its own errors say', () => {
  const reader = createStreamReader(protocols.converse, {}, () => {})
  reader.push(event('ping', {}).fill(1, 30, 31))
  reader.end()
  expect(reader.seen.error).toMatchObject({ status: 502, kind: 'internal' })
})
