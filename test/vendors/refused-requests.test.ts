import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { translateRequest } from '../support/untyped.ts'

// A list of no tools, which servers refuse: "[] is too short - 'tools'".

type Wire = Record<string, unknown>

const user = { role: 'user', content: 'hi' }
/** `forced`: with a choice that cannot be made. */
const asking: Record<ProtocolName, (forced: boolean) => Wire> = {
  'chat-completions': forced => ({
    model: 'm',
    messages: [user],
    tools: [],
    tool_choice: forced ? 'required' : 'auto',
    parallel_tool_calls: true,
  }),
  responses: forced => ({
    model: 'm',
    input: 'hi',
    tools: [],
    tool_choice: forced ? 'required' : 'auto',
    parallel_tool_calls: true,
  }),
  messages: forced => ({
    model: 'm',
    max_tokens: 9,
    messages: [user],
    tools: [],
    tool_choice: { type: forced ? 'any' : 'auto' },
  }),
  'generate-content': forced => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    tools: [{ functionDeclarations: [] }],
    toolConfig: { functionCallingConfig: { mode: forced ? 'ANY' : 'AUTO' } },
  }),
  converse: forced => ({
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    toolConfig: { tools: [], toolChoice: forced ? { any: {} } : { auto: {} } },
  }),
}

const servers: [to: ProtocolName, vendor: VendorName][] = [
  ['chat-completions', 'openai'],
  ['chat-completions', 'vllm'],
  ['chat-completions', 'alibaba'],
  ['generate-content', 'gemini'],
  ['generate-content', 'vertex'],
  ['converse', 'bedrock'],
]

describe.each(servers)('toward %s of %s', (to, vendor) => {
  test.each(protocolNames)('from %s nothing is written about tools', from => {
    for (const forced of [false, true]) {
      const { body, notes } = translateRequest(asking[from](forced), { from, to, vendor })
      for (const key of ['tools', 'tool_choice', 'parallel_tool_calls', 'toolConfig'])
        expect(body, `${forced} ${key}`).not.toHaveProperty(key)
      const isNoted = notes.some(({ code }) => code === 'tool-choice.without-tools')
      expect(isNoted).toBe(forced)
    }
  })
})

test('an unknown server gets what its client sends', () => {
  for (const both of protocolNames) {
    const body = asking[both](false)
    expect(translateRequest(body, { from: both, to: both }).body).toEqual(body)
  }
})

describe('a text of the assistant at the end', () => {
  const shown = {
    model: 'm',
    max_tokens: 9,
    messages: [user, { role: 'assistant', content: 'Oh' }],
  }
  const asked: Record<ProtocolName, Wire> = {
    'chat-completions': { model: 'm', messages: [user, { role: 'assistant', content: 'Oh' }] },
    responses: { model: 'm', input: [user, { role: 'assistant', content: 'Oh' }] },
    messages: shown,
    'generate-content': {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'Oh' }] },
      ],
    },
    converse: {
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'assistant', content: [{ text: 'Oh' }] },
      ],
    },
  }

  test.each(protocolNames)('from %s to a server that refuses it is followed by a request', from => {
    for (const vendor of ['mistral', 'llama-cpp'] as const) {
      const options = { from, to: 'chat-completions', vendor } as const
      const { body, notes } = translateRequest(asked[from], options)
      expect((body as { messages: Wire[] }).messages.at(-1)).toEqual({
        role: 'user',
        content: 'Continue.',
      })
      expect(notes.map(({ code }) => code)).toContain('message.trailing-user')
    }
  })

  test('stays where llama.cpp is told not to think', () => {
    const asked = { ...shown, thinking: { type: 'disabled' } }
    const options = { from: 'messages', to: 'chat-completions', vendor: 'llama-cpp' } as const
    const { body } = translateRequest(asked, options)
    expect((body as { messages: Wire[] }).messages.at(-1)).toMatchObject({ content: 'Oh' })
  })

  test('stays where the client says how to go on', () => {
    const last = { role: 'assistant', content: 'Oh', prefix: true }
    const body = { model: 'm', messages: [user, last] }
    const options = { from: 'chat-completions', to: 'chat-completions', vendor: 'mistral' } as const
    expect(translateRequest(body, options).body).toEqual(body)
  })
})

describe('a user who speaks straight after the result of a tool', () => {
  const asked: Record<ProtocolName, Wire> = {
    'chat-completions': {
      model: 'm',
      messages: [
        user,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'a' },
        user,
      ],
    },
    responses: {
      model: 'm',
      input: [
        user,
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'a' },
        user,
      ],
    },
    messages: {
      model: 'm',
      max_tokens: 9,
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: 'a' },
            { type: 'text', text: 'hi' },
          ],
        },
      ],
    },
    'generate-content': {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c', name: 'f', response: { output: 'a' } } },
            { text: 'hi' },
          ],
        },
      ],
    },
    converse: {
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'c', name: 'f', input: {} } }],
        },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'c', content: [{ text: 'a' }] } }, { text: 'hi' }],
        },
      ],
    },
  }
  const served: [vendor: VendorName, model: string][] = [
    ['mistral', 'mistral-large-4'],
    ['nvidia', 'mistralai/mistral-small-4-119b-2603'],
    ['vllm', 'mistralai/Devstral-Small-2-24B-Instruct-2512'],
    ['openrouter', 'mistralai/magistral-medium-2'],
  ]

  test.each(served)('is no neighbour of it for %s, model %s', (vendor, model) => {
    for (const from of protocolNames) {
      const options = { from, to: 'chat-completions', vendor, model } as const
      const { body, notes } = translateRequest(asked[from], options)
      const roles = (body as { messages: Wire[] }).messages.map(({ role }) => role)
      expect(roles, from).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
      expect(notes.map(({ code }) => code)).toContain('message.assistant-between')
    }
  })
})
