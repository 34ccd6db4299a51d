import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import { TranslationError } from '../../../src/errors.ts'
import { collectStream, createStreamTranslator } from '../../../src/index.ts'
import type { JsonObject } from '../../../src/kit/json/json.ts'
import { responses } from '../../../src/protocols/responses/index.ts'
import { withPointers } from '../../support/pointers.ts'
import { runs } from '../../support/runs.ts'
import { runsAll } from '../../support/sampled.ts'
import { decode, encode, faultsOf } from './support.ts'

const created = {
  type: 'response.created',
  response: {
    id: 'resp_1',
    object: 'response',
    created_at: 5,
    model: 'm-1',
    status: 'in_progress',
    output: [],
  },
}
const completed = (output?: unknown[], more: JsonObject = {}) => ({
  type: 'response.completed',
  response: {
    id: 'resp_1',
    object: 'response',
    created_at: 5,
    model: 'm-1',
    status: 'completed',
    ...(output && { output }),
    ...more,
  },
})
const usage = {
  input_tokens: 13,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 891,
  output_tokens_details: { reasoning_tokens: 704 },
  total_tokens: 904,
}
const messageItem = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const callItem = (args: string, id = 'fc_1') => ({
  type: 'function_call',
  id,
  call_id: 'call_1',
  name: 'f',
  arguments: args,
  status: 'completed',
})

/** Shortened forms of real streams, each to its end. */
const streams: Record<string, unknown[]> = {
  'a text': [
    created,
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    {
      type: 'response.output_text.delta',
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      delta: 'He',
    },
    {
      type: 'response.output_text.delta',
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      delta: 'llo',
    },
    {
      type: 'response.output_text.done',
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      text: 'Hello',
    },
    {
      type: 'response.content_part.done',
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      part: { type: 'output_text', text: 'Hello', annotations: [] },
    },
    { type: 'response.output_item.done', output_index: 0, item: messageItem('Hello') },
    completed([messageItem('Hello')], { usage }),
  ],
  'reasoning, then a call': [
    created,
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'PARTIAL' },
    },
    {
      type: 'response.reasoning_summary_part.added',
      output_index: 0,
      item_id: 'rs_1',
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    {
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs_1',
      summary_index: 0,
      delta: 'Loo',
    },
    {
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs_1',
      summary_index: 0,
      delta: 'king',
    },
    {
      type: 'response.reasoning_summary_text.done',
      output_index: 0,
      item_id: 'rs_1',
      summary_index: 0,
      text: 'Looking',
    },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Looking' }],
        encrypted_content: 'WHOLE',
      },
    },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...callItem(''), status: 'in_progress' },
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 1,
      item_id: 'fc_1',
      delta: '{"q":',
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 1,
      item_id: 'fc_1',
      delta: '1}',
    },
    {
      type: 'response.function_call_arguments.done',
      output_index: 1,
      item_id: 'fc_1',
      arguments: '{"q":1}',
    },
    { type: 'response.output_item.done', output_index: 1, item: callItem('{"q":1}') },
    completed([], { usage }),
  ],
  'arguments that come whole': [
    created,
    { type: 'response.output_item.added', output_index: 0, item: callItem('') },
    {
      type: 'response.function_call_arguments.done',
      output_index: 0,
      item_id: 'fc_1',
      arguments: '{"q":1}',
    },
    { type: 'response.output_item.done', output_index: 0, item: callItem('{"q":1}') },
    completed([callItem('{"q":1}')]),
  ],
  'arguments that nothing repeats': [
    created,
    { type: 'response.output_item.added', output_index: 0, item: callItem('') },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      item_id: 'fc_1',
      delta: '{"q":',
    },
    {
      type: 'response.function_call_arguments.done',
      output_index: 0,
      item_id: 'fc_1',
      arguments: '{"q":1}',
    },
    completed(),
  ],
  'only what is done': [
    created,
    { type: 'response.output_item.done', output_index: 0, item: messageItem('Hi') },
    { type: 'response.output_item.done', output_index: 1, item: callItem('{}') },
    completed(),
  ],
  'only the last event': [created, completed([messageItem('Hi'), callItem('{}')])],
  'ids that change on every event': [
    created,
    { type: 'response.output_item.added', output_index: 0, item: callItem('', 'fc_a') },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      item_id: 'fc_b',
      delta: '{}',
    },
    { type: 'response.output_item.done', output_index: 0, item: callItem('{}', 'fc_c') },
    completed([callItem('{}', 'fc_d')]),
  ],
  'a tool of the provider': [
    created,
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'web_search_call', id: 'ws_1', status: 'in_progress' },
    },
    { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q' },
      },
    },
    completed(),
  ],
  'two calls side by side': [
    created,
    { type: 'response.output_item.added', output_index: 0, item: callItem('') },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...callItem('', 'fc_2'), call_id: 'call_2' },
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      item_id: 'fc_1',
      delta: '{"a":',
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 1,
      item_id: 'fc_2',
      delta: '{}',
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      item_id: 'fc_1',
      delta: '1}',
    },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { ...callItem('{}', 'fc_2'), call_id: 'call_2' },
    },
    { type: 'response.output_item.done', output_index: 0, item: callItem('{"a":1}') },
    completed(),
  ],
  'raw reasoning in the spelling of Open Responses': [
    created,
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'reasoning', id: 'rs_1', summary: [] },
    },
    {
      type: 'response.reasoning.delta',
      output_index: 0,
      item_id: 'rs_1',
      content_index: 0,
      delta: 'hm',
    },
    {
      type: 'response.reasoning.done',
      output_index: 0,
      item_id: 'rs_1',
      content_index: 0,
      text: 'hmm',
    },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'hmm' }],
      },
    },
    completed(),
  ],
}

const partsOf = (wire: unknown[]) =>
  withPointers(collect(decode(wire).out).response).candidates[0]?.messages.flatMap(
    ({ parts }) => parts,
  )

describe.each(Object.entries(streams))('%s', (_name, wire) => {
  test('obeys the grammar at any cut', () => {
    for (let length = 0; length <= wire.length; length++) {
      const { out } = decode(wire.slice(0, length))
      expect(checkGrammar(out)).toEqual([])
      expect(out.at(-1)).toEqual({ type: 'end', clean: length === wire.length })
    }
  })

  test('streams deltas that add up to the complete text', () => {
    const { out } = decode(wire)
    const withoutFinals = out.map(event =>
      event.type === 'part.end'
        ? { type: event.type, candidate: event.candidate, part: event.part }
        : event,
    )
    const reported = (events: typeof out) =>
      collect(events).response.candidates[0]?.messages.flatMap(({ parts }) =>
        parts.map(part => {
          if (part.type === 'text') return part.text
          if (part.type === 'tool-call') return part.input
          if (part.type === 'reasoning') return [part.segments, part.signature?.value]
          return part.type
        }),
      )
    expect(reported(withoutFinals)).toEqual(reported(out))
  })

  test('restores the response', () => {
    const { out, notes } = encode(decode(wire).out)
    expect(notes).toEqual([])
    expect(partsOf(out)).toEqual(partsOf(wire))
  })
})

test('restores a stream in the form of the reference event by event', () => {
  const wire = [
    { ...created, sequence_number: 0 },
    { ...created, type: 'response.in_progress', sequence_number: 1 },
    ...(streams['a text'] ?? [])
      .slice(1)
      .map((event, index) => ({ ...(event as JsonObject), sequence_number: index + 2 })),
  ]
  const expected = wire.map(event => JSON.parse(JSON.stringify(event)))
  for (const event of expected) {
    if (event.type === 'response.output_text.delta' || event.type === 'response.output_text.done')
      event.logprobs = []
    if (event.part)
      event.part.logprobs ??= event.type === 'response.content_part.added' ? [] : undefined
    if (event.part?.logprobs === undefined) delete event.part?.logprobs
  }
  // The responses have all that the reference asks for.
  expect(encode(decode(wire).out).out).toMatchObject([...expected, '[DONE]'])
})

test('takes the signature from the done event', () => {
  expect(partsOf(streams['reasoning, then a call'] ?? [])?.[0]).toMatchObject({
    type: 'reasoning',
    segments: [{ kind: 'summary', text: 'Looking' }],
    signature: { value: 'WHOLE', issuer: 'responses', form: 'encrypted', model: 'm-1' },
    id: 'rs_1',
  })
})

test('takes arguments from the last event when only it has them', () => {
  expect(partsOf(streams['arguments that nothing repeats'] ?? [])).toMatchObject([
    { type: 'tool-call', input: '{"q":1}' },
  ])
})

describe('values of a finished item that only the last event has', () => {
  const thought = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] }
  const search = {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search', query: 'q' },
  }
  const reported = (items: JsonObject[], last: JsonObject[]) =>
    decode([
      created,
      ...items.map((item, index) => ({
        type: 'response.output_item.done',
        output_index: index,
        item,
      })),
      completed(last),
    ])

  test.each<[string, JsonObject[], JsonObject[]]>([
    ['after its reasoning', [thought], [{ ...thought, encrypted_content: 'SEAL' }]],
    [
      'after what follows them',
      [thought, messageItem('Hi')],
      [{ ...thought, encrypted_content: 'SEAL' }, messageItem('Hi')],
    ],
  ])('a signature is emitted %s', (_, items, last) => {
    const { out, notes } = reported(items, last)
    expect(notes).toEqual([])
    expect(checkGrammar(out)).toEqual([])
    expect(collect(out).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { id: 'rs_1', signature: { value: 'SEAL', issuer: 'responses' } },
    ])
    // Its own client gets it in an item beside the thought, for that one has ended.
    const { out: again } = encode(out)
    expect(JSON.stringify(again)).toContain('"encrypted_content"')
    expect(faultsOf(again)).toEqual([])
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['an unknown field', messageItem('Hi'), { ...messageItem('Hi'), odd: 1 }],
    [
      'a field of its content',
      messageItem('Hi'),
      {
        ...messageItem('Hi'),
        content: [{ type: 'output_text', text: 'Hi', annotations: [], odd: 1 }],
      },
    ],
    [
      'a citation',
      messageItem('Hi'),
      {
        ...messageItem('Hi'),
        content: [
          { type: 'output_text', text: 'Hi', annotations: [{ type: 'file_path', file_id: 'f' }] },
        ],
      },
    ],
    ['more text', messageItem('Hi'), messageItem('Hi there')],
    [
      'more content',
      messageItem('Hi'),
      {
        ...messageItem('Hi'),
        content: [...messageItem('Hi').content, { type: 'refusal', refusal: 'no' }],
      },
    ],
    ['that it was cut off', messageItem('Hi'), { ...messageItem('Hi'), status: 'incomplete' }],
    ['other arguments', callItem('{}'), callItem('{"a":1}')],
    [
      'the seal of a summary',
      { type: 'compaction', id: 'cmp_1' },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'SEAL' },
    ],
    ['what was found', search, { ...search, results: [{ url: 'u' }] }],
  ])('%s is noted', (_, item, last) => {
    expect(reported([item], [last]).notes).toMatchObject([
      { code: 'stream.final-differs', kind: 'dropped', path: '/output/0' },
    ])
  })

  test.each<[string, JsonObject[], JsonObject[]]>([
    ['the same', [messageItem('Hi'), callItem('{}')], [messageItem('Hi'), callItem('{}')]],
    [
      'other ids and another seal',
      [{ ...thought, encrypted_content: 'A' }],
      [{ ...thought, id: 'rs_2', encrypted_content: 'B' }],
    ],
    [
      'a summary sealed anew',
      [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'A' }],
      [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'B' }],
    ],
    ['less', [{ ...messageItem('Hi'), odd: 1 }], [{ ...messageItem(''), content: [], odd: null }]],
    ['that it is complete', [{ ...thought, status: null }], [{ ...thought, status: 'completed' }]],
    [
      'the second of two alone, under another id',
      [messageItem('Hi'), { ...messageItem('there'), id: 'msg_2' }],
      [{ ...messageItem('there'), id: 'msg_3' }],
    ],
  ])('makes no note when %s', (_, items, last) => {
    expect(reported(items, last).notes).toEqual([])
  })
})

describe('events of this protocol that a complete response cannot hold', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  const collected = async (...events: object[]) => {
    const item = { type: 'response.output_item.done', output_index: 0, item: search }
    const text = [created, ...events, item, completed([search])].map(
      event => `data: ${JSON.stringify(event)}\n\n`,
    )
    return (await collectStream(text, { protocol: 'responses' })).notes
  }

  test('are noted', async () => {
    const audio = { type: 'response.audio.delta', delta: 'AAAA' }
    expect(await collected(audio, audio)).toMatchObject([{ code: 'event.unknown', path: '' }])
  })

  test('make no note when they report the progress of an item', async () => {
    expect(
      await collected({
        type: 'response.web_search_call.searching',
        output_index: 0,
        item_id: 'ws_1',
      }),
    ).toEqual([])
  })
})

test('keeps streamed items when the last event lists none', () => {
  const { response } = collect(decode(streams['reasoning, then a call'] ?? []).out)
  expect(response.candidates[0]?.messages).toHaveLength(2)
  expect(response.candidates[0]?.finish).toMatchObject({ reason: 'tool_calls', raw: 'completed' })
  expect(response.usage).toMatchObject({ input: 13, output: 891, cacheRead: 4, reasoning: 704 })
})

test.each([
  ['response.completed', { status: 'completed' }, 'stop'],
  ['response.done', {}, 'stop'],
  [
    'response.incomplete',
    { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    'length',
  ],
  [
    'response.incomplete',
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    'content_filter',
  ],
  [
    'response.incomplete',
    { status: 'incomplete', incomplete_details: { reason: 'steered' } },
    'pause',
  ],
  ['response.incomplete', { incomplete_details: null }, 'other'],
  ['response.incomplete', { status: 'cancelled' }, 'cancelled'],
  ['response.cancelled', { status: 'in_progress' }, 'cancelled'],
])('%s with %j means %s', (type, more, reason) => {
  const { out } = decode([created, { type, response: { id: 'resp_1', ...more } }])
  expect(out.find(event => event.type === 'finish')).toMatchObject({ finish: { reason } })
  expect(out.at(-1)).toEqual({ type: 'end', clean: true })
})

describe('errors', () => {
  const nested = {
    type: 'error',
    error: {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded it',
      param: null,
    },
  }
  const flat = {
    type: 'error',
    code: 'insufficient_quota',
    message: 'You exceeded it',
    param: null,
  }
  const bare = { error: { code: 'insufficient_quota', message: 'You exceeded it' } }
  const failed = {
    type: 'response.failed',
    response: {
      id: 'resp_1',
      status: 'failed',
      error: { code: 'insufficient_quota', message: 'You exceeded it' },
      usage,
    },
  }

  test.each([
    ['nested, then a failed response', [nested, failed]],
    ['flat, then a failed response', [flat, failed]],
    ['a failed response alone', [failed]],
    ['nested alone', [nested]],
    ['without any type', [bare, '[DONE]']],
  ])('%s: emits one error', (_name, wire) => {
    const { out } = decode([created, ...wire])
    expect(checkGrammar(out)).toEqual([])
    expect(out.filter(event => event.type === 'error')).toMatchObject([
      {
        error: {
          kind: 'quota',
          status: 429,
          message: 'You exceeded it',
          code: 'insufficient_quota',
        },
      },
    ])
    expect(out.at(-1)).toEqual({ type: 'end', clean: false })
  })

  test('reads the retry time from the error', () => {
    const wire = {
      type: 'error',
      error: {
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        message: 'm',
        param: null,
        headers: { 'retry-after': 3 },
      },
    }
    expect(decode([wire]).out).toContainEqual({
      type: 'error',
      error: expect.objectContaining({ kind: 'rate_limit', status: 429, retryAfterMs: 3000 }),
    })
  })

  test('the counts of a failed response come before the error', () => {
    expect(decode([created, nested, failed]).out.map(({ type }) => type)).toEqual([
      'start',
      'update',
      'usage',
      'error',
      'end',
    ])
  })
})

test('does not accept [DONE] without a last event as a clean end', () => {
  expect(decode([created, '[DONE]']).out.at(-1)).toEqual({ type: 'end', clean: false })
})

test('emits nothing after the end', () => {
  const { out } = decode([
    created,
    completed(),
    created,
    { type: 'response.output_text.delta', output_index: 0, delta: 'GHOST' },
    '[DONE]',
  ])
  expect(out.filter(({ type }) => type === 'end')).toHaveLength(1)
  expect(out.at(-1)?.type).toBe('end')
})

test('ignores an annotation that is null', () => {
  const annotation = {
    type: 'response.output_text.annotation.added',
    output_index: 0,
    item_id: 'msg_1',
    content_index: 0,
    annotation_index: 0,
    annotation: null,
  }
  const events = streams['a text'] ?? []
  expect(decode(events.toSpliced(4, 0, annotation))).toEqual(decode(events))
})

test('an unknown event is noted, also where no client reads the events', () => {
  const { out, notes } = decode([created, { type: 'response.telepathy', thought: 1 }, completed()])
  expect(out.map(({ type }) => type)).toEqual(['start', 'update', 'finish', 'end'])
  expect(notes).toMatchObject([{ code: 'event.unknown', kind: 'dropped' }])
})

test.each([
  ['/response', { type: 'response.completed' }],
  ['/item/type', { type: 'response.output_item.added', output_index: 0, item: {} }],
  ['/delta', { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 7 }],
  ['/output_index', { type: 'response.output_text.delta', output_index: 'x', delta: 'a' }],
  ['/arguments', { type: 'response.function_call_arguments.done', output_index: 0, arguments: 7 }],
  ['/annotation', { type: 'response.output_text.annotation.added', output_index: 0 }],
])('a known event with a fault at %s is malformed', (path, event) => {
  expect(() => decode([created, event])).toThrow(
    expect.objectContaining({ code: 'malformed', path }),
  )
})

test('decodes any JSON or refuses it as malformed, with legal events', () => {
  const type = fc.constantFrom(
    ...Object.values(streams).flatMap(wire =>
      wire.map(event => String((event as JsonObject)['type'])),
    ),
    'error',
    'response.refusal.delta',
    'odd',
    '',
  )
  const item = fc.constantFrom<unknown>(
    callItem('{'),
    messageItem('x'),
    { type: 'reasoning', id: 'r', summary: [] },
    { type: 'odd', id: 'o' },
    7,
  )
  const event = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        type,
        output_index: fc.nat(2),
        content_index: fc.nat(2),
        summary_index: fc.nat(2),
        delta: fc.string(),
        text: fc.string(),
        arguments: fc.string(),
        item,
        part: item,
        response: fc.constantFrom({}, { status: 'completed' }),
      },
      { requiredKeys: ['type'] },
    ),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), events => {
      const { streamDecoder } = responses
      const state = streamDecoder.initial()
      const out: Parameters<typeof checkGrammar>[0] extends Iterable<infer E> ? E[] : never = []
      try {
        for (const one of events) streamDecoder.step(state, one, given => out.push(given))
      } catch (error) {
        expect(TranslationError.is(error) && error.code).toBe('malformed')
      }
      streamDecoder.end(state, given => out.push(given))
      expect(checkGrammar(out)).toEqual([])
    }),
    runs(500),
  )
})

test('fails a stream when another response begins inside it, but not for a repeated start', () => {
  const other = { ...created, response: { ...created.response, id: 'resp_2' } }
  const state = responses.streamDecoder.initial({})
  const step = (event: unknown) => responses.streamDecoder.step(state, event, () => {})
  for (const event of [created, created]) step(event)
  expect(() => step(other)).toThrow(
    expect.objectContaining({ code: 'out-of-order', path: '/response/id' }),
  )
})

test('takes id and model from the start, not from a keep-alive before it', () => {
  expect(decode([{ type: 'keepalive' }, created]).out[0]).toMatchObject({
    type: 'start',
    id: 'resp_1',
    model: 'm-1',
  })
})

test('notes each of thousands of items in linear time', () => {
  // Fewer show that each is noted; the square of their number shows at many alone.
  const count = runsAll() ? 6000 : 600
  const item = (nth: number, more: object) => ({
    type: 'reasoning',
    id: `rs_${nth}`,
    summary: [{ type: 'summary_text', text: `t${nth}` }],
    ...more,
  })
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
  }
  const items = Array.from({ length: count }, (_, nth) => nth)
  const translator = createStreamTranslator({ from: 'responses', to: 'messages' })
  const events = [
    ...items.map(nth => ({
      type: 'response.output_item.done',
      output_index: nth,
      item: item(nth, {}),
    })),
    {
      type: 'response.completed',
      response: { ...response, output: items.map(nth => item(nth, { odd: nth })) },
    },
  ]
  const begun = process.cpuUsage()
  translator.push(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''))
  expect(translator.notes.filter(({ code }) => code === 'stream.final-differs')).toHaveLength(count)
  // Microseconds of the processor, which do not depend on what else the machine does.
  const { user } = process.cpuUsage(begun)
  expect(user).toBeLessThan(30_000_000)
})
