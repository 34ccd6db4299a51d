import { EventStreamCodec } from '@smithy/eventstream-codec'
import { describe, expect, test } from 'vitest'
import { translateStream } from '../../../src/index.ts'
import { converse } from '../../../src/protocols/converse/index.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { collectStream } from '../../support/untyped.ts'

const {
  framing,
  frames: { write },
} = converse
const codec = new EventStreamCodec(
  bytes => Buffer.from(bytes).toString(),
  text => Buffer.from(text),
)

type Event = { kind: string; name: string; payload: unknown }

/** The frames as the codec of the official client reads them. */
function framesIn(bytes: Uint8Array): Event[] {
  const events: Event[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0)
    const { headers, body } = codec.decode(bytes.subarray(at, at + length))
    const header = (name: string) => String(headers[name]?.value ?? '')
    events.push({
      kind: header(':message-type'),
      name: header(':event-type') || header(':exception-type'),
      payload: JSON.parse(Buffer.from(body).toString()),
    })
    at += length
  }
  return events
}

async function sent(chunks: string[]): Promise<Event[]> {
  const parts: Uint8Array[] = []
  for await (const chunk of translateStream(chunks, {
    from: 'chat-completions',
    to: 'converse',
    now: 1,
  }))
    parts.push(chunk)
  return framesIn(Buffer.concat(parts))
}

const sse = (value: unknown) =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null) =>
  sse({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
const wiresOf = (events: Event[]) => events.map(({ name, payload }) => ({ [name]: payload }))

describe('encoding a stream', () => {
  test('writes no start for text, one for calls, and counts after the stop reason', async () => {
    const events = await sent([
      chunk({ role: 'assistant', content: 'He' }),
      chunk({ content: 'llo' }),
      chunk({
        tool_calls: [
          { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
      chunk({}, 'tool_calls'),
      sse('[DONE]'),
    ])
    expect(events.map(({ name }) => name)).toEqual([
      ...['messageStart', 'contentBlockDelta', 'contentBlockDelta', 'contentBlockStop'],
      ...['contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata'],
    ])
    expect(events.every(({ kind }) => kind === 'event')).toBe(true)
    expect(events[4]?.payload).toEqual({
      contentBlockIndex: 1,
      start: { toolUse: { toolUseId: 'c1', name: 'f' } },
    })
    expect(events.at(-2)?.payload).toEqual({ stopReason: 'tool_use' })
    expect(strictOf('converse').checkStream(wiresOf(events))).toEqual([])
  })

  test.each<[what: string, end: string[], name: string]>([
    [
      'an error in the stream',
      [sse({ error: { message: 'slow', type: 'rate_limit_error', code: null, param: null } })],
      'throttlingException',
    ],
    ['a stream that stops between frames', [], 'internalServerException'],
    ['a frame that stops', ['data: {"id":"x","choi'], 'internalServerException'],
  ])('ends %s with an exception', async (_, end, name) => {
    const events = await sent([chunk({ role: 'assistant', content: 'Hel' }), ...end])
    expect(events.at(-1)).toMatchObject({
      kind: 'exception',
      name,
      payload: { message: expect.any(String) },
    })
    expect(events.map(event => event.name)).not.toContain('messageStop')
  })

  test('writes no stop for a call that a limit cut off', async () => {
    const events = await sent([
      chunk({
        role: 'assistant',
        tool_calls: [
          { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":' } },
        ],
      }),
      chunk({}, 'length'),
      sse('[DONE]'),
    ])
    expect(events.map(({ name }) => name)).toEqual([
      'messageStart',
      'contentBlockStart',
      'contentBlockDelta',
      'messageStop',
      'metadata',
    ])
    expect(events.at(-2)?.payload).toEqual({ stopReason: 'max_tokens' })
  })

  test('writes keep-alives that clients skip', () => {
    expect(
      framesIn(Buffer.from(framing?.encode()(String(converse.frames.ping)) as Uint8Array)),
    ).toEqual([{ kind: 'event', name: 'ping', payload: {} }])
  })
})

describe('decoding a stream', () => {
  const delta = (contentBlockIndex: number, body: object) => ({
    contentBlockDelta: { contentBlockIndex, delta: body },
  })
  const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } })
  const start = { messageStart: { role: 'assistant', p: 'abc' } }
  const metadata = {
    metadata: {
      usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      metrics: { latencyMs: 1 },
    },
  }
  const collected = (events: object[]) =>
    collectStream(
      translateStream(events.map(write), { from: 'converse', to: 'messages', now: 1 }),
      { protocol: 'messages' },
    )

  test('reasoning with its signature, text, and a call', async () => {
    const { body } = await collected([
      start,
      delta(0, { reasoningContent: { text: 'T' } }),
      delta(0, { reasoningContent: { signature: 'EqQB' } }),
      stop(0),
      delta(1, { text: 'a' }),
      stop(1),
      {
        contentBlockStart: {
          contentBlockIndex: 2,
          start: { toolUse: { toolUseId: 't', name: 'f' } },
        },
      },
      delta(2, { toolUse: { input: '' } }),
      delta(2, { toolUse: { input: '{"a":1}' } }),
      stop(2),
      { messageStop: { stopReason: 'tool_use' } },
      metadata,
    ])
    expect(body).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'T' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2 },
    })
  })

  test.each([
    ['each encoded for itself', ['EqQBQQ==', 'Qg==']],
    ['encoded once, and cut', ['EqQB', 'QUI=']],
  ])('redacted reasoning is one blob, though it comes in chunks that are %s', async (_, chunks) => {
    const read = (blobs: string[]) => {
      const redacted = blobs.map(redactedContent =>
        delta(0, { reasoningContent: { redactedContent } }),
      )
      return collected([
        start,
        ...redacted,
        stop(0),
        delta(1, { text: 'a' }),
        stop(1),
        { messageStop: { stopReason: 'end_turn' } },
        metadata,
      ])
    }
    const { body } = await read(chunks)
    expect(body).toMatchObject({
      content: [{ type: 'redacted_thinking' }, { type: 'text', text: 'a' }],
    })
    expect(body).toEqual((await read(['EqQBQUI='])).body)
  })

  test('starts new reasoning for text after a signature', async () => {
    const thought = (text: string, signature: string) => [
      delta(0, { reasoningContent: { text } }),
      delta(0, { reasoningContent: { signature } }),
    ]
    const events = [
      start,
      ...thought('T', 'EqQB'),
      ...thought('U', 'EqQC'),
      stop(0),
      delta(1, { text: 'a' }),
      stop(1),
    ]
    const { body } = await collected([
      ...events,
      { messageStop: { stopReason: 'end_turn' } },
      metadata,
    ])
    expect(body).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'T' },
        { type: 'thinking', thinking: 'U' },
        { type: 'text', text: 'a' },
      ],
    })
  })

  test.each<[what: string, events: object[]]>([
    [
      'counts before the stop reason',
      [
        start,
        delta(0, { text: 'a' }),
        stop(0),
        metadata,
        { messageStop: { stopReason: 'end_turn' } },
      ],
    ],
    [
      'a start for text',
      [
        start,
        { contentBlockStart: { contentBlockIndex: 0, start: {} } },
        delta(0, { text: 'a' }),
        stop(0),
        { messageStop: { stopReason: 'end_turn' } },
        metadata,
      ],
    ],
    [
      'no stop of a block',
      [start, delta(0, { text: 'a' }), { messageStop: { stopReason: 'end_turn' } }, metadata],
    ],
    [
      'no start of the message',
      [delta(0, { text: 'a' }), stop(0), { messageStop: { stopReason: 'end_turn' } }, metadata],
    ],
    [
      'a gap in the indexes',
      [
        start,
        delta(3, { text: 'a' }),
        stop(3),
        { messageStop: { stopReason: 'end_turn' } },
        metadata,
      ],
    ],
    [
      'pings',
      [
        { ping: {} },
        start,
        delta(0, { text: 'a' }),
        { ping: {} },
        stop(0),
        { messageStop: { stopReason: 'end_turn' } },
        metadata,
      ],
    ],
  ])('compatible servers: %s', async (_, events) => {
    const { body } = await collected(events)
    expect(body).toMatchObject({
      content: [{ type: 'text', text: 'a' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    })
  })

  test.each<[name: string, type: string]>([
    ['internalServerException', 'api_error'],
    ['modelStreamErrorException', 'api_error'],
    ['throttlingException', 'rate_limit_error'],
    ['validationException', 'invalid_request_error'],
    ['serviceUnavailableException', 'api_error'],
  ])('a stream that ends with %s has failed', async (name, type) => {
    const { body } = await collected([
      start,
      delta(0, { text: 'a' }),
      { [name]: { message: 'Broke down' } },
    ])
    expect(body).toMatchObject({ type: 'error', error: { type, message: 'Broke down' } })
  })
})
