import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { toolCallsOf } from '../../src/canonical/read.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import {
  collectStream,
  explodeResponse,
  translateRequest,
  translateResponse,
} from '../support/untyped.ts'

const names = Object.keys(protocols) as ProtocolName[]
const pairs = names.flatMap(from => names.filter(to => to !== from).map(to => ({ from, to })))

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
const ids = ['CALL_A', 'CALL_B']

/** An answer with two calls, whose ids are left out below. */
const responses: Record<ProtocolName, object> = {
  'chat-completions': {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: ids.map(id => ({
            id,
            type: 'function',
            function: { name: 'look', arguments: '{"q":1}' },
          })),
        },
        finish_reason: 'tool_calls',
      },
    ],
  },
  responses: {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: ids.map((id, i) => ({
      type: 'function_call',
      id: `fc_${i}`,
      call_id: id,
      name: 'look',
      arguments: '{"q":1}',
      status: 'completed',
    })),
    usage,
  },
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: ids.map(id => ({ type: 'tool_use', id, name: 'look', input: { q: 1 } })),
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage,
  },
  'generate-content': {
    responseId: 'r',
    modelVersion: 'm',
    candidates: [
      {
        index: 0,
        content: {
          role: 'model',
          parts: ids.map(id => ({ functionCall: { id, name: 'look', args: { q: 1 } } })),
        },
        finishReason: 'STOP',
      },
    ],
  },
  converse: {
    output: {
      message: {
        role: 'assistant',
        content: ids.map(id => ({ toolUse: { toolUseId: id, name: 'look', input: { q: 1 } } })),
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    metrics: { latencyMs: 1 },
  },
}

/** The same JSON without the ids. */
const nameless = (text: string) =>
  text.replace(/,"(id|call_id|toolUseId)":"CALL_[AB]"|"(id|call_id|toolUseId)":"CALL_[AB]",?/g, '')

const callsIn = (body: unknown, of: ProtocolName) =>
  toolCallsOf(protocols[of].decodeResponse(body as object).value)

describe('calls that came without an id', () => {
  test.each(pairs)('have one each, $from → $to, whole and streamed', async ({ from, to }) => {
    const whole: unknown = JSON.parse(nameless(JSON.stringify(responses[from])))
    const { body } = translateResponse(whole, { from, to })
    const stream = createStreamTranslator({ from, to })
    const text = nameless(explodeResponse(responses[from], { protocol: from }))
    expect(text).not.toContain('CALL_')
    const written = stream.push(text) + stream.end()
    const collected = await collectStream(written, { protocol: to })
    for (const one of [body, collected.body]) {
      const calls = callsIn(one, to)
      expect(calls.map(({ name, input }) => [name, input])).toEqual([
        ['look', { q: 1 }],
        ['look', { q: 1 }],
      ])
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
      expect(calls.every(({ id }) => id !== '')).toBe(true)
    }
  })
})

/** Two calls and their results in a history, whose ids are empty or left out. */
const histories: Record<ProtocolName, object> = {
  'chat-completions': {
    messages: [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        tool_calls: ['a', 'b'].map(name => ({
          id: '',
          type: 'function',
          function: { name, arguments: '{}' },
        })),
      },
      ...['of a', 'of b'].map(content => ({ role: 'tool', tool_call_id: '', content })),
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'x' },
      ...['a', 'b'].map(name => ({ type: 'function_call', call_id: '', name, arguments: '{}' })),
      ...['of a', 'of b'].map(output => ({ type: 'function_call_output', output })),
    ],
  },
  messages: {
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: ['a', 'b'].map(name => ({ type: 'tool_use', id: '', name, input: {} })),
      },
      {
        role: 'user',
        content: ['of a', 'of b'].map(content => ({
          type: 'tool_result',
          tool_use_id: '',
          content,
        })),
      },
    ],
  },
  'generate-content': {
    contents: [
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: ['a', 'b'].map(name => ({ functionCall: { name, args: {} } })) },
      {
        role: 'user',
        parts: ['a', 'b'].map(name => ({
          functionResponse: { name, response: { output: `of ${name}` } },
        })),
      },
    ],
  },
  converse: {
    messages: [
      { role: 'user', content: [{ text: 'x' }] },
      {
        role: 'assistant',
        content: ['a', 'b'].map(name => ({ toolUse: { toolUseId: '', name, input: {} } })),
      },
      {
        role: 'user',
        content: ['of a', 'of b'].map(text => ({
          toolResult: { toolUseId: '', content: [{ text }] },
        })),
      },
    ],
  },
}

test.each(pairs)('calls in a history of $from have their results at $to', ({ from, to }) => {
  const { body } = translateRequest({ model: 'm', ...histories[from] }, { from, to, model: 'm' })
  const { messages } = protocols[to].decodeRequest(body as object).value
  const parts = messages.flatMap(message => message.parts)
  const calls = parts.flatMap(part => (part.type === 'tool-call' ? [part] : []))
  const results = parts.flatMap(part => (part.type === 'tool-result' ? [part] : []))
  expect(calls.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
  expect(results.map(({ content }) => JSON.stringify(content))).toEqual([
    expect.stringContaining('of a'),
    expect.stringContaining('of b'),
  ])
})

describe('arguments in the other form, a text for an object or an object for a text,', () => {
  const inOtherForm = (text: string) =>
    text.includes('"arguments"')
      ? text.replaceAll('"{\\"q\\":1}"', '{"q":1}')
      : text.replaceAll('{"q":1}', '"{\\"q\\":1}"')

  test.each(pairs)('are read, $from → $to', ({ from, to }) => {
    const text = inOtherForm(JSON.stringify(responses[from]))
    expect(text).not.toBe(JSON.stringify(responses[from]))
    const { body } = translateResponse(JSON.parse(text), { from, to })
    expect(callsIn(body, to).map(({ input }) => input)).toEqual([{ q: 1 }, { q: 1 }])
  })

  test('are noted where a text was', () => {
    const call = { functionCall: { name: 'look', args: '{"q":1}' } }
    const contents = [
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [call] },
    ]
    const { notes } = translateRequest(
      { contents },
      { from: 'generate-content', to: 'messages', model: 'm' },
    )
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'tool-call.input-text /contents/1/parts/0/functionCall/args',
    )
  })
})
