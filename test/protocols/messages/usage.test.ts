import { describe, expect, test } from 'vitest'
import type { Usage } from '../../../src/canonical/response.ts'
import { createStreamTranslator } from '../../../src/index.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { translateResponse } from '../../support/untyped.ts'
import { decodeStream, encodeStream } from './run.ts'

const response = (usage: unknown) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
})

/** The same as a stream whose last counts are these. */
const stream = (usage: unknown) => [
  {
    type: 'message_start',
    message: { ...response({ input_tokens: 5, output_tokens: 1 }), content: [], stop_reason: null },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
]

const usageOf = (wire: unknown) => messages.decodeResponse(wire).value.usage

describe('invalid counts', () => {
  test.each<[string, object, Partial<Usage>]>([
    ['a fraction', { input_tokens: 5, output_tokens: 1.5 }, { input: 5 }],
    ['less than nothing', { input_tokens: -1, output_tokens: 7 }, { output: 7 }],
    ['more than a number holds', { input_tokens: 5, output_tokens: 1e21 }, { input: 5 }],
    [
      'a fraction of what the cache held',
      { input_tokens: 5, cache_read_input_tokens: 0.5, output_tokens: 7 },
      { input: 5, output: 7 },
    ],
    [
      'a fraction of thinking',
      { input_tokens: 5, output_tokens: 7, output_tokens_details: { thinking_tokens: 0.1 } },
      { input: 5, output: 7 },
    ],
    [
      'calls below zero',
      { input_tokens: 5, output_tokens: 7, server_tool_use: { web_search_requests: -2 } },
      { input: 5, output: 7, serverTools: {} },
    ],
  ])('%s is not counted, but kept unchanged', (_, wire, known) => {
    const { value, notes } = messages.decodeResponse(response(wire))
    const { ext, ...counts } = value.usage ?? {}
    expect(counts).toEqual(known)
    expect(notes).toEqual([])
    expect(messages.encodeResponse(value)).toMatchObject({ wire: response(wire), notes: [] })
    expect(ext?.['messages']?.fields).toBeDefined()
  })

  test.each<[string, unknown]>([
    ['a fraction', { output_tokens: 1.5 }],
    ['less than nothing', { output_tokens: -3 }],
    ['a word', { output_tokens: 'many' }],
    [
      'no object',
      { output_tokens: 7, server_tool_use: 3, cache_creation: 'x', output_tokens_details: [] },
    ],
    ['no object at all', 'many'],
    ['a list', []],
  ])('%s in a stream does not break it, and is noted', (_, usage) => {
    const translator = createStreamTranslator({ from: 'messages', to: 'chat-completions' })
    const text = stream(usage)
      .map(event => translator.push(`data: ${JSON.stringify(event)}\n\n`))
      .join('')
    expect(text + translator.end()).toContain('[DONE]')
    expect(translator.finished).toBe(true)
    expect(
      translator.notes.filter(
        ({ code, path }) => code === 'field.unknown' && path.startsWith('/usage'),
      ).length,
    ).toBeGreaterThan(0)
    expect(decodeStream(stream(usage)).at(-1)).toEqual({ type: 'end', clean: true })
  })

  test('are each noted for other protocols', () => {
    const { notes } = translateResponse(response({ input_tokens: 5, output_tokens: 1.5 }), {
      from: 'messages',
      to: 'responses',
      now: 1,
    })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'field.unknown /usage/output_tokens',
    )
  })
})

describe('round trips of counts', () => {
  test.each<[string, object, Partial<Usage>]>([
    [
      'cached input is part of the input',
      {
        input_tokens: 8,
        cache_creation_input_tokens: 12963,
        cache_read_input_tokens: 4,
        output_tokens: 2,
      },
      { input: 12975 },
    ],
    [
      'null is absent',
      {
        input_tokens: 8,
        cache_read_input_tokens: null,
        output_tokens: 2,
        output_tokens_details: null,
      },
      { input: 8, output: 2 },
    ],
    [
      'lifetimes of what was written',
      {
        input_tokens: 1,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 2,
      },
      { cacheWriteByTtl: { '5m': 10, '1h': 20 } },
    ],
    [
      'calls of tools',
      {
        input_tokens: 1,
        output_tokens: 2,
        server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
      },
      { serverTools: { web_search: 3, web_fetch: 0 } },
    ],
  ])('%s', (_, wire, known) => {
    expect(usageOf(response(wire))).toMatchObject(known)
    expect(messages.encodeResponse(messages.decodeResponse(response(wire)).value).wire).toEqual(
      response(wire),
    )
  })
})

describe('counts of another protocol', () => {
  const write = (usage: Usage | undefined) =>
    messages.encodeResponse({
      id: 'r',
      model: 'm',
      candidates: [
        {
          index: 0,
          messages: [
            { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: 'x' }] },
          ],
          finish: { reason: 'stop' },
        },
      ],
      ...(usage && { usage }),
    })

  test('have every key that the type requires', () => {
    expect(write({ input: 120, output: 30 })).toMatchObject({
      wire: {
        usage: {
          input_tokens: 120,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          cache_creation: null,
          output_tokens: 30,
          output_tokens_details: null,
          server_tool_use: null,
          service_tier: null,
          inference_geo: null,
        },
      },
      notes: [],
    })
  })

  test('have only the keys of a message_delta at the end of a stream', () => {
    const { wires } = encodeStream([
      { type: 'start', id: 'r', model: 'm' },
      { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
      { type: 'message.end', candidate: 0, message: 0 },
      { type: 'finish', candidate: 0, finish: { reason: 'stop' } },
      { type: 'usage', usage: { input: 120, output: 30 } },
      { type: 'end', clean: true },
    ])
    expect(wires.at(-2)?.['usage']).toEqual({
      input_tokens: 120,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 30,
      output_tokens_details: null,
      server_tool_use: null,
    })
  })
})
