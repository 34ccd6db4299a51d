import { describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { strictToolsOf } from '../../src/testing/index.ts'
import { declaredIn, requests } from '../support/tool-requests.ts'
import { translateRequest } from '../support/untyped.ts'

// "Invalid 'tools': array too long. Expected an array with maximum length 128"

const schema = { type: 'object', properties: {} }
const named = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `tool${i}`, schema }))

const limits = [
  ['openai', 'chat-completions', 128],
  ['openai', 'responses', 128],
  ['groq', 'chat-completions', 128],
  ['xai', 'chat-completions', 200],
  ['deepseek', 'chat-completions', 128],
  ['moonshot', 'chat-completions', 128],
  ['gemini', 'generate-content', 512],
] as const

describe.each(limits)('%s takes over %s at most', (vendor, to, most) => {
  test.each(protocolNames)('so many tools, of a caller of %s', from => {
    const send = (count: number) =>
      translateRequest(requests[from](named(count)), { from, to, vendor, model: 'm' })
    const { body, notes } = send(most + 2)
    expect(declaredIn(to, body).map(({ name }) => name)).toEqual(
      named(most).map(({ name }) => name),
    )
    expect(strictToolsOf(vendor).checkTools(body as object)).toEqual([])
    expect(notes.filter(({ code }) => code === 'tool.too-many')).toHaveLength(2)
    const few = send(most)
    expect(declaredIn(to, few.body)).toHaveLength(most)
    expect(few.notes.map(({ code }) => code)).not.toContain('tool.too-many')
  })
})

test('what the conversation has called and what is chosen stays', () => {
  const tools = named(131).map(({ name }) => ({ name, input_schema: schema }))
  const call = { type: 'tool_use', id: 'a', name: 'tool130', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'ok' }
  const request = {
    model: 'm',
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ],
    tools,
    tool_choice: { type: 'tool', name: 'tool129' },
  }
  const to = 'chat-completions'
  const { body, notes } = translateRequest(request, { from: 'messages', to, vendor: 'openai' })
  const names = declaredIn(to, body).map(({ name }) => name)
  expect(names).toHaveLength(128)
  expect(names.slice(-3)).toEqual(['tool125', 'tool129', 'tool130'])
  expect(notes.flatMap(({ code, path }) => (code === 'tool.too-many' ? [path] : []))).toEqual([
    '/tools/126',
    '/tools/127',
    '/tools/128',
  ])
  expect(() =>
    translateRequest(request, { from: 'messages', to, vendor: 'openai', strict: ['dropped'] }),
  ).toThrow(/tool.too-many|takes no more tools/)
})

test('a namespace counts once where the server knows namespaces', () => {
  const functions = named(131).map(({ name }) => ({
    type: 'function',
    strict: false,
    name,
    parameters: schema,
  }))
  const request = {
    model: 'm',
    input: 'hi',
    tools: [{ type: 'namespace', name: 'all', description: 'All', tools: functions }],
  }
  const from = 'responses'
  const same = translateRequest(request, { from, to: from, vendor: 'openai' })
  expect(same.notes).toEqual([])
  const chat = translateRequest(request, { from, to: 'chat-completions', vendor: 'openai' })
  expect(declaredIn('chat-completions', chat.body)).toHaveLength(128)
})

test('without a vendor all are written', () => {
  const { body } = translateRequest(requests.messages(named(600)), {
    from: 'messages',
    to: 'chat-completions',
  })
  expect(declaredIn('chat-completions', body)).toHaveLength(600)
})
