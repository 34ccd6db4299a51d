import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/message.ts'
import { createStreamTranslator } from '../../../src/index.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { valueAt } from '../../support/cross.ts'
import { blocks } from '../../support/examples/wires.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'

type Block = Record<string, unknown>

const thought = (thinking: string): Block => ({
  type: 'thinking',
  thinking,
  signature: `signature of ${thinking}`,
})
const unsigned = (thinking: string): Block => ({ type: 'thinking', thinking, signature: '' })
const text = (message: string): Block => ({ type: 'text', text: message })
const call = (id: string): Block => ({ type: 'tool_use', id, name: 'look', input: {} })

const settings = {
  from: 'messages',
  to: 'chat-completions',
  chatCompletions: { signedReasoning: 'calls' },
} as const

type Message = {
  content?: unknown
  reasoning_content?: string
  reasoning_details?: unknown
  tool_calls: { extra_content?: { google: { thought_signature: string } } }[]
}

function response(content: Block[], options: object = {}): Message {
  const { body } = translateResponse(blocks.response(content, { stop_reason: 'tool_use' }), {
    ...settings,
    ...options,
  })
  return (body as { choices: [{ message: Message }] }).choices[0].message
}

/** What a decoder reads of a history with such a message: text and signatures, in order. */
function read(message: object): unknown[] {
  const { value } = chatCompletions.decodeRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', ...message },
    ],
  })
  return (value.messages[1]?.parts ?? []).map(show)
}

function show(part: Part): unknown {
  if (part.type === 'reasoning')
    return {
      thought: part.segments.map(({ text: message }) => message).join('|'),
      signature: part.signature?.value,
    }
  if (part.type === 'text') return part.text
  if (part.type === 'tool-call') return { call: part.id, signature: part.signature?.value }
  return part
}

const thoughtless = ({ reasoning_details: _, ...message }: Message) => message

const reasoning = (message: object) =>
  read(message).flatMap(part =>
    part && typeof part === 'object' && 'thought' in part ? [part.thought] : [],
  )

describe('the signature of a call', () => {
  test('carries the parts between it and the call before', () => {
    const message = thoughtless(
      response([
        text('First. '),
        thought('one'),
        call('c1'),
        text('Then. '),
        thought('two'),
        call('c2'),
        call('c3'),
      ]),
    )
    expect(read(message)).toEqual([
      'First. ',
      { thought: 'one', signature: 'signature of one' },
      { call: 'c1' },
      'Then. ',
      { thought: 'two', signature: 'signature of two' },
      { call: 'c2' },
      { call: 'c3' },
    ])
    expect(message.tool_calls[2]).not.toHaveProperty('extra_content')
  })

  test('carries nothing where plain text has everything', () => {
    expect(JSON.stringify(response([unsigned('one'), text('two'), call('c1')]))).not.toContain(
      'xs1.',
    )
  })

  test.each([
    [{}],
    [{ signedReasoning: 'calls', signatures: 'none' }],
    [{ signedReasoning: 'calls', signatures: 'store' }],
    [{ signedReasoning: 'calls', reasoningField: 'omit' }],
  ])('carries nothing with %j', options => {
    const { tool_calls } = response([thought('one'), call('c1')], { chatCompletions: options })
    expect(tool_calls[0]).not.toHaveProperty('extra_content')
  })

  test('carries its own beside', () => {
    const { body } = translateResponse(
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { text: 'hm', thought: true, thoughtSignature: 'dGhvdWdodA==' },
                {
                  functionCall: { name: 'look', args: {}, id: 'c1' },
                  thoughtSignature: 'Y2FsbA==',
                },
              ],
            },
            finishReason: 'STOP',
          },
        ],
      },
      {
        from: 'generate-content',
        to: 'chat-completions',
        chatCompletions: { signedReasoning: 'calls' },
      },
    )
    const { message } = (body as { choices: [{ message: Message }] }).choices[0]
    expect(read(thoughtless(message))).toEqual([
      { thought: 'hm', signature: 'dGhvdWdodA==' },
      { call: 'c1', signature: 'Y2FsbA==' },
    ])
  })

  test('is the same in a stream, in the first chunk of its call', () => {
    const frame = (type: string, rest: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
    const translator = createStreamTranslator(settings)
    const message = translator.push(
      [
        frame('message_start', {
          message: {
            id: 'm',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        }),
        frame('content_block_start', {
          index: 0,
          content_block: { type: 'thinking', thinking: '', signature: '' },
        }),
        frame('content_block_delta', {
          index: 0,
          delta: { type: 'thinking_delta', thinking: 'one' },
        }),
        frame('content_block_delta', {
          index: 0,
          delta: { type: 'signature_delta', signature: 'signature of one' },
        }),
        frame('content_block_stop', { index: 0 }),
        frame('content_block_start', { index: 1, content_block: call('c1') }),
      ].join(''),
    )
    const [first] = [...message.matchAll(/"thought_signature":"([^"]+)"/g)].map(
      ([, value]) => value,
    )
    expect(first).toBe(
      response([thought('one'), call('c1')]).tool_calls[0]?.extra_content?.google.thought_signature,
    )
  })
})

describe('what comes back of it', () => {
  const message = response([thought('one\n'), call('c1')])

  test('is ignored where the client has kept the details', () => {
    expect(reasoning(message)).toEqual(['one\n'])
    expect(
      reasoning({ ...message, reasoning_details: [{ type: 'reasoning.text', text: 'other' }] }),
    ).toEqual(['other'])
  })

  test.each([
    ['as it was', 'one\n'],
    ['without spaces', 'one'],
    ['changed', 'something else'],
    ['not at all', undefined],
  ])('is there once, where plain reasoning came back %s', (_, reasoning_content) => {
    expect(reasoning({ ...thoughtless(message), reasoning_content })).toEqual(['one\n'])
  })

  test('leaves plain reasoning that no call carries', () => {
    const mixed = thoughtless(
      response([unsigned('plain'), call('c1'), thought('signed'), call('c2'), unsigned('last')]),
    )
    expect(reasoning(mixed)).toEqual(['plain\n\n\n\nlast', 'signed'])
  })

  test.each(['extra_content', 'provider_specific_fields'])(
    'is noted in %s where it is lost or fits no longer',
    key => {
      const {
        content: _,
        tool_calls,
        ...rest
      } = thoughtless(response([text('First. '), thought('one'), text('Then.'), call('c1')]))
      const [{ extra_content, ...first } = {}] = tool_calls
      const carried = {
        ...first,
        [key]: key === 'extra_content' ? extra_content : extra_content?.google,
      }
      const body = {
        model: 'm',
        messages: [
          { role: 'user', content: 'hi' },
          { ...rest, role: 'assistant', content: 'Other.', tool_calls: [carried] },
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
        ],
      }
      for (const to of ['responses', 'generate-content', 'chat-completions'] as const) {
        const { notes } = translateRequest(body, { from: 'chat-completions', to })
        const lost = notes.filter(
          ({ code }) => code === 'reasoning.foreign-signature' || code === 'parts.layout-stale',
        )
        expect(lost.map(({ code }) => code).sort()).toEqual([
          'parts.layout-stale',
          'reasoning.foreign-signature',
        ])
        for (const { path } of lost) expect(valueAt(body, path)).toContain('xs1.')
      }
    },
  )

  test('cuts no character of a text that the client has edited', () => {
    const { content, ...rest } = thoughtless(
      response([text('ab😀'), thought('one'), call('c1'), text('de')]),
    )
    expect(content).toBe('ab😀de')
    expect(read({ ...rest, content: 'abc😀de' }).filter(part => typeof part === 'string')).toEqual([
      'abc',
      '😀de',
    ])
  })

  test.each([
    'xs1.',
    'xs1.e30',
    `xs1.${btoa('{"i":"chat-completions","v":"{\\"details\\":7}","a":"details"}').replaceAll('=', '')}`,
  ])('proves nothing where it is damaged: %s', value => {
    const damaged = {
      content: null,
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'look', arguments: '{}' },
          extra_content: { google: { thought_signature: value } },
        },
      ],
    }
    expect(read(damaged)).toEqual([{ call: 'c1' }])
  })
})
