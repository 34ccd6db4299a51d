import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

// "Function call is missing a thought_signature in functionCall parts."

type Wire = Record<string, unknown>

const user = { role: 'user', content: 'hi' }
const history: Record<ProtocolName, Wire> = {
  'chat-completions': {
    model: 'm',
    messages: [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: ['c1', 'c2'].map(id => ({
          id,
          type: 'function',
          function: { name: 'find', arguments: '{}' },
        })),
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a' },
      { role: 'tool', tool_call_id: 'c2', content: 'b' },
    ],
  },
  responses: {
    model: 'm',
    input: [
      user,
      { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'find', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'a' },
      { type: 'function_call_output', call_id: 'c2', output: 'b' },
    ],
  },
  messages: {
    model: 'm',
    max_tokens: 9,
    messages: [
      user,
      {
        role: 'assistant',
        content: ['c1', 'c2'].map(id => ({ type: 'tool_use', id, name: 'find', input: {} })),
      },
      {
        role: 'user',
        content: ['c1', 'c2'].map(id => ({ type: 'tool_result', tool_use_id: id, content: 'a' })),
      },
    ],
  },
  'generate-content': {
    contents: [
      { role: 'user', parts: [{ text: 'hi' }] },
      {
        role: 'model',
        parts: ['c1', 'c2'].map(id => ({ functionCall: { id, name: 'find', args: {} } })),
      },
      {
        role: 'user',
        parts: ['c1', 'c2'].map(id => ({
          functionResponse: { id, name: 'find', response: { output: 'a' } },
        })),
      },
    ],
  },
  converse: {
    messages: [
      { role: 'user', content: [{ text: 'hi' }] },
      {
        role: 'assistant',
        content: ['c1', 'c2'].map(toolUseId => ({
          toolUse: { toolUseId, name: 'find', input: {} },
        })),
      },
      {
        role: 'user',
        content: ['c1', 'c2'].map(toolUseId => ({
          toolResult: { toolUseId, content: [{ text: 'a' }] },
        })),
      },
    ],
  },
}

const callsIn = (body: unknown) =>
  (body as { messages: { tool_calls?: Wire[] }[] }).messages.flatMap(one => one.tool_calls ?? [])

const placeholder = { google: { thought_signature: 'skip_thought_signature_validator' } }

describe.each(['gemini', 'vertex'] as const)('calls that lost their signature, at %s', vendor => {
  test.each(protocolNames)('from %s', from => {
    const to = 'chat-completions'
    const sent = (model: string) => translateRequest(history[from], { from, to, vendor, model })
    const { body, notes } = sent('gemini-3.8-flash')
    const [first, second] = callsIn(body)
    expect(first).toMatchObject({ extra_content: placeholder })
    expect(second).not.toHaveProperty('extra_content')
    expect(notes.map(({ code }) => code)).toContain('reasoning.placeholder-signature')
    // Older models sign nothing.
    expect(callsIn(sent('gemini-2.5-flash').body)[0]).not.toHaveProperty('extra_content')
  })
})

test.each(['google', 'vertex'])('a signature under %s comes back there', key => {
  const signed = { extra_content: { [key]: { thought_signature: 'c2ln' } } }
  const call = {
    id: 'c1',
    type: 'function',
    function: { name: 'find', arguments: '{}' },
    ...signed,
  }
  const response = {
    id: 'r',
    object: 'chat.completion',
    created: 1,
    model: 'gemini-3.8-flash',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: { role: 'assistant', content: null, tool_calls: [call] },
      },
    ],
  }
  const client = { from: 'chat-completions', to: 'messages' } as const
  const { content } = translateResponse(response, client).body as { content: Wire[] }
  const result = { type: 'tool_result', tool_use_id: 'c1', content: 'a' }
  const turns = [user, { role: 'assistant', content }, { role: 'user', content: [result] }]
  const next = { model: 'gemini-3.8-flash', max_tokens: 9, messages: turns }
  const { body } = translateRequest(next, {
    from: 'messages',
    to: 'chat-completions',
    vendor: 'vertex',
  })
  expect(callsIn(body)[0]).toMatchObject(signed)
})
