import { describe, expect, test } from 'vitest'
import { alwaysThinks, onlyManualThinking, takesMidSystem } from '../../../src/models/claude.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { translateRequest } from '../../support/untyped.ts'

const { address, detect, withModel, wantsStream } = messages
const none = new URLSearchParams()

describe('address', () => {
  test.each([
    ['/v1/messages', 'generate'],
    ['/v1/messages/', 'generate'],
    ['/v1/messages?beta=true', 'generate'],
    ['/v1/messages/count_tokens?beta=true', 'count-tokens'],
    ['/v1/messages/batches', undefined],
    ['/v1/v1/messages', undefined],
    ['/messages', undefined],
    ['/', undefined],
  ])('%s: matches %s', (path, operation) => {
    expect(address.match(path)?.operation).toBe(operation)
  })

  test('forwards the headers of messages clients', () => {
    expect(address.upstreamHeaders('k', undefined)).toEqual({
      'x-api-key': 'k',
      'anthropic-version': '2023-06-01',
    })
    expect(
      address.upstreamHeaders('k', {
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'a,b',
        'x-api-key': 'client',
        cookie: 'c',
      }),
    ).toEqual({
      'x-api-key': 'k',
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a,b',
    })
  })

  test('claims and writes listings', () => {
    expect(address.listingClaim('/v1/models', { 'anthropic-version': '2023-06-01' }, none)).toBe(2)
    expect(address.listingClaim('/v1/models/m', { 'x-api-key': 'k' }, none)).toBe(2)
    expect(address.listingClaim('/v1/models', { authorization: 'Bearer k' }, none)).toBe(0)
    expect(address.list([{ id: 'm', createdAt: 1, contextTokens: 9 }])).toEqual({
      data: [
        {
          id: 'm',
          type: 'model',
          display_name: 'm',
          created_at: '1970-01-01T00:00:01Z',
          max_input_tokens: 9,
        },
      ],
      has_more: false,
      first_id: 'm',
      last_id: 'm',
    })
    expect(address.list([])).toMatchObject({ first_id: null, last_id: null })
  })
})

describe('detection of a body', () => {
  test.each<[string, unknown, 'request' | 'response' | 'event' | undefined]>([
    ['a request with tools', { messages: [], tools: [{ name: 'a', input_schema: {} }] }, 'request'],
    ['a request with instructions', { messages: [], system: 'a' }, 'request'],
    [
      'a request with blocks',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] },
      'request',
    ],
    [
      'a request of two protocols',
      { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'a' }] },
      undefined,
    ],
    [
      'a response',
      { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' },
      'response',
    ],
    ['an event', { type: 'content_block_stop', index: 0 }, 'event'],
    ['anything', [1], undefined],
  ])('%s', (_, body, kind) => {
    const { request, response, event } = detect(body)
    expect({
      request: request.length > 0,
      response: response.length > 0,
      event: event.length > 0,
    }).toEqual({
      request: kind === 'request',
      response: kind === 'response',
      event: kind === 'event',
    })
  })

  test('replaces nothing but the model', () => {
    expect(withModel({ model: 'a', messages: [] }, 'b')).toEqual({ model: 'b', messages: [] })
    expect(withModel({ type: 'message_start', message: { model: 'a', id: 'i' } }, 'b')).toEqual({
      type: 'message_start',
      message: { model: 'b', id: 'i' },
    })
    const event = { type: 'ping' }
    expect(withModel(event, 'b')).toBe(event)
  })

  test('streaming is requested in the body', () => {
    expect([
      wantsStream({ stream: true }),
      wantsStream({ stream: false }),
      wantsStream({}),
      wantsStream(3),
    ]).toEqual([true, false, undefined, undefined])
  })
})

const marked = [
  { role: 'system', content: 's' },
  { role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] },
]

describe('instructions as the first message in a messages request', () => {
  test.each<[string, object]>([
    ['with nothing beside them', { max_tokens: 5, messages: marked.slice(0, 1) }],
    ['beside a limit and blocks with cache marks', { max_tokens: 5, messages: marked }],
    [
      'beside a tool of this protocol',
      { messages: marked.slice(0, 1), tools: [{ name: 'f', input_schema: { type: 'object' } }] },
    ],
  ])('%s', (_, body) => {
    expect(() =>
      translateRequest({ model: 'm', ...body }, { from: 'messages', to: 'responses' }),
    ).not.toThrow()
  })

  test.each<[string, object]>([
    [
      'with a tool of chat beside the marks',
      { max_tokens: 5, messages: marked, tools: [{ type: 'function', function: { name: 'f' } }] },
    ],
  ])('is detected as chat-completions %s', (_, body) => {
    expect(() =>
      translateRequest({ model: 'm', ...body }, { from: 'messages', to: 'responses' }),
    ).toThrow('/v1/chat/completions')
  })

  test('accepts a chat request with cache marks on its own path', () => {
    const body = { model: 'm', max_tokens: 5, messages: marked }
    expect(() =>
      translateRequest(body, { from: 'chat-completions', to: 'responses' }),
    ).not.toThrow()
    expect(() =>
      translateRequest(
        { ...body, messages: marked.slice(1) },
        { from: 'chat-completions', to: 'responses' },
      ),
    ).not.toThrow()
  })
})

test.each<[string, boolean, boolean, boolean]>([
  // model, takes system in mid-conversation, only manual thinking, always thinks
  ['claude-3-5-sonnet-20241022', false, true, false],
  ['claude-3-haiku-20240307', false, true, false],
  ['claude-2.1', false, true, false],
  ['claude-sonnet-4-20250514', false, true, false],
  ['claude-opus-4-1-20250805', false, true, false],
  ['claude-sonnet-4-5', false, true, false],
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', false, true, false],
  ['claude-opus-4-6', false, false, false],
  ['claude-opus-4-7', false, false, false],
  ['claude-opus-4-8', true, false, false],
  ['claude-haiku-4-5', false, true, false],
  ['claude-sonnet-5', true, false, false],
  ['claude-opus-5-5-20261001', true, false, true],
  ['claude-fable-5', true, false, true],
  ['claude-newest', true, false, false],
  ['m-1', false, false, false],
  ['deepseek-v4', false, false, false],
])('returns the capabilities of %s', (model, system, manual, always) => {
  expect([takesMidSystem(model), onlyManualThinking(model), alwaysThinks(model)]).toEqual([
    system,
    manual,
    always,
  ])
})
