import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { Part, Signature } from '../../../src/canonical/message.ts'
import { createStreamTranslator } from '../../../src/index.ts'
import { withoutWire } from '../../../src/kit/fields/source.ts'
import { holdsEnvelope } from '../../../src/kit/signatures/envelope.ts'
import { protocols } from '../../../src/protocols/index.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'
import { chunk, codes, decodeStream, encodeStream } from './run.ts'

const { 'chat-completions': chat, messages, responses } = protocols
const google: Signature = { value: 'QUJD', issuer: 'generate-content', form: 'thought' }
const ofServer: Signature = { ...google, issuer: 'chat-completions/google' }
const call = (rest: object, fn: object = {}) => ({
  id: 'a',
  type: 'function',
  function: { name: 'f', arguments: '{}', ...fn },
  ...rest,
})
const history = (...message: object[]) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }, ...message],
})
const result = (message: object) => ({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
})

const places: [string, object][] = [
  [
    "as Google's endpoint has it",
    call({ extra_content: { google: { thought_signature: 'QUJD' } } }),
  ],
  ['as proxies have it', call({ provider_specific_fields: { thought_signature: 'QUJD' } })],
  ['inside the function', call({}, { provider_specific_fields: { thought_signature: 'QUJD' } })],
  [
    'in both places',
    call({
      extra_content: { google: { thought_signature: 'QUJD' } },
      provider_specific_fields: { thought_signature: 'QUJD' },
    }),
  ],
]

describe.each(places)('a signature on a call, %s', (_, wire) => {
  test('is decoded from a history, and encoded unchanged', () => {
    const body = history({ role: 'assistant', tool_calls: [wire] })
    const { value } = chat.decodeRequest(body)
    expect(value.messages[1]?.parts).toMatchObject([{ type: 'tool-call', signature: google }])
    expect(chat.encodeRequest(value)).toMatchObject({ wire: body, notes: [] })
    for (const other of [messages, responses])
      expect(codes(other.encodeRequest(value).notes)).not.toContain('field.unknown')
  })

  test('is read from a response, complete or in a stream, and goes back to servers of this wire only', () => {
    const { value } = chat.decodeResponse(result({ tool_calls: [wire] }))
    const streamed = collect(
      decodeStream([
        chunk({ role: 'assistant', tool_calls: [{ index: 0, ...wire }] }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]).events,
    ).response
    for (const { candidates } of [value, streamed]) {
      const parts = candidates[0]?.messages[0]?.parts ?? []
      const inProxys = !('extra_content' in wire)
      expect(parts).toMatchObject([
        {
          type: 'tool-call',
          signature: { ...ofServer, ...(inProxys && { issuer: 'chat-completions/proxy' }) },
        },
      ])
      const again = chat.encodeRequest({
        messages: [
          {
            role: 'assistant',
            origin: 'message',
            parts: parts.map(({ ext: _ext, ...part }) => part) as Part[],
          },
        ],
      })
      const signed = { thought_signature: 'QUJD' }
      const written = inProxys
        ? { provider_specific_fields: signed }
        : { extra_content: { google: signed } }
      expect(again.wire).toMatchObject({ messages: [{ tool_calls: [written] }] })
      expect(codes(again.notes)).not.toContain('reasoning.foreign-signature')
    }
    expect(chat.encodeResponse(value).wire).toEqual(result({ tool_calls: [wire] }))
  })
})

test('decodes details that a client merged by index, as the Python SDK does', () => {
  const item = {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'hm' }],
    encrypted_content: 'gAAA',
  }
  const response = {
    id: 'resp_1',
    status: 'completed',
    output: [item, { id: 'fc_1', type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }],
  }
  const { wire } = chat.encodeResponse(responses.decodeResponse(response).value)
  const [{ message }] = (
    wire as unknown as { choices: [{ message: { reasoning_details: Record<string, unknown>[] } }] }
  ).choices
  const merged: Record<string, unknown>[] = []
  for (const entry of message.reasoning_details) {
    const same = merged.find(({ index }) => index === entry['index'])
    if (!same) merged.push({ ...entry })
    else
      for (const [key, value] of Object.entries(entry))
        same[key] =
          key === 'type' || key === 'index' ? value : `${String(same[key] ?? '')}${String(value)}`
  }
  expect(merged[0]).toMatchObject({ type: 'reasoning.encrypted', summary: 'hm', id: 'rs_1rs_1' })
  const { value } = chat.decodeRequest(
    history(
      { ...message, reasoning_details: merged },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    ),
  )
  const { input } = responses.encodeRequest(value).wire as { input: object[] }
  expect(input[1]).toEqual(item)
})

test('preserves unknown keys of details in this protocol, and notes them once for others', () => {
  const details = [
    {
      type: 'reasoning.text',
      text: 'hm',
      signature: 'S',
      format: 'anthropic-claude-v1',
      index: 0,
      x: 1,
    },
  ]
  const frames = [
    chunk({ role: 'assistant', reasoning: 'hm', reasoning_details: details }),
    chunk({ content: 'yes' }),
    chunk({}, 'stop'),
    '[DONE]',
  ]
  const { events } = decodeStream(frames)
  const written = encodeStream(events)
  expect(written.notes).toEqual([])
  expect(JSON.stringify(written.frames).match(/"x":1/g)).toHaveLength(1)
  const collected = collect(events).response
  const again = chat.encodeResponse(collected)
  expect(again.wire).toMatchObject({ choices: [{ message: { reasoning_details: details } }] })
  expect(codes(again.notes)).not.toContain('field.unknown')
  const { value } = chat.decodeResponse(
    result({ content: 'yes', reasoning: 'hm', reasoning_details: details }),
  )
  for (const [other, response] of [messages, responses].flatMap(one => [
    [one, collected] as const,
    [one, value] as const,
  ])) {
    const unknown = other
      .encodeResponse(response, { fieldNames: chat.fieldNames })
      .notes.filter(({ code }) => code === 'field.unknown')
    expect(unknown.map(({ path }) => path)).toEqual(['/choices/0/message/reasoning_details/0/x'])
  }
})

test('other fields of such a signature are kept, and noted by others', () => {
  const body = history({
    role: 'assistant',
    tool_calls: [call({ extra_content: { google: { thought_signature: 'QUJD', x: 1 }, y: 2 } })],
  })
  const { value } = chat.decodeRequest(body)
  expect(chat.encodeRequest(value).wire).toEqual(body)
  for (const other of [messages, responses])
    expect(other.encodeRequest(value).notes).toContainEqual(
      expect.objectContaining({
        code: 'field.unknown',
        path: '/messages/1/tool_calls/0/extra_content',
      }),
    )
})

describe('a signature in the id of a call', () => {
  const part: Part = {
    type: 'tool-call',
    id: 'call_1',
    name: 'f',
    kind: 'function',
    input: '{}',
    signature: { value: 'sig', issuer: 'messages', form: 'thinking' },
  }
  const response = {
    id: 'r',
    model: 'm',
    createdAt: 1,
    candidates: [
      {
        index: 0,
        finish: { reason: 'tool_calls' as const },
        messages: [{ role: 'assistant' as const, origin: 'message' as const, parts: [part] }],
      },
    ],
  }
  const whole = chat.encodeResponse(response, { signatures: 'id' })
  const events: CanonicalEvent[] = [
    { type: 'start', id: 'r', model: 'm', createdAt: 1 },
    { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
    { type: 'part.start', candidate: 0, message: 0, part: 0, head: part },
    { type: 'part.end', candidate: 0, part: 0 },
    { type: 'message.end', candidate: 0, message: 0 },
    { type: 'finish', candidate: 0, finish: { reason: 'tool_calls' } },
    { type: 'end', clean: true },
  ]
  const [made] =
    (whole.wire as { choices: { message: { tool_calls: { id: string }[] } }[] }).choices[0]?.message
      .tool_calls ?? []
  const id = made?.id ?? ''

  test('is the id, a mark, and base64url', () => {
    expect(id).toMatch(/^call_1__sig_[A-Za-z0-9_-]+$/)
    expect(made).not.toHaveProperty('extra_content')
    expect(whole.notes).toEqual([])
  })

  test('is the same in a stream', () => {
    const { frames } = encodeStream(events, { signatures: 'id' })
    expect(JSON.stringify(frames)).toContain(`"id":"${id}"`)
  })

  test('is taken out of the call and its result when they come back', () => {
    const body = history(
      { role: 'assistant', content: null, tool_calls: [{ ...call({}), id }] },
      { role: 'tool', tool_call_id: id, content: 'r' },
    )
    const { value } = chat.decodeRequest(body)
    expect(value.messages.slice(1)).toMatchObject([
      { parts: [{ id: 'call_1', signature: part.signature }] },
      { parts: [{ callId: 'call_1' }] },
    ])
    // An envelope is for clients alone.
    const bare = history(
      { role: 'assistant', content: null, tool_calls: [call({ id: 'call_1' })] },
      { role: 'tool', tool_call_id: 'call_1', content: 'r' },
    )
    const again = chat.encodeRequest(withoutWire(value))
    expect(again.wire).toEqual(bare)
    expect(codes(again.notes)).toEqual(['reasoning.foreign-signature'])
    expect(holdsEnvelope(body, 'chat-completions')).toBe(true)
  })

  test('is read from a stream of a server, too', () => {
    const { events: read } = decodeStream([
      chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ])
    expect(collect(read).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { id: 'call_1', signature: part.signature },
    ])
  })

  test.each(['call__sig_x', '__sig_', 'a__sig_b__sig_'])('the id %s only looks like it', odd => {
    const body = history(
      { role: 'assistant', tool_calls: [{ ...call({}), id: odd }] },
      { role: 'tool', tool_call_id: odd, content: 'r' },
    )
    const { value } = chat.decodeRequest(body)
    expect(value.messages.slice(1)).toMatchObject([
      { parts: [{ id: odd }] },
      { parts: [{ callId: odd }] },
    ])
    expect(chat.encodeRequest(value).wire).toEqual(body)
  })
})

test('notes a signature that comes after another call has begun', () => {
  const head = (id: string) => ({
    type: 'tool-call' as const,
    id,
    name: 'f',
    kind: 'function' as const,
    input: '{}',
    at: `/${id}`,
  })
  const { frames, notes } = encodeStream([
    { type: 'start', id: 'r', model: 'm', createdAt: 1 },
    { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
    { type: 'part.start', candidate: 0, message: 0, part: 0, head: head('a') },
    { type: 'part.end', candidate: 0, part: 0 },
    { type: 'part.start', candidate: 0, message: 0, part: 1, head: head('b') },
    { type: 'part.delta', candidate: 0, part: 0, delta: { kind: 'signature', signature: google } },
    { type: 'part.delta', candidate: 0, part: 1, delta: { kind: 'signature', signature: google } },
    { type: 'part.end', candidate: 0, part: 1 },
    { type: 'message.end', candidate: 0, message: 0 },
    { type: 'finish', candidate: 0, finish: { reason: 'tool_calls' } },
    { type: 'end', clean: true },
  ])
  expect(strictOf('chat-completions').checkStream(frames)).toEqual([])
  expect(JSON.stringify(frames).match(/extra_content/g)).toHaveLength(1)
  expect(notes).toMatchObject([{ code: 'reasoning.signature-dropped', path: '/a/signature' }])
})

describe('reasoning of proxies, in a stream as in a complete response', () => {
  const thinking = { type: 'thinking', thinking: 'abc', signature: 'S' }
  const signed = [
    {
      type: 'reasoning',
      segments: [{ text: 'abc' }],
      signature: { value: 'S', issuer: 'chat-completions/thinking_blocks', form: 'thinking' },
    },
  ]
  test.each<[string, object[], object, object[]]>([
    [
      'blocks of the messages protocol',
      [{ thinking_blocks: [thinking] }],
      { thinking_blocks: [thinking] },
      signed,
    ],
    [
      'blocks next to the plain text, chunk by chunk',
      [
        {
          reasoning_content: 'ab',
          thinking_blocks: [{ type: 'thinking', thinking: 'ab', signature: '' }],
        },
        {
          reasoning_content: 'c',
          thinking_blocks: [{ type: 'thinking', thinking: 'c', signature: '' }],
        },
        { thinking_blocks: [{ type: 'thinking', thinking: '', signature: 'S' }] },
      ],
      { reasoning_content: 'abc', thinking_blocks: [thinking] },
      signed,
    ],
    [
      'blocks sent twice, as proxies do',
      [
        {
          reasoning_content: 'abc',
          thinking_blocks: [thinking],
          provider_specific_fields: { thinking_blocks: [thinking] },
        },
      ],
      {
        reasoning_content: 'abc',
        thinking_blocks: [thinking],
        provider_specific_fields: { thinking_blocks: [thinking] },
      },
      signed,
    ],
    [
      'blocks beside their field alone',
      [{ provider_specific_fields: { thinking_blocks: [thinking] } }],
      { provider_specific_fields: { thinking_blocks: [thinking] } },
      signed,
    ],
    [
      'several blocks with a signature each',
      [
        { thinking_blocks: [thinking] },
        { thinking_blocks: [{ type: 'thinking', thinking: 'de', signature: 'T' }] },
      ],
      { thinking_blocks: [thinking, { type: 'thinking', thinking: 'de', signature: 'T' }] },
      [...signed, { type: 'reasoning', segments: [{ text: 'de' }], signature: { value: 'T' } }],
    ],
    [
      'a block without words',
      [{ thinking_blocks: [{ type: 'redacted_thinking', data: 'D' }] }],
      { thinking_blocks: [{ type: 'redacted_thinking', data: 'D' }] },
      [
        {
          type: 'reasoning',
          segments: [],
          redacted: true,
          signature: { value: 'D', issuer: 'chat-completions/thinking_blocks', form: 'redacted' },
        },
      ],
    ],
    [
      'a signature alone',
      [{ reasoning_content: 'abc' }, { reasoning_signature: 'S' }],
      { reasoning_content: 'abc', reasoning_signature: 'S' },
      [
        {
          type: 'reasoning',
          segments: [{ text: 'abc' }],
          signature: { value: 'S', issuer: 'chat-completions', form: 'thinking' },
        },
      ],
    ],
    [
      'a signature on the text',
      [{ content: 'abc' }, { extra_content: { google: { thought_signature: 'QUJD' } } }],
      { content: 'abc', extra_content: { google: { thought_signature: 'QUJD' } } },
      [{ type: 'text', text: 'abc', signature: ofServer }],
    ],
  ])('%s', (_, deltas, message, parts) => {
    const { events, notes } = decodeStream([
      ...deltas.map(delta => chunk(delta)),
      chunk({}, 'stop'),
      '[DONE]',
    ])
    const streamed = collect(events).response
    const { value } = chat.decodeResponse(result(message))
    for (const { candidates } of [streamed, value])
      expect(candidates[0]?.messages[0]?.parts).toMatchObject(parts)
    expect(notes).toEqual([])
    expect(streamed.candidates[0]?.ext).toBeUndefined()
    expect(chat.encodeResponse(value)).toMatchObject({ wire: result(message), notes: [] })
  })

  const detail = {
    type: 'reasoning.text',
    text: 'abc',
    signature: 'S',
    format: 'anthropic-claude-v1',
    index: 0,
  }
  test.each<[string, object[], object]>([
    [
      'alone',
      [
        {
          provider_specific_fields: {
            reasoning_details: [{ type: 'reasoning.text', text: 'ab', index: 0 }],
          },
        },
        { provider_specific_fields: { reasoning_details: [{ ...detail, text: 'c' }] } },
      ],
      { provider_specific_fields: { reasoning_details: [detail] } },
    ],
    [
      'and under their own key',
      [{ reasoning_details: [detail], provider_specific_fields: { reasoning_details: [detail] } }],
      { reasoning_details: [detail], provider_specific_fields: { reasoning_details: [detail] } },
    ],
  ])('details in the fields of a proxy, %s', (_, deltas, message) => {
    const { events, notes } = decodeStream([
      ...deltas.map(delta => chunk(delta)),
      chunk({}, 'stop'),
      '[DONE]',
    ])
    const streamed = collect(events).response
    const { value } = chat.decodeResponse(result(message))
    const { value: received } = chat.decodeRequest(
      history({ role: 'assistant', content: 'x', ...message }),
    )
    const issuer = 'chat-completions/anthropic-claude-v1'
    for (const sent of [
      streamed.candidates[0]?.messages[0],
      value.candidates[0]?.messages[0],
      received.messages[1],
    ])
      expect(sent?.parts[0]).toMatchObject({
        type: 'reasoning',
        segments: [{ text: 'abc' }],
        signature: { value: 'S', issuer, form: 'thinking' },
      })
    expect(notes).toEqual([])
    expect(streamed.candidates[0]?.ext).toBeUndefined()
    expect(chat.encodeResponse(value)).toMatchObject({ wire: result(message), notes: [] })
  })

  test('blocks come back to the proxy that sent them, through a client of the messages protocol', () => {
    const redacted = { type: 'redacted_thinking', data: 'D' }
    const reported = {
      ...result({ content: null, thinking_blocks: [thinking, redacted], tool_calls: [call({})] }),
      model: 'm',
      created: 1,
    }
    const { body } = translateResponse(reported, { from: 'chat-completions', to: 'messages' })
    const { content } = body as { content: { type: string; thinking?: string }[] }
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'abc' },
      { type: 'redacted_thinking' },
      { type: 'tool_use' },
    ])
    const received = {
      model: 'm',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }] },
      ],
    }
    const again = translateRequest(received, { from: 'messages', to: 'chat-completions' })
    expect((again.body as { messages: object[] }).messages[1]).toMatchObject({
      thinking_blocks: [thinking, redacted],
    })
    expect(JSON.stringify(again.body)).not.toContain('reasoning_details')
    expect(codes(again.notes)).toEqual(['reasoning.dialect-field'])
    // Only its own protocol accepts them.
    expect(
      codes(translateRequest(received, { from: 'messages', to: 'responses' }).notes),
    ).toContain('reasoning.foreign-signature')
  })

  test('blocks that a client has from elsewhere are signatures of the messages protocol', () => {
    const { value } = chat.decodeRequest(
      history({ role: 'assistant', content: 'x', thinking_blocks: [thinking] }),
    )
    expect(value.messages[1]?.parts[0]).toMatchObject({
      signature: { value: 'S', issuer: 'messages' },
    })
    expect(messages.encodeRequest(value).wire).toMatchObject({
      messages: [{}, { content: [thinking, { type: 'text' }] }],
    })
  })

  test('a signature on the text goes back to the server that made it', () => {
    const { value } = chat.decodeResponse(
      result({ content: 'abc', extra_content: { google: { thought_signature: 'QUJD' } } }),
    )
    const parts = (value.candidates[0]?.messages[0]?.parts ?? []).map(
      ({ ext: _, ...part }) => part,
    ) as Part[]
    const { wire, notes } = chat.encodeRequest({
      messages: [{ role: 'assistant', origin: 'message', parts }],
    })
    expect(wire).toEqual({
      messages: [
        {
          role: 'assistant',
          content: 'abc',
          extra_content: { google: { thought_signature: 'QUJD' } },
        },
      ],
    })
    expect(notes).toEqual([])
  })

  test('a signature of another provider on the text, in our own stream', () => {
    const [details] = [
      chat.encodeResponse({
        id: 'r',
        model: 'm',
        createdAt: 1,
        candidates: [
          {
            index: 0,
            finish: { reason: 'stop' },
            messages: [
              {
                role: 'assistant',
                origin: 'message',
                parts: [{ type: 'text', text: 'abc', signature: google }],
              },
            ],
          },
        ],
      }),
    ].map(
      ({ wire }) =>
        (wire as { choices: { message: { reasoning_details: object[] } }[] }).choices[0]?.message
          .reasoning_details,
    )
    const { events } = decodeStream([
      chunk({ content: 'abc' }),
      chunk({ reasoning_details: details }),
      chunk({}, 'stop'),
      '[DONE]',
    ])
    expect(collect(events).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { type: 'text', text: 'abc', signature: google },
    ])
  })
})

describe('unknown keys and early values in a stream', () => {
  test('keeps unknown keys on their call', () => {
    const { events } = decodeStream([
      chunk({ tool_calls: [{ index: 0, id: 'a', x: 1, function: { name: 'f', y: 2 } }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ])
    expect(
      collect(events).response.candidates[0]?.messages[0]?.parts[0]?.ext?.['chat-completions']
        ?.fields,
    ).toEqual({ x: 1, function: { y: 2 } })
  })

  test('notes keys that come after the start of a call, unless they are repeated', () => {
    const head = { index: 0, id: 'a', x: 1, function: { name: 'f', arguments: '{' } }
    const run = (late: object) =>
      codes(
        decodeStream([
          chunk({ tool_calls: [head] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '}' }, ...late }] }),
          chunk({}, 'tool_calls'),
          '[DONE]',
        ]).notes,
      )
    expect(run({ x: 1 })).toEqual([])
    expect(run({ z: 1 })).toEqual(['field.unknown'])
  })

  test('delays a signature until the name of its call', () => {
    const { events } = decodeStream([
      chunk({
        tool_calls: [
          { index: 0, id: 'a', extra_content: { google: { thought_signature: 'QUJD' } } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ])
    expect(collect(events).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { name: 'f', signature: ofServer },
    ])
  })

  test.each<[string, object]>([
    [
      'a key of a source',
      {
        annotations: [
          {
            type: 'url_citation',
            x: 1,
            url_citation: { url: 'https://example.org/', title: 't', start_index: 0, end_index: 1 },
          },
        ],
      },
    ],
    ['a key of an audio response', { audio: { id: 'a', x: 1 } }],
    ['reasoning of another type', { reasoning: { text: 'r' } }],
  ])('%s is noted by others', (_, delta) => {
    const { events } = decodeStream([
      chunk({ content: 'a' }),
      chunk(delta),
      chunk({}, 'stop'),
      '[DONE]',
    ])
    expect(codes(messages.encodeResponse(collect(events).response).notes)).toContain(
      'field.unknown',
    )
  })

  test('delays logprobs of a refusal until its text', () => {
    const logprobs = {
      content: null,
      refusal: [{ token: 'no', logprob: -1, bytes: null, top_logprobs: [] }],
    }
    const first = {
      ...chunk({}),
      choices: [{ index: 0, delta: { role: 'assistant' }, logprobs, finish_reason: null }],
    }
    const { events, notes } = decodeStream([
      first,
      chunk({ refusal: 'no' }),
      chunk({}, 'stop'),
      '[DONE]',
    ])
    expect(collect(events).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { type: 'refusal', text: 'no', logprobs: [{ token: 'no', logprob: -1 }] },
    ])
    expect(notes).toEqual([])
  })

  test('notes logprobs of a refusal that never comes', () => {
    const logprobs = {
      content: null,
      refusal: [{ token: 'no', logprob: -1, bytes: null, top_logprobs: [] }],
    }
    const { choices } = result({ content: 'a' })
    const { notes } = chat.decodeResponse({ choices: [{ ...choices[0], logprobs }] })
    expect(notes).toMatchObject([
      { code: 'logprobs.unattached', path: '/choices/0/logprobs/refusal' },
    ])
    const streamed = decodeStream([
      { choices: [{ index: 0, delta: { content: 'a' }, logprobs, finish_reason: 'stop' }] },
      '[DONE]',
    ])
    expect(streamed.notes).toEqual(notes)
  })
})

describe('a plain reasoning field that joins separately signed texts', () => {
  const details = ['One.', 'Two.'].map((text, index) => ({
    type: 'reasoning.text',
    text,
    signature: `S${index}`,
    index,
  }))
  const blocks = details.map(({ text, signature }) => ({
    type: 'thinking',
    thinking: text,
    signature,
  }))
  const plain = [chunk({ reasoning_content: 'One.\n\n' }), chunk({ reasoning_content: 'Two.' })]
  const message = chunk({ content: 'Yes' })
  const end = [chunk({}, 'stop'), '[DONE]']
  const reported = (deltas: unknown[]) => {
    const { events, notes } = decodeStream([...deltas, ...end])
    const parts = collect(events).response.candidates[0]?.messages[0]?.parts ?? []
    const reasoning = parts.flatMap(part =>
      part.type === 'reasoning'
        ? [
            [part.segments.map(({ text }) => text).join(), part.signature?.value]
              .filter(Boolean)
              .join(' by '),
          ]
        : [],
    )
    return { reasoning, notes: notes.map(({ code, path }) => `${code} ${path}`) }
  }
  const joined = (list: string, ...places: number[]) =>
    places.map(nth => `reasoning.joined /choices/0/message/${list}/${nth}`)

  test.each<[string, unknown[], string[], string[]]>([
    [
      'two signatures at the end',
      [...plain, message, chunk({ reasoning_details: details })],
      ['One.\n\nTwo.', 'S0', 'S1'],
      joined('reasoning_details', 0, 1),
    ],
    [
      'two signatures before the text',
      [...plain, chunk({ reasoning_details: details }), message],
      ['One.\n\nTwo.', 'S0', 'S1'],
      joined('reasoning_details', 0, 1),
    ],
    [
      'two signatures, each in a delta of its own',
      [...plain, message, ...details.map(detail => chunk({ reasoning_details: [detail] }))],
      ['One.\n\nTwo.', 'S0', 'S1'],
      joined('reasoning_details', 0, 1),
    ],
    [
      'two proven blocks',
      [...plain, message, chunk({ thinking_blocks: blocks })],
      ['One.\n\nTwo.', 'S0', 'S1'],
      joined('thinking_blocks', 0, 1),
    ],
    [
      'two texts with another text between',
      [
        plain[0],
        chunk({ content: 'Well. ' }),
        plain[1],
        message,
        chunk({ reasoning_details: details }),
      ],
      ['One.\n\n by S0', 'Two. by S1'],
      [],
    ],
    [
      'three signatures of two texts',
      [
        ...plain,
        message,
        chunk({ reasoning_content: 'Three.' }),
        chunk({ reasoning_details: [...details, { ...details[0], text: 'Three.', index: 2 }] }),
      ],
      ['One.\n\nTwo.', 'Three. by S0', 'S0', 'S1'],
      joined('reasoning_details', 0, 1),
    ],
    [
      'one signature',
      [plain[1], message, chunk({ reasoning_details: details.slice(1) })],
      ['Two. by S1'],
      [],
    ],
    [
      'one block',
      [plain[1], message, chunk({ thinking_blocks: blocks.slice(1) })],
      ['Two. by S1'],
      [],
    ],
    [
      'a signature alone',
      [plain[1], message, chunk({ reasoning_signature: 'S1' })],
      ['Two. by S1'],
      [],
    ],
    [
      'the last chunk next to the signature',
      [...plain, chunk({ reasoning_details: details.slice(1) })],
      ['One.\n\nTwo. by S1'],
      [],
    ],
    [
      'signatures of no text',
      [
        ...plain,
        message,
        chunk({
          reasoning_details: ['S0', 'S1'].map((data, index) => ({
            type: 'reasoning.encrypted',
            data,
            index,
          })),
        }),
      ],
      ['One.\n\nTwo.', 'S0', 'S1'],
      [],
    ],
  ])(
    '%s: no signature is dropped, and what can no longer be expressed is noted',
    (_, deltas, reasoning, notes) => {
      const found = reported(deltas)
      expect(found.reasoning.sort()).toEqual(reasoning.sort())
      expect(found.notes).toEqual(notes)
    },
  )

  test('a stream that is cut off after them notes it, too', () => {
    const { notes } = decodeStream([...plain, chunk({ reasoning_details: details })])
    expect(codes(notes)).toEqual(['reasoning.joined', 'reasoning.joined'])
  })
})

test('keeps the id of unsigned reasoning, and notes it for other protocols', () => {
  const entry = (text: string) => ({
    type: 'reasoning.text',
    text,
    format: 'anthropic-claude-v1',
    id: 'reasoning-text-1',
    index: 0,
  })
  const frames = [
    chunk({ reasoning_details: [entry('h')] }),
    chunk({ reasoning_details: [entry('m')] }),
    chunk({ content: 'yes' }),
    chunk({}, 'stop'),
    '[DONE]',
  ]
  const streamed = (options = {}) => collect(decodeStream(frames, options).events).response
  const reasoning = {
    type: 'reasoning',
    id: 'reasoning-text-1',
    segments: [{ kind: 'raw', text: 'hm' }],
  }
  expect(streamed().candidates[0]?.messages[0]?.parts[0]).toMatchObject(reasoning)
  expect(
    streamed({ unsignedReasoning: 'seal' }).candidates[0]?.messages[0]?.parts[0],
  ).toMatchObject({ ...reasoning, signature: { value: '' } })
  const message = { role: 'assistant', content: 'yes', reasoning_details: [entry('hm')] }
  const body = {
    id: 'i',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  }
  for (const to of ['responses', 'messages', 'generate-content'] as const) {
    const translator = createStreamTranslator({ from: 'chat-completions', to })
    translator.push(
      frames
        .map(frame => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`)
        .join(''),
    )
    translator.end()
    for (const { notes } of [translateResponse(body, { from: 'chat-completions', to }), translator])
      expect(notes.map(({ path }) => path)).toContain('/choices/0/message/reasoning_details/0/id')
  }
})
