import { describe, expect, test } from 'vitest'
import { responses } from '../../../src/protocols/responses/index.ts'

const { address, detect, withModel, wantsStream, frames } = responses

test('matches only its paths', () => {
  expect(address.match('/v1/responses')).toEqual({ operation: 'generate' })
  expect(address.match('/v1/responses/input_tokens')).toEqual({ operation: 'count-tokens' })
  for (const path of [
    '/v1/responses/',
    '/v1/responses/resp_1',
    '/responses',
    '/v1/chat/completions',
  ])
    expect(address.match(path)).toBeUndefined()
  expect(address.target({ operation: 'count-tokens', model: 'm', stream: false })).toBe(
    '/v1/responses/input_tokens',
  )
})

describe('detection of a body', () => {
  test.each([
    ['request', { model: 'm', input: 'hi' }],
    ['request', { model: 'm', input: [{ role: 'user', content: 'hi' }] }],
    [
      'request',
      { model: 'm', input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] },
    ],
    ['request', { model: 'm', previous_response_id: 'resp_1' }],
    ['response', { object: 'response', id: 'resp_1' }],
    ['event', { type: 'response.created', response: {} }],
  ] as const)('a %s: %j', (kind, body) => {
    expect(detect(body)[kind]).not.toEqual([])
  })

  test.each([
    [{ messages: [], max_output_tokens: 3 }],
    [{ input: 'text', model: 'e', encoding_format: 'float' }],
    [{ object: 'chat.completion', choices: [] }],
    [{ type: 'message', role: 'assistant', content: [] }],
    [{ type: 'message_start' }],
    ['text'],
    [null],
  ])('none in %j', body => {
    expect(detect(body)).toEqual({ request: [], response: [], event: [] })
  })
})

test('changes only the model name', () => {
  expect(withModel({ model: 'a', input: 'x' }, 'b')).toEqual({ model: 'b', input: 'x' })
  expect(withModel({ type: 'response.created', response: { id: 'r', model: 'a' } }, 'b')).toEqual({
    type: 'response.created',
    response: { id: 'r', model: 'b' },
  })
  const delta = { type: 'response.output_text.delta', delta: 'x' }
  expect(withModel(delta, 'b')).toBe(delta)
  expect(withModel('[DONE]', 'b')).toBe('[DONE]')
})

test('reads the `stream` flag', () => {
  expect([{ stream: true }, { stream: false }, { stream: null }, {}, 7].map(wantsStream)).toEqual([
    true,
    false,
    undefined,
    undefined,
    undefined,
  ])
})

test('writes frames with their event name, and ends a stream at a failure', () => {
  expect(frames.write({ type: 'response.created', a: 1 })).toBe(
    'event: response.created\ndata: {"type":"response.created","a":1}\n\n',
  )
  expect(frames.write('[DONE]')).toBe('data: [DONE]\n\n')
  expect(frames.failure?.({ status: 500, kind: 'internal', message: 'm' })).toMatch(
    /^event: response.created\ndata: .*\n\nevent: error\ndata: \{.*"message":"m".*\}\n\nevent: response.failed\ndata: \{.*"message":"m".*\}\n\ndata: \[DONE\]\n\n$/,
  )
})

test('lists models as in the reference', () => {
  expect(address.list([{ id: 'm', createdAt: 3 }])).toEqual({
    object: 'list',
    data: [{ id: 'm', object: 'model', created: 3, owned_by: 'unknown' }],
  })
  expect(address.counting?.write(7)).toEqual({ object: 'response.input_tokens', input_tokens: 7 })
})
