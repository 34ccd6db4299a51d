import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { explode } from '../../../src/canonical/explode.ts'
import type { Message, Part, Signature } from '../../../src/canonical/message.ts'
import type { CanonicalResponse } from '../../../src/canonical/response.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { run } from '../../../src/testing/streams.ts'
import { items, user } from '../../support/examples/wires.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'
import { codes, encodeStream, type Options } from './run.ts'

/**
 * What a response has besides the fields of its message, and the next request brings back: order,
 * phases and signatures of texts.
 */

const { decodeRequest, encodeResponse, decodeResponse } = chatCompletions
const signature = (value: string): Signature => ({
  value,
  issuer: 'generate-content',
  form: 'thought',
})
const text = (words: string, more: object = {}): Part => ({ type: 'text', text: words, ...more })
const think = (words: string, value?: string): Part => ({
  type: 'reasoning',
  segments: [{ kind: 'summary', text: words }],
  ...(value && { signature: { value, issuer: 'messages', form: 'thinking' as const } }),
})
const call = (id: string): Part => ({
  type: 'tool-call',
  id,
  name: 'look',
  kind: 'function',
  input: '{}',
})
const result = (...messages: Message[]): CanonicalResponse => ({
  id: 'r',
  model: 'm',
  createdAt: 1,
  candidates: [
    {
      index: 0,
      messages,
      finish: {
        reason: messages.some(({ parts }) => parts.some(({ type }) => type === 'tool-call'))
          ? 'tool_calls'
          : 'stop',
      },
    },
  ],
})
const say = (...parts: Part[]): Message => ({ role: 'assistant', origin: 'message', parts })

type Wire = { choices: { message: Record<string, unknown> }[] }
const whole = (response: CanonicalResponse, options?: Options) => {
  const { wire, notes } = encodeResponse(response, options)
  return { message: (wire as Wire).choices[0]?.message ?? {}, notes }
}
/** The message as a client puts it together from a stream, the last array winning. */
const streamed = (response: CanonicalResponse, options?: Options) => {
  const { frames, notes } = encodeStream([...explode(response)], options)
  const message: Record<string, unknown> = { content: '', tool_calls: [] }
  for (const frame of frames as {
    choices?: { delta: { content?: string; tool_calls?: object[]; reasoning_details?: unknown } }[]
  }[]) {
    const delta = frame.choices?.[0]?.delta
    if (delta?.content) message['content'] += delta.content
    if (delta?.tool_calls)
      for (const { index, ...one } of delta.tool_calls as {
        index: number
        id?: string
        function: { arguments: string }
      }[])
        if (one.id)
          (message['tool_calls'] as object[])[index] = {
            ...one,
            function: { ...one.function, arguments: '{}' },
          }
    if (delta?.reasoning_details) message['reasoning_details'] = delta.reasoning_details
  }
  return {
    message: {
      role: 'assistant',
      ...message,
      tool_calls:
        (message['tool_calls'] as object[]).length > 0 ? message['tool_calls'] : undefined,
    },
    notes,
  }
}
const ways = [
  ['whole', whole],
  ['streamed', streamed],
] as const

const back = (message: object) => {
  const { value, notes } = decodeRequest(
    JSON.parse(JSON.stringify({ model: 'm', messages: [user, { content: null, ...message }] })),
  )
  return {
    parts: (value.messages[1]?.parts ?? []).map(({ at: _, ext: _ext, ...part }) => part),
    notes: codes(notes),
  }
}

describe.each(ways)('%s', (_, encode) => {
  test.each<[string, Part[]]>([
    ['one signature on one text', [think('t', 'S'), text('abc', { signature: signature('A') })]],
    [
      'a signature on the first of two texts',
      [text('abc', { signature: signature('A') }), text('de')],
    ],
    [
      'a signature on each of two texts',
      [text('abc', { signature: signature('A') }), text('de', { signature: signature('B') })],
    ],
    ['an empty text with only a signature', [text('abc'), text('', { signature: signature('A') })]],
    ['such a text before others', [text('', { signature: signature('A') }), text('abc')]],
    [
      'such a text after a call',
      [text('abc'), call('c1'), text('', { signature: signature('A') })],
    ],
    [
      'two such texts',
      [
        text('', { signature: signature('A') }),
        call('c1'),
        text('', { signature: signature('B') }),
      ],
    ],
    [
      'signatures of texts among reasoning of its own',
      [
        think('t', 'S'),
        text('abc', { signature: signature('A') }),
        think('u', 'T'),
        text('de', { signature: signature('B') }),
        call('c1'),
      ],
    ],
    [
      'several reasoning parts, each with its signature',
      [think('t', 'S'), think('u', 'T'), text('abc'), think('v', 'U'), call('c1')],
    ],
    [
      'astral characters',
      [text('😀', { signature: signature('A') }), text('b😀', { signature: signature('B') })],
    ],
  ])('restores %s', (_name, parts) => {
    const { message, notes } = encode(result(say(...parts)))
    expect(codes(notes).filter(code => code !== 'reasoning.dialect-field')).toEqual([])
    expect(back(message)).toEqual({ parts, notes: [] })
  })

  test('restores phases with the texts of their messages', () => {
    const { message, notes } = encode(
      result(say(think('t', 'S')), { ...say(text('abc')), phase: 'commentary' }, say(call('c1')), {
        ...say(text('de')),
        phase: 'final_answer',
      }),
    )
    expect(codes(notes)).toEqual(['reasoning.dialect-field'])
    expect(back(message).parts).toEqual([
      think('t', 'S'),
      text('abc', { phase: 'commentary' }),
      call('c1'),
      text('de', { phase: 'final_answer' }),
    ])
  })

  test('carries a phase without reasoning', () => {
    const { message, notes } = encode(result({ ...say(text('abc')), phase: 'final_answer' }))
    expect(notes).toEqual([])
    expect(back(message)).toEqual({ parts: [text('abc', { phase: 'final_answer' })], notes: [] })
  })

  test.each<[string, Options, Part]>([
    ['there is no place for it', { signatures: 'none' }, text('abc')],
    ['reasoning is left out', { reasoningField: 'omit' }, text('abc')],
    [
      'the caller keeps signatures by calls, and there is none',
      { signatures: 'store' },
      text('abc'),
    ],
    ['the message has no text', {}, { type: 'refusal', text: 'no' }],
  ])('a phase is noted where %s', (_name, options, part) => {
    const { message, notes } = encode(
      result({ ...say(part), phase: 'commentary', at: '/output/0' }),
      options,
    )
    expect(message).not.toHaveProperty('reasoning_details')
    expect(notes).toContainEqual(
      expect.objectContaining({ code: 'message.phase', path: '/output/0/phase' }),
    )
  })

  test.each<[string, Options]>([
    ['no place for signatures', { signatures: 'none' }],
    ['no reasoning', { reasoningField: 'omit' }],
  ])('with %s, each signature of a text is noted', (_name, options) => {
    const parts = [
      text('abc', { signature: signature('A'), at: '/a' }),
      text('de', { signature: signature('B'), at: '/b' }),
    ]
    const { message, notes } = encode(result(say(...parts)), options)
    expect(JSON.stringify(message)).not.toContain('xs1.')
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'reasoning.signature-dropped /a/signature',
      'reasoning.signature-dropped /b/signature',
    ])
  })
})

test('restores neither order nor signatures for an edited text, with a note', () => {
  const { message } = whole(
    result(
      { ...say(text('abc', { signature: signature('A') })), phase: 'commentary' },
      { ...say(text('de', { signature: signature('B') })), phase: 'final_answer' },
    ),
  )
  expect(back({ ...message, content: 'else' })).toEqual({
    parts: [text('else')],
    notes: ['parts.layout-stale'],
  })
})

test('keeps a citation with the text in which it begins', () => {
  const cite = (start_index: number, end_index: number) => ({
    type: 'url_citation',
    url_citation: { url: 'https://u', title: 't', start_index, end_index },
  })
  const { message } = whole(
    result(
      { ...say(text('😀bc')), phase: 'commentary' },
      { ...say(text('def')), phase: 'final_answer' },
    ),
  )
  const response = {
    id: 'c',
    model: 'm',
    created: 1,
    choices: [
      {
        index: 0,
        message: { ...message, annotations: [cite(1, 3), cite(4, 6)] },
        finish_reason: 'stop',
      },
    ],
  }
  const { value } = decodeResponse(response)
  expect(value.candidates[0]?.messages[0]?.parts).toMatchObject([
    { text: '😀bc', citations: [{ start: 1, end: 3 }] },
    { text: 'def', citations: [{ start: 1, end: 3 }] },
  ])
  expect(encodeResponse(value)).toMatchObject({ wire: response, notes: [] })
})

describe('phases of the responses protocol, through a chat client', () => {
  const reported = (phase: string, words: string, id: string) => ({
    type: 'message',
    id,
    role: 'assistant',
    status: 'completed',
    phase,
    content: [{ type: 'output_text', text: words, annotations: [], logprobs: [] }],
  })
  const response = items.response([
    reported('commentary', 'I look.', 'msg_1'),
    { ...items.call('c1', '{}'), id: 'fc_1', status: 'completed' },
  ])

  test('are items of their own again, with their phases', () => {
    const { body } = translateResponse(response, {
      from: 'responses',
      to: 'chat-completions',
      now: 1,
    })
    const message = (body as Wire).choices[0]?.message
    const { body: next, notes } = translateRequest(
      {
        model: 'm',
        messages: [user, message, { role: 'tool', tool_call_id: 'c1', content: 'done' }],
      },
      { from: 'chat-completions', to: 'responses' },
    )
    expect((next as { input: unknown[] }).input.slice(1)).toEqual([
      { type: 'message', role: 'assistant', phase: 'commentary', content: 'I look.' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
    ])
    expect(notes.filter(({ kind }) => kind !== 'synthesized')).toEqual([])
  })

  test('of neighbours are not mixed', () => {
    const both = items.response([
      reported('commentary', 'a', 'msg_1'),
      reported('final_answer', 'b', 'msg_2'),
    ])
    const { body } = translateResponse(both, { from: 'responses', to: 'chat-completions', now: 1 })
    const { body: next } = translateRequest(
      { model: 'm', messages: [user, (body as Wire).choices[0]?.message, user] },
      { from: 'chat-completions', to: 'responses' },
    )
    expect((next as { input: unknown[] }).input).toMatchObject([
      {},
      { phase: 'commentary', content: 'a' },
      { phase: 'final_answer', content: 'b' },
      {},
    ])
  })

  test.each(['messages', 'chat-completions'] as const)('are noted for %s', to => {
    const { message } = whole(result({ ...say(text('abc')), phase: 'commentary' }))
    const { notes } = translateRequest(
      { model: 'm', messages: [user, message, user] },
      { from: 'chat-completions', to },
    )
    expect(
      notes.some(({ path, kind }) => kind === 'dropped' && path.startsWith('/messages/1')),
    ).toBe(true)
  })
})

test('a collected stream equals the complete response', () => {
  const response = result(
    say(
      think('t', 'S'),
      text('abc', { signature: signature('A') }),
      text('de', { signature: signature('B') }),
    ),
  )
  expect(whole(collect(explode(response)).response).message).toEqual(whole(response).message)
})

test('reasoning reads the same, complete and streamed: an empty line is between its segments, and between its parts', () => {
  const thought = (...texts: string[]): Part => ({
    type: 'reasoning',
    segments: texts.map(words => ({ kind: 'summary', text: words })),
  })
  const response = result(say(thought('one', '', 'two'), thought('three'), text('abc')))
  const { frames } = encodeStream([...explode(response)])
  const deltas = (frames as { choices?: { delta: { reasoning_content?: string } }[] }[]).map(
    ({ choices }) => choices?.[0]?.delta.reasoning_content ?? '',
  )
  expect([whole(response).message['reasoning_content'], deltas.join('')]).toEqual([
    'one\n\ntwo\n\nthree',
    'one\n\ntwo\n\nthree',
  ])
})

describe('an order that a server recorded, read from its stream', () => {
  const seen = (...messages: Message[]) => {
    const { frames } = encodeStream([...explode(result(...messages))])
    const { out, notes } = run(chatCompletions.streamDecoder, frames)
    return {
      parts: collect(out).response.candidates[0]?.messages[0]?.parts.map(
        ({ at: _, ext: _ext, ...part }) => part,
      ),
      notes: codes(notes),
    }
  }

  test('is the order in which the parts came', () => {
    const parts = [text('abc'), think('t', 'S'), text('de'), call('c1')]
    expect(seen(say(...parts))).toMatchObject({ parts, notes: [] })
  })

  test('is noted when it also has phases or text boundaries', () => {
    const { notes } = seen(
      { ...say(text('abc')), phase: 'commentary' },
      { ...say(text('de')), phase: 'final_answer' },
    )
    expect(notes).toEqual(['parts.layout-stale'])
  })

  test('does not move a signature to another text', () => {
    const { parts, notes } = seen(
      say(text('abc', { signature: signature('A') }), think('t'), text('de')),
    )
    expect(parts?.find(part => part.type === 'text' && part.text === 'de')).not.toHaveProperty(
      'signature',
    )
    expect(parts?.some(part => part.signature?.value === 'A')).toBe(true)
    expect(notes).toEqual(['parts.layout-stale'])
  })
})

test('a signature that a stream sends last belongs to its reasoning, whatever has come since', () => {
  const { frames } = encodeStream([
    ...explode(result(say(think('t', 'S'), text('abc'), call('c1')))),
  ])
  const { out, notes } = run(chatCompletions.streamDecoder, frames)
  expect(notes).toEqual([])
  expect(collect(out).response.candidates[0]?.messages[0]?.parts).toMatchObject([
    think('t', 'S'),
    text('abc'),
    call('c1'),
  ])
})
