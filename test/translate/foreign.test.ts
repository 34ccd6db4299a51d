import { expect, test } from 'vitest'
import { detectProtocol } from '../../src/index.ts'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'
import { refuseForeign } from '../../src/translate/foreign.ts'
import { translateRequest } from '../support/untyped.ts'

/**
 * A wire that differs from chat-completions in little, as many servers have one: its requests bear
 * signs of that.
 */
const alike = (shared: true | undefined): Protocol => ({
  ...protocols['chat-completions'],
  name: 'alike',
  detect: () => ({ request: [], response: [], event: [], ...(shared && { shared }) }),
})
const known = Object.values(protocols)
const received = {
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ type: 'function', function: { name: 'look' } }],
}

test('a request that bears signs of another protocol alone is refused, with its path', () => {
  expect(() => refuseForeign(received, protocols.messages, known)).toThrow(
    '`tools` hold a `function`); its path is /v1/chat/completions',
  )
  expect(() => refuseForeign(received, alike(undefined), known)).toThrow(
    'its path is /v1/chat/completions',
  )
})

test('ignores signs of another protocol in a shape that both have', () => {
  expect(() => refuseForeign(received, alike(true), known)).not.toThrow()
})

test.each(['responses', 'generate-content'] as const)(
  'a conversation under `messages` is refused by %s, with both paths that know it',
  from => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
    const both =
      'this is a request of the chat-completions or messages protocol; its path is /v1/chat/completions or /v1/messages'
    for (const to of ['chat-completions', 'messages'] as const)
      expect(() => translateRequest(body, { from, to })).toThrow(both)
  },
)

test.each([
  ['responses', { model: 'm', input: 'hi', messages: [] }],
  ['generate-content', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], messages: [] }],
] as const)(
  'treats `messages` next to the conversation of %s as an unknown field',
  (from, body) => {
    expect(translateRequest(body, { from, to: 'chat-completions' }).notes).toMatchObject([
      { code: 'field.unknown', path: '/messages' },
    ])
  },
)

test('accepts a messages request whose instructions are its first message', () => {
  const messages = [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'hi' },
  ]
  const body = { model: 'm', max_tokens: 9, messages }
  for (const to of ['chat-completions', 'responses', 'generate-content'] as const) {
    const { body: wire } = translateRequest(body, { from: 'messages', to })
    expect(JSON.stringify(wire)).toContain('be brief')
  }
  expect(detectProtocol(body)).toMatchObject({ protocol: 'chat-completions' })
})

test('still refuses a chat request on the path of messages when it bears another sign of chat', () => {
  const body = {
    model: 'm',
    messages: [{ role: 'system', content: 'be brief' }],
    response_format: { type: 'json_object' },
  }
  expect(() => translateRequest(body, { from: 'messages', to: 'responses' })).toThrow(
    '/v1/chat/completions',
  )
})
