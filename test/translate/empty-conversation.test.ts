import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const odd = { type: 'novelty', text: 'hi' }
const user = (content?: unknown) => ({ role: 'user', ...(content !== undefined && { content }) })
const system = { role: 'system', content: 'Be kind.' }

/**
 * A request whose conversation is empty toward every other protocol, and the path of the refusal.
 */
const empty: [from: ProtocolName, path: string, body: object][] = [
  ['chat-completions', '/messages', { model: 'm', messages: [] }],
  ['chat-completions', '/messages/0', { model: 'm', messages: [user()] }],
  ['chat-completions', '/messages/0/content', { model: 'm', messages: [user('')] }],
  ['chat-completions', '/messages/0', { model: 'm', messages: [user([])] }],
  ['chat-completions', '/messages/0/content/0', { model: 'm', messages: [user([odd])] }],
  ['chat-completions', '/messages/1/content/0', { model: 'm', messages: [system, user([odd])] }],
  ['messages', '/messages', { model: 'm', max_tokens: 50, messages: [] }],
  ['messages', '/messages', { model: 'm', max_tokens: 50, system: 'Be kind.', messages: [] }],
  ['messages', '/messages/0', { model: 'm', max_tokens: 50, messages: [user([])] }],
  [
    'messages',
    '/messages/0/content/0',
    { model: 'm', max_tokens: 50, system: 'Be kind.', messages: [user([odd])] },
  ],
  ['responses', '/input', { model: 'm' }],
  ['responses', '/input', { model: 'm', instructions: 'Be kind.' }],
  ['responses', '/input', { model: 'm', input: '' }],
  ['responses', '/input', { model: 'm', input: [] }],
  ['responses', '/input/0', { model: 'm', input: [user([])] }],
  ['responses', '/input/0', { model: 'm', input: [{ type: 'novelty' }] }],
  ['generate-content', '/contents', { contents: [] }],
  [
    'generate-content',
    '/contents',
    { systemInstruction: { parts: [{ text: 'Be kind.' }] }, contents: [] },
  ],
  ['generate-content', '/contents/0', { contents: [{ parts: [] }] }],
  [
    'generate-content',
    '/contents/0/parts/0',
    { contents: [{ role: 'user', parts: [{ novelty: 1 }] }] },
  ],
]

describe.each(Object.keys(protocols) as ProtocolName[])('toward %s', to => {
  test.each(empty.filter(([from]) => from !== to))(
    'refuses an empty conversation of %s at %s: %j',
    (from, path, body) => {
      expect(() => translateRequest(body, { from, to })).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^(malformed|inexpressible)$/),
          path,
        }),
      )
    },
  )
})

test.each(empty)(
  'keeps the bytes when both sides are %s and the conversation is empty at %s',
  (from, _path, body) => {
    expect(translateRequest(body, { from, to: from }).body).toBe(body)
  },
)

test('reports the notes when the only message was left out', () => {
  const body = { model: 'm', messages: [user([odd])] }
  expect(() => translateRequest(body, { from: 'chat-completions', to: 'messages' })).toThrow(
    expect.objectContaining({
      code: 'inexpressible',
      notes: expect.arrayContaining([expect.objectContaining({ code: 'part.unknown' })]),
    }),
  )
})

test.each([
  ['responses', true],
  ['messages', false],
  ['generate-content', false],
] as const)('a conversation of instructions alone toward %s is sent: %s', (to, isSent) => {
  const body = { model: 'm', messages: [system] }
  const translate = () => translateRequest(body, { from: 'chat-completions', to })
  if (isSent) expect(translate().body).toMatchObject({ input: [{ role: 'system' }] })
  else expect(translate).toThrow(expect.objectContaining({ code: 'malformed', path: '/messages' }))
})

test.each(['messages', 'generate-content'] as const)(
  'a conversation of instructions alone gets a user message toward %s when leadingUser asks for it',
  to => {
    const body = { model: 'm', messages: [system] }
    const { notes } = translateRequest(body, {
      from: 'chat-completions',
      to,
      messages: { leadingUser: 'synthesize' },
      generateContent: { leadingUser: 'synthesize' },
    })
    expect(notes).toContainEqual(expect.objectContaining({ code: 'message.leading-user' }))
  },
)

test('refers to the stored conversation when a request continues one and has no input', () => {
  const body = { model: 'm', previous_response_id: 'resp_1' }
  expect(() => translateRequest(body, { from: 'responses', to: 'messages' })).toThrow(
    expect.objectContaining({ code: 'inexpressible', path: '/previous_response_id' }),
  )
})
