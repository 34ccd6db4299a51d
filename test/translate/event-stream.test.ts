import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import {
  type CanonicalEvent,
  collectStream,
  createTransformStream,
  explodeResponse,
  type ProtocolName,
  readStream,
  TranslationError,
  textOf,
  toolCallsOf,
  toWebStream,
  translateResponse,
  translateStream,
} from '../../src/index.ts'
import { protocols } from '../../src/protocols.ts'

const result = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'text', text: 'Grüße' },
    { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1, b: 2 } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 3 },
}
const names = Object.keys(protocols) as ProtocolName[]
const bodyIn = (protocol: ProtocolName) =>
  translateResponse(result, { from: 'messages', to: protocol }).body
const streamIn = (protocol: ProtocolName) => explodeResponse(bodyIn(protocol), { protocol })

/** Bytes in chunks of 7, which cut letters and frames. */
function chunksOf(text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
    bytes.subarray(index * 7, index * 7 + 7),
  )
}

async function eventsOf(stream: AsyncIterable<CanonicalEvent>): Promise<CanonicalEvent[]> {
  const events: CanonicalEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

describe.each(names)('readStream of %s', protocol => {
  test('yields events and folds them into the response', async () => {
    const stream = readStream(chunksOf(streamIn(protocol)), { protocol })
    const events = await eventsOf(stream)
    expect(events[0]?.type).toBe('start')
    expect(events.at(-1)).toEqual({ type: 'end', clean: true })
    const response = await stream.complete()
    expect(textOf(response)).toBe('Grüße')
    expect(toolCallsOf(response)).toMatchObject([
      { name: 'add', input: { a: 1, b: 2 }, inputText: '{"a":1,"b":2}' },
    ])
    expect(response.candidates[0]?.finish?.reason).toBe('tool_calls')
    expect(response.usage).toMatchObject({ input: 8, output: 3 })
  })

  const sources: [string, () => Parameters<typeof readStream>[0]][] = [
    ['a fetch body', () => new Response(streamIn(protocol)).body],
    ['a Node stream', () => Readable.from(chunksOf(streamIn(protocol)))],
    ['text', () => [streamIn(protocol)]],
    [
      'a web stream that is not iterable',
      () => {
        const { body } = new Response(streamIn(protocol))
        return Object.assign(
          Object.create({ getReader: () => body?.getReader() }),
          {},
        ) as ReadableStream<Uint8Array>
      },
    ],
  ]
  test.each(sources)('reads %s without a loop', async (_, source) => {
    expect(textOf(await readStream(source(), { protocol }).complete())).toBe('Grüße')
  })

  test('rejects with truncated when the stream was cut off', async () => {
    const text = streamIn(protocol)
    const stream = readStream([text.slice(0, text.indexOf('Gr') + 2)], { protocol })
    expect((await eventsOf(stream)).at(-1)).toEqual({ type: 'end', clean: false })
    await expect(stream.complete()).rejects.toMatchObject({ code: 'truncated', protocol })
  })
})

describe('readStream', () => {
  test('cancels the source when the loop stops early', async () => {
    let isCancelled = false
    const source = new ReadableStream<string>({
      pull: controller => controller.enqueue(streamIn('messages')),
      cancel() {
        isCancelled = true
      },
    })
    for await (const _ of readStream(source, { protocol: 'messages' })) break
    expect(isCancelled).toBe(true)
  })

  test('stops reading at the end of the response, though the source continues', async () => {
    function* endless() {
      yield streamIn('messages')
      for (;;) yield ': ping\n\n'
    }
    expect(textOf(await readStream(endless(), { protocol: 'messages' }).complete())).toBe('Grüße')
  })

  test('returns a response with an error when the stream failed', async () => {
    const text =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
    const stream = readStream([text], { protocol: 'messages' })
    expect((await stream.complete()).error).toMatchObject({ kind: 'overloaded', message: 'busy' })
  })

  test('has the response so far while events are read', async () => {
    const stream = readStream([streamIn('messages')], { protocol: 'messages' })
    for await (const event of stream)
      if (event.type === 'part.end' && event.part === 0)
        expect(textOf(stream.partial)).toBe('Grüße')
    expect(stream.notes).toEqual([])
  })

  test('rejects when the source does', async () => {
    async function* broken() {
      yield streamIn('messages').slice(0, 300)
      throw new Error('connection reset')
    }
    await expect(readStream(broken(), { protocol: 'messages' }).complete()).rejects.toThrow(
      'connection reset',
    )
  })

  test('reads the absent body of a response as a stream that was cut off', async () => {
    await expect(readStream(null, { protocol: 'messages' }).complete()).rejects.toThrow(
      TranslationError,
    )
  })

  test('refuses a note that strict forbids', async () => {
    const text =
      'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: no json\n\ndata: [DONE]\n\n'
    const stream = readStream([text], {
      protocol: 'chat-completions',
      strict: ['dropped', 'approximated', 'synthesized'],
    })
    await expect(stream.complete()).rejects.toMatchObject({ code: 'inexpressible' })
  })
})

describe('web streams', () => {
  const pair = { from: 'messages', to: 'chat-completions' } as const
  const collected = async (body: ReadableStream<Uint8Array>) =>
    (await collectStream(body, { protocol: pair.to })).body

  test('createTransformStream translates what is piped through it', async () => {
    const { body } = new Response(streamIn('messages'))
    if (!body) throw new Error('no body')
    expect(await collected(body.pipeThrough(createTransformStream(pair)))).toMatchObject({
      choices: [{ message: { content: 'Grüße' } }],
    })
  })

  test('toWebStream makes the body of a response', async () => {
    const { body } = new Response(
      toWebStream(translateStream(chunksOf(streamIn('messages')), pair)),
    )
    if (!body) throw new Error('no body')
    expect(await collected(body)).toMatchObject({ choices: [{ message: { content: 'Grüße' } }] })
  })

  test('toWebStream ends the iterable when it is cancelled', async () => {
    let isEnded = false
    async function* values() {
      try {
        for (;;) yield 1
      } finally {
        isEnded = true
      }
    }
    const reader = toWebStream(values()).getReader()
    expect((await reader.read()).value).toBe(1)
    await reader.cancel()
    expect(isEnded).toBe(true)
  })
})
