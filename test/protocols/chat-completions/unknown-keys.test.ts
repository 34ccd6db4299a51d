import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/message.ts'
import { createStreamTranslator } from '../../../src/index.ts'
import { withoutWire } from '../../../src/kit/fields/source.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'
import { chunk, decodeStream, encodeStream } from './run.ts'

const token = {
  token: 'a',
  bytes: [97],
  logprob: -0.1,
  rank: 1,
  top_logprobs: [{ token: 'b', bytes: null, logprob: -2, rank: 2 }],
}
const logprobs = { content: [token, { ...token, rank: 3 }], refusal: null }
const response = (message: object, choice: object = {}) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'aa', refusal: null, ...message },
      finish_reason: 'stop',
      ...choice,
    },
  ],
})
const whole = (body: object, to: 'responses' | 'messages') =>
  paths(translateResponse(body, { from: 'chat-completions', to }).notes)
const paths = (notes: readonly { code: string; path: string }[]) =>
  notes.flatMap(({ code, path }) => (code === 'field.unknown' ? [path] : []))
const streamed = (chunks: readonly object[], to: 'responses' | 'messages') => {
  const stream = createStreamTranslator({ from: 'chat-completions', to })
  stream.push(
    [...chunks.map(one => `data: ${JSON.stringify(one)}\n\n`), 'data: [DONE]\n\n'].join(''),
  )
  stream.end()
  return paths(stream.notes)
}
const beside = (delta: object, given: object) => {
  const one = chunk(delta)
  return { ...one, choices: one.choices.map(choice => ({ ...choice, ...given })) }
}

describe('unknown keys of probabilities', () => {
  const places = [
    '/choices/0/logprobs/content/0/top_logprobs/0/rank',
    '/choices/0/logprobs/content/0/rank',
  ]

  test('are kept in the complete response, also when something else was edited', () => {
    const wire = response({}, { logprobs: { ...logprobs, more: 1 } })
    expect(
      chatCompletions.encodeResponse(chatCompletions.decodeResponse(wire).value),
    ).toMatchObject({ wire, notes: [] })
    const { value } = chatCompletions.decodeResponse(wire)
    const [part] = value.candidates[0]?.messages[0]?.parts ?? []
    if (part?.type === 'text') part.logprobs = part.logprobs?.slice(1) ?? []
    expect(chatCompletions.encodeResponse(value).wire).toMatchObject({
      choices: [{ logprobs: { content: [{ ...token, rank: 3 }], refusal: null, more: 1 } }],
    })
  })

  test('are reported once elsewhere, for tokens and their alternatives', () => {
    expect(whole(response({}, { logprobs: { ...logprobs, more: 1 } }), 'responses').sort()).toEqual(
      [...places, '/choices/0/logprobs/more'].sort(),
    )
  })

  test('are reported also where something else has a key of that name', () => {
    const body = response({}, { logprobs })
    expect(
      whole(
        {
          ...body,
          service: { rank: 1 },
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, rank: 1 },
        },
        'responses',
      ).sort(),
    ).toEqual([...places, '/service', '/usage/rank'].sort())
  })

  test('are part of what has no place in messages', () => {
    expect(whole(response({}, { logprobs }), 'messages')).toEqual([])
  })

  const chunks = [
    beside({ role: 'assistant', content: 'a' }, { logprobs: { content: [token] } }),
    beside({ content: 'a' }, { logprobs: { content: [token] } }),
    chunk({}, 'stop'),
  ]

  test('are kept in a stream', () => {
    const { frames, notes } = encodeStream(decodeStream([...chunks, '[DONE]']).events)
    expect(frames.filter(frame => JSON.stringify(frame).includes('"rank":2'))).toHaveLength(2)
    expect(notes).toEqual([])
  })

  test('are reported once elsewhere, with their path in the complete response', () => {
    expect(streamed(chunks, 'responses')).toEqual(places)
  })
})

describe('unknown keys of a message are written on the message, streamed or complete', () => {
  const block = { type: 'thinking', thinking: 'hm', signature: 'S', x: 1 }
  test.each<[string, object, string]>([
    ['a key of its own', { provider: 'p' }, '/choices/0/message/provider'],
    [
      'a key of a block of thinking',
      { thinking_blocks: [block] },
      '/choices/0/message/thinking_blocks/0/x',
    ],
    [
      'a key of a detail',
      { reasoning_details: [{ type: 'reasoning.text', text: 'hm', x: 1 }] },
      '/choices/0/message/reasoning_details/0/x',
    ],
  ])('%s', (_, more, path) => {
    for (const to of ['responses', 'messages'] as const) {
      expect(whole(response(more), to)).toEqual([path])
      expect(
        streamed(
          [chunk({ role: 'assistant', ...more }), chunk({ content: 'aa' }), chunk({}, 'stop')],
          to,
        ),
      ).toEqual([path])
    }
  })

  test('blocks of thinking of a proxy are written in streams with them', () => {
    const { events } = decodeStream([
      chunk({ role: 'assistant', thinking_blocks: [block] }),
      chunk({ content: 'a' }),
      chunk({}, 'stop'),
      '[DONE]',
    ])
    const { frames, notes } = encodeStream(events)
    expect(frames).toContainEqual(
      expect.objectContaining({
        choices: [expect.objectContaining({ delta: { thinking_blocks: [block] } })],
      }),
    )
    expect(notes).toEqual([])
  })
})

test('a signature that no call can keep is noted at the path of its message', () => {
  const stream = createStreamTranslator({
    from: 'messages',
    to: 'chat-completions',
    chatCompletions: { signatures: 'store' },
  })
  const blocks = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'S' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  for (const event of blocks)
    stream.push(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  stream.end()
  const streamed = stream.notes.filter(({ code }) => code === 'reasoning.signature-dropped')
  const body = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'thinking', thinking: '', signature: 'S' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const { notes } = translateResponse(body, {
    from: 'messages',
    to: 'chat-completions',
    chatCompletions: { signatures: 'store' },
  })
  expect(streamed.map(({ path }) => path)).toEqual(
    notes.flatMap(({ code, path }) => (code === 'reasoning.signature-dropped' ? [path] : [])),
  )
  expect(streamed).toMatchObject([{ path: '/content/0/signature' }])
})

test('of chunks of thinking only the other fields are dropped, each noted at its path', () => {
  const thinking = [
    { type: 'text', text: 'a' },
    { type: 'odd', text: 'b', x: 1 },
  ]
  const { notes } = translateRequest(
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'thinking', thinking }] }] },
    { from: 'chat-completions', to: 'generate-content' },
  )
  const unknown = notes.filter(({ code }) => code === 'field.unknown').map(({ path }) => path)
  expect(unknown).toEqual([
    '/messages/0/content/0/thinking/1/type',
    '/messages/0/content/0/thinking/1/x',
  ])
})

test.each<[string, (raw: object) => Part]>([
  ['a block of an unknown type', raw => ({ type: 'opaque', protocol: 'chat-completions', raw })],
  [
    'a block of thinking',
    raw =>
      chatCompletions.decodeRequest({ messages: [{ role: 'assistant', content: [raw] }] }).value
        .messages[0]?.parts[0] as Part,
  ],
])('%s is not changed by a mark on its parent', (_, partOf) => {
  const raw = Object.freeze({ type: 'thinking', thinking: 'Hm.' })
  const found: Part = {
    type: 'search-result',
    source: 's',
    title: 't',
    parts: [partOf(raw)],
    cache: {},
  }
  const request = {
    messages: [{ role: 'user' as const, origin: 'message' as const, parts: [found] }],
    source: { protocol: 'chat-completions' },
  }
  const written = chatCompletions.encodeRequest(request, { cacheMarks: 'write' }).wire
  expect(written).toMatchObject({
    messages: [{ content: [{ type: 'text' }, { prompt_cache_breakpoint: { mode: 'explicit' } }] }],
  })
  expect(raw).toEqual({ type: 'thinking', thinking: 'Hm.' })
})

describe('unknown fields of carried reasoning', () => {
  const detail = { type: 'reasoning.text', text: 'Hm.', signature: 'S', index: 0 }
  const block = { type: 'thinking', thinking: 'Hm.', signature: 'S' }
  test.each<[string, object, string[]]>([
    [
      'a key of a detail',
      {
        reasoning_details: [
          { ...detail, x: 1 },
          { ...detail, index: 1 },
        ],
      },
      ['/reasoning_details/0/x'],
    ],
    [
      'a known key of another type',
      { reasoning_details: [{ ...detail, id: 1 }] },
      ['/reasoning_details/0/id'],
    ],
    ['a detail that is a text', { reasoning_details: [detail, 'odd'] }, ['/reasoning_details/1']],
    ['a key that says nothing', { reasoning_details: [{ ...detail, x: null }] }, []],
    [
      'a key of a block',
      { thinking_blocks: [{ ...block, cache_control: { type: 'ephemeral' } }] },
      ['/thinking_blocks/0/cache_control/type'],
    ],
    [
      'a key of a block that a proxy says',
      { provider_specific_fields: { thinking_blocks: [{ ...block, x: 1 }], y: 1 } },
      ['/provider_specific_fields/thinking_blocks/0/x', '/provider_specific_fields/y'],
    ],
    [
      'a key of a detail that a proxy says',
      { provider_specific_fields: { reasoning_details: [{ ...detail, x: 1 }], y: 1 } },
      ['/provider_specific_fields/reasoning_details/0/x', '/provider_specific_fields/y'],
    ],
    [
      'details that differ from those of a proxy',
      {
        reasoning_details: [detail],
        provider_specific_fields: { reasoning_details: [{ ...detail, text: 'Oh.' }] },
      },
      ['text', 'signature', 'index', 'type']
        .map(key => `/provider_specific_fields/reasoning_details/0/${key}`)
        .sort(),
    ],
    [
      'keys of blocks among the content',
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.', x: 1 }], y: 1 }] },
      ['/content/0/thinking/0/x', '/content/0/y'],
    ],
  ])('%s is noted at its path, and alone', (_, given, places) => {
    const message = { role: 'assistant', content: 'aa', ...given }
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }, message] }
    const { value } = chatCompletions.decodeRequest(body)
    expect(chatCompletions.encodeRequest(value)).toMatchObject({ wire: body, notes: [] })
    for (const to of ['messages', 'responses'] as const) {
      expect(whole(response(given), to).sort()).toEqual(
        places.map(place => `/choices/0/message${place}`),
      )
      expect(paths(translateRequest(body, { from: 'chat-completions', to }).notes).sort()).toEqual(
        places.map(place => `/messages/1${place}`),
      )
    }
  })

  test.each([
    {
      reasoning_details: [{ ...detail, x: 1 }],
      provider_specific_fields: { thinking_blocks: [{ ...block, x: 1 }], y: 1 },
    },
    { provider_specific_fields: { reasoning_details: [{ ...detail, x: 1 }], y: 1 } },
  ])('nothing of it is left where reasoning is not sent: %j', carriers => {
    const { value } = chatCompletions.decodeRequest({
      messages: [{ role: 'assistant', content: 'aa', ...carriers }],
    })
    const { wire } = chatCompletions.encodeRequest(withoutWire(value), {
      reasoningInHistory: 'never',
    })
    expect(wire).toEqual({
      messages: [{ role: 'assistant', content: 'aa', provider_specific_fields: { y: 1 } }],
    })
  })

  test.each([
    ['thinking_blocks', block],
    ['reasoning_details', detail],
  ])('a signature of a proxy is noted at its path, in %s', (key, entry) => {
    const body = {
      model: 'm',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'a', provider_specific_fields: { [key]: [entry] } },
      ],
    }
    expect(
      translateRequest(body, { from: 'chat-completions', to: 'responses' }).notes,
    ).toContainEqual(
      expect.objectContaining({
        code: 'reasoning.foreign-signature',
        path: `/messages/1/provider_specific_fields/${key}/0`,
      }),
    )
  })
})
