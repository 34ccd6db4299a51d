import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../../src/index.ts'
import { protocols } from '../../../src/protocols.ts'
import { framesOf } from '../../../src/testing/streams.ts'
import { blocks } from '../../support/examples/wires.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'

/** Clients that declare `functions` support only `function_call`, of which a response has one. */

const chat = 'chat-completions'
const functions = [
  { name: 'look', parameters: { type: 'object', properties: {} } },
  { name: 'find' },
]
const declares = (tools: object) =>
  translateRequest(
    { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...tools },
    { from: chat, to: 'messages' },
  ).context
const older = declares({ functions })

const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const response = (...content: object[]) => blocks.response(content, { stop_reason: 'tool_use' })
const block = (index: number, { input, ...head }: { input: object }) => [
  { type: 'content_block_start', index, content_block: { ...head, input: {} } },
  {
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  },
  { type: 'content_block_stop', index },
]
const streamed = (...calls: { input: object }[]) => [
  { type: 'message_start', message: { ...response(), stop_reason: null } },
  ...calls.flatMap((call, index) => block(index, call)),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
]
const codes = (notes: { code: string; path: string }[]) =>
  notes
    .map(({ code, path }) => `${code} ${path}`)
    .filter(note => !note.startsWith('response.created'))

type Choice = { message: object; finish_reason: string }
const choiceOf = (body: unknown) => (body as { choices: [Choice] }).choices[0]

function whole(content: object[], context = older, options = {}) {
  const { body, notes } = translateResponse(response(...content), {
    from: 'messages',
    to: chat,
    context,
    ...options,
  })
  return { choice: choiceOf(body), notes: codes(notes) }
}

function stream(calls: { input: object }[], context = older) {
  const translator = createStreamTranslator({ from: 'messages', to: chat, context })
  const text =
    streamed(...calls)
      .map(event => translator.push(protocols.messages.frames.write(event)))
      .join('') + translator.end()
  const choices = framesOf(text).flatMap(
    ({ wire }) =>
      (wire as { choices?: { delta: object; finish_reason: string | null }[] }).choices ?? [],
  )
  return { choices, notes: codes(translator.notes) }
}

describe('a response to a client that declared functions', () => {
  test('has a function call and ends with one', () => {
    const { choice, notes } = whole([use('t1', 'look', { a: 1 })])
    expect(choice.message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      function_call: { name: 'look', arguments: '{"a":1}' },
    })
    expect(choice.finish_reason).toBe('function_call')
    expect(notes).toEqual([])
  })

  test('keeps the text beside it', () => {
    expect(
      whole([{ type: 'text', text: 'wait' }, use('t1', 'find', {})]).choice.message,
    ).toMatchObject({
      content: 'wait',
      function_call: { name: 'find', arguments: '{}' },
    })
  })

  test('has the first of several calls; the others are noted', () => {
    const { choice, notes } = whole([
      use('t1', 'look', {}),
      use('t2', 'find', {}),
      use('t3', 'find', {}),
    ])
    expect(choice.message).toMatchObject({ function_call: { name: 'look' } })
    expect(choice.message).not.toHaveProperty('tool_calls')
    expect(notes).toEqual(['tool-call.single /content/1', 'tool-call.single /content/2'])
  })

  test('has the same content in a stream', () => {
    const { choices, notes } = stream([use('t1', 'look', { a: 1 })])
    expect(choices.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '' } },
      { function_call: { arguments: '{"a":1}' } },
      {},
    ])
    expect(choices.at(-1)?.finish_reason).toBe('function_call')
    expect(notes).toEqual([])
  })

  test('streams the first of several calls; the others are noted', () => {
    const { choices, notes } = stream([use('t1', 'look', { a: 1 }), use('t2', 'find', { b: 2 })])
    expect(JSON.stringify(choices)).not.toMatch(/find|tool_calls/)
    expect(choices.at(-1)?.finish_reason).toBe('function_call')
    expect(notes).toEqual(['tool-call.single /content/1'])
  })

  test('notes that a signature on the call has no place', () => {
    const signed = { id: 'r', model: 'm', createdAt: 1, candidates: [] as never[] }
    const part = {
      type: 'tool-call' as const,
      id: 'c',
      name: 'look',
      kind: 'function' as const,
      input: '{}',
      signature: { value: 's', issuer: 'generate-content' },
    }
    const { notes } = protocols[chat].encodeResponse(
      {
        ...signed,
        candidates: [
          {
            index: 0,
            messages: [{ role: 'assistant', origin: 'message', parts: [part] }],
            finish: { reason: 'tool_calls' },
          },
        ],
      },
      { context: older },
    )
    expect(notes.map(({ code }) => code)).toEqual(['reasoning.signature-dropped'])
  })

  test('comes back in the next request with the reasoning that led to it', () => {
    const content = [
      { type: 'text', text: 'wait' },
      { type: 'thinking', thinking: 'hm', signature: 'c2VhbA==' },
      use('t1', 'look', { a: 1 }),
    ]
    const { message } = whole(content).choice
    const { body, notes } = translateRequest(
      {
        model: 'm',
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'hi' },
          message,
          { role: 'function', name: 'look', content: 'ok' },
        ],
        functions,
      },
      { from: chat, to: 'messages' },
    )
    expect((body as { messages: { content: unknown }[] }).messages[1]?.content).toEqual([
      ...content.slice(0, 2),
      { ...content[2], id: 'call_fn_0' },
    ])
    expect(notes).toEqual([])
  })
})

test.each([
  ['tools', { tools: functions.map(fn => ({ type: 'function', function: fn })) }],
  ['both', { functions, tools: [{ type: 'function', function: { name: 'new' } }] }],
])('a client that declared %s gets tool calls', (_, tools) => {
  const { choice } = whole([use('t1', 'look', {}), use('t2', 'find', {})], declares(tools))
  expect(choice.message).toMatchObject({ tool_calls: [{ id: 't1' }, { id: 't2' }] })
  expect(choice.finish_reason).toBe('tool_calls')
})
