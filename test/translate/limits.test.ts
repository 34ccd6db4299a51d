import { describe, expect, test } from 'vitest'
import { type ProtocolName, TranslationError } from '../../src/index.ts'
import { most } from '../../src/translate/limits.ts'
import { translateRequest } from '../support/untyped.ts'

const many = <T>(length: number, one: T): T[] => Array.from({ length }, () => one)
const user = { role: 'user', content: 'x' }
const text = { type: 'text', text: 'x' }
const tool = { type: 'function', name: 'f' }

function pathOfRefusal(body: object, from: ProtocolName): string | undefined {
  const to = from === 'converse' ? 'messages' : 'converse'
  try {
    translateRequest(body, { from, to })
    return undefined
  } catch (error) {
    if (!TranslationError.is(error)) throw error
    expect(error.code).toBe('malformed')
    expect(error.message).toMatch(/expected at most \d+ (messages|parts|tools) in a request/)
    return error.path
  }
}

const cases: [ProtocolName, string, (extra: number) => object][] = [
  ['chat-completions', '/messages', n => ({ messages: many(most.messages + n, user) })],
  ['responses', '/input', n => ({ input: many(most.messages + n, user) })],
  [
    'generate-content',
    '/contents',
    n => ({ contents: many(most.messages + n, { role: 'user', parts: [{ text: 'x' }] }) }),
  ],
  ['messages', '/messages/0', n => ({ messages: [user], system: many(most.parts - 1 + n, text) })],
  [
    'messages',
    '/messages/1',
    n => ({ messages: [user, { role: 'user', content: many(most.parts - 1 + n, text) }] }),
  ],
  [
    'converse',
    '/messages/1',
    n => ({
      messages: [
        { role: 'user', content: many(most.parts / 2, { text: 'x' }) },
        { role: 'user', content: many(most.parts / 2 + n, { text: 'x' }) },
      ],
    }),
  ],
  [
    'chat-completions',
    '/tools',
    n => ({
      messages: [user],
      tools: many(most.tools + n, { type: 'function', function: { name: 'f' } }),
    }),
  ],
  [
    'converse',
    '/toolConfig/tools',
    n => ({
      messages: [{ role: 'user', content: [{ text: 'x' }] }],
      toolConfig: { tools: many(most.tools + n, { toolSpec: { name: 'f', inputSchema: {} } }) },
    }),
  ],
  [
    'generate-content',
    '/tools',
    n => ({
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      tools: [{ functionDeclarations: many(most.tools + n, { name: 'f' }) }],
    }),
  ],
  [
    'chat-completions',
    '/functions',
    n => ({ messages: [user], functions: many(most.tools + n, { name: 'f' }) }),
  ],
  [
    'responses',
    '/input/1',
    n => ({
      input: [
        user,
        { type: 'additional_tools', role: 'developer', tools: many(most.tools - 1 + n, tool) },
      ],
      tools: [tool],
    }),
  ],
  [
    'responses',
    '/tools',
    n => ({
      input: [user],
      tools: [{ type: 'namespace', name: 'n', tools: many(most.tools + n, tool) }],
    }),
  ],
  [
    'generate-content',
    '/systemInstruction',
    n => ({
      contents: [{ role: 'user', parts: n > 0 ? [] : [{ text: 'x' }] }],
      systemInstruction: { parts: many(most.parts - 1 + 2 * n, { text: 'x' }) },
    }),
  ],
]

describe('a request to another protocol', () => {
  test.each(cases)('of %s may have a limited length of %s', (from, path, bodyOf) => {
    const body = (extra: number) => ({ model: 'm', max_tokens: 5, ...bodyOf(extra) })
    expect(pathOfRefusal(body(1), from)).toContain(path)
    expect(pathOfRefusal(body(0), from)).toBeUndefined()
  })

  test('may hold no more inside of its parts', () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: many(most.parts, text) }
    const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: [result] }] }
    expect(pathOfRefusal(body, 'messages')).toBe('/messages/0')
  })
})

test('a request of the same protocol passes, however long it is', () => {
  const body = { model: 'm', messages: many(most.messages + 1, user) }
  const translated = translateRequest(body, { from: 'chat-completions', to: 'chat-completions' })
  expect(translated.body).toBe(body)
})
