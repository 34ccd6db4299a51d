import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import { translateRequest } from '../../../src/index.ts'
import { chunk, codes, decodeStream } from './run.ts'

const calls = (...deltas: object[]) => [
  ...deltas.map(delta => chunk({ tool_calls: [delta] })),
  chunk({}, 'tool_calls'),
]
const fn = (name?: string, args?: unknown) => ({
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
})

/** What a stream says, in short: `kind:text` for each part. */
function sent(events: readonly CanonicalEvent[]): string[] {
  expect(checkGrammar(events)).toEqual([])
  return collect(events).response.candidates.flatMap(({ messages }) =>
    messages.flatMap(({ parts }) =>
      parts.map(part => {
        if (part.type === 'text' || part.type === 'refusal') return `${part.type}:${part.text}`
        if (part.type === 'reasoning')
          return `reasoning:${part.segments.map(({ text }) => text).join('|')}${part.signature ? `#${part.signature.value}` : ''}`
        if (part.type === 'tool-call') return `${part.kind}:${part.name}(${part.input})`
        return part.type
      }),
    ),
  )
}

const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }

describe('decodes what servers send:', () => {
  test.each<[string, unknown[], string[]]>([
    [
      'text after an empty first delta',
      [
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'a' }),
        chunk({ content: 'b' }),
        chunk({}, 'stop'),
      ],
      ['text:ab'],
    ],
    [
      'reasoning_content, then text',
      [
        chunk({ content: null, reasoning_content: '' }),
        chunk({ reasoning_content: 'r' }),
        chunk({ content: 'a' }),
        chunk({}, 'stop'),
      ],
      ['reasoning:r', 'text:a'],
    ],
    [
      'the last of the reasoning behind the first of the text, in one chunk',
      [
        chunk({ reasoning_content: 'r' }),
        chunk({ content: 'a', reasoning_content: 's' }),
        chunk({ content: 'b' }),
        chunk({}, 'stop'),
      ],
      ['reasoning:rs', 'text:ab'],
    ],
    [
      'the same in details',
      [
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'r', index: 0 }] }),
        chunk({
          content: 'a',
          reasoning_details: [{ type: 'reasoning.text', text: 's', signature: 'S', index: 0 }],
        }),
        chunk({ content: 'b' }, 'stop'),
      ],
      ['reasoning:rs#S', 'text:ab'],
    ],
    [
      'reasoning under both names is read once',
      [chunk({ reasoning: 'r', reasoning_content: 'r' }), chunk({}, 'stop')],
      ['reasoning:r'],
    ],
    [
      'reasoning that comes back after text is a new part',
      [
        chunk({ reasoning: 'r' }),
        chunk({ content: 'a' }),
        chunk({ reasoning: 's' }),
        chunk({}, 'stop'),
      ],
      ['reasoning:r', 'text:a', 'reasoning:s'],
    ],
    [
      'details beside reasoning only bring the signature',
      [
        chunk({
          reasoning: 'r',
          reasoning_details: [{ type: 'reasoning.text', text: 'r', index: 0 }],
        }),
        chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 'S', index: 0 }] }),
        chunk({ content: 'a' }, 'stop'),
      ],
      ['reasoning:r#S', 'text:a'],
    ],
    [
      'details alone bring the text',
      [
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] }),
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0 }] }),
        chunk({}, 'stop'),
      ],
      ['reasoning:ab'],
    ],
    [
      'a signature after its reasoning ended is a part of its own',
      [
        chunk({ reasoning: 'r' }),
        chunk({ content: 'a' }),
        chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'E' }] }),
        chunk({}, 'stop'),
      ],
      ['reasoning:r', 'text:a', 'reasoning:#E'],
    ],
    [
      'content as blocks',
      [
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'r' }] }] }),
        chunk({ content: [{ type: 'text', text: 'a' }] }),
        chunk({ content: 'b' }, 'stop'),
      ],
      ['reasoning:r', 'text:ab'],
    ],
    [
      'a refusal',
      [chunk({ refusal: 'I ' }), chunk({ refusal: 'cannot' }), chunk({}, 'stop')],
      ['refusal:I cannot'],
    ],
    [
      'a call in fragments',
      calls(
        { index: 0, id: 'a', ...fn('f', '') },
        { index: 0, ...fn(undefined, '{"q":') },
        { index: 0, ...fn(undefined, '1}') },
      ),
      ['function:f({"q":1})'],
    ],
    [
      'interleaved calls',
      calls(
        { index: 0, id: 'a', ...fn('f') },
        { index: 1, id: 'b', ...fn('g') },
        { index: 0, ...fn(undefined, '{}') },
        { index: 1, ...fn(undefined, '[]') },
      ),
      ['function:f({})', 'function:g([])'],
    ],
    [
      'calls without index, distinguished by their ids',
      calls({ id: 'a', ...fn('f', '{}') }, { id: 'b', ...fn('f', '{}') }),
      ['function:f({})', 'function:f({})'],
    ],
    [
      'fragments without index and id belong to the last call',
      calls({ id: 'a', ...fn('f', '{"a"') }, fn(undefined, ':1}')),
      ['function:f({"a":1})'],
    ],
    [
      'whole calls without index and id',
      calls(fn('f', '{}'), fn('g', '{}')),
      ['function:f({})', 'function:g({})'],
    ],
    [
      'parallel calls that all have index 0',
      calls({ index: 0, id: 'a', ...fn('f', '{}') }, { index: 0, id: 'b', ...fn('f', '{}') }),
      ['function:f({})', 'function:f({})'],
    ],
    [
      'parallel calls that all have index 0 and no id',
      calls({ index: 0, ...fn('f', '{"a":1}') }, { index: 0, ...fn('f', '{"a":2}') }),
      ['function:f({"a":1})', 'function:f({"a":2})'],
    ],
    [
      'an index that begins at 1',
      calls({ index: 1, id: 'a', ...fn('f', '{}') }),
      ['function:f({})'],
    ],
    [
      'id and name again in every delta',
      calls({ index: 0, id: 'a', ...fn('f', '{"a"') }, { index: 0, id: 'a', ...fn('f', ':1}') }),
      ['function:f({"a":1})'],
    ],
    [
      'an id that is empty later',
      calls({ index: 0, id: 'a', ...fn('f', '{"a"') }, { index: 0, id: '', ...fn('', ':1}') }),
      ['function:f({"a":1})'],
    ],
    [
      'arguments as an object',
      calls({ index: 0, id: 'a', ...fn('f', { a: 1 }) }),
      ['function:f({"a":1})'],
    ],
    [
      'arguments that are null in the head',
      calls({ index: 0, id: 'a', ...fn('f', null) }, { index: 0, ...fn(undefined, '{}') }),
      ['function:f({})'],
    ],
    [
      'a name that comes after the first arguments',
      calls({ index: 0, id: 'a', ...fn(undefined, '{"a"') }, { index: 0, ...fn('f', ':1}') }),
      ['function:f({"a":1})'],
    ],
    [
      'a freeform call',
      calls(
        { index: 0, id: 'a', type: 'custom', custom: { name: 'sh', input: '' } },
        { index: 0, custom: { input: 'ls' } },
      ),
      ['freeform:sh(ls)'],
    ],
    [
      'the older function call',
      [
        chunk({ function_call: { name: 'f', arguments: '' } }),
        chunk({ function_call: { arguments: '{}' } }),
        chunk({}, 'function_call'),
      ],
      ['function:f({})'],
    ],
    [
      'an empty list of calls beside text',
      [
        chunk({ content: 'a', tool_calls: [] }),
        chunk({ content: 'b', tool_calls: [] }),
        chunk({}, 'stop'),
      ],
      ['text:ab'],
    ],
    [
      'no delta, and null for it',
      [
        { id: 'c1', choices: [{ index: 0, delta: null }] },
        { id: 'c1', choices: [{ index: 0 }] },
        chunk({ content: 'a' }, 'stop'),
      ],
      ['text:a'],
    ],
    [
      'choices that are null',
      [{ id: 'c1', choices: null }, chunk({ content: 'a' }, 'stop')],
      ['text:a'],
    ],
    [
      'the whole message beside the last delta',
      [
        {
          ...chunk({ content: 'a' }, 'stop'),
          choices: [
            { index: 0, delta: { content: 'a' }, message: { content: 'a' }, finish_reason: 'stop' },
          ],
        },
      ],
      ['text:a'],
    ],
    [
      'the complete response as the only chunk',
      [
        {
          id: 'c1',
          object: 'chat.completion',
          choices: [
            {
              index: 0,
              message: {
                role: 'assistant',
                content: 'a',
                reasoning_content: 'r',
                tool_calls: [{ id: 'a', type: 'function', ...fn('f', '{}') }],
              },
              finish_reason: 'tool_calls',
            },
          ],
        },
      ],
      ['reasoning:r', 'text:a', 'function:f({})'],
    ],
    [
      'the complete response in a chunk of its own, after its deltas',
      [
        chunk({ content: 'a' }),
        chunk({ content: 'b' }),
        {
          ...chunk({}),
          choices: [{ index: 0, message: { content: 'ab' }, finish_reason: 'stop' }],
        },
      ],
      ['text:ab'],
    ],
    [
      'a leading chunk without choice and id',
      [
        { id: '', model: '', choices: [], prompt_filter_results: [] },
        chunk({ content: 'a' }, 'stop'),
      ],
      ['text:a'],
    ],
    [
      'probabilities before their text',
      [chunk({ content: '' }), chunk({ content: 'a' }, 'stop')],
      ['text:a'],
    ],
  ])('%s', (_, frames, parts) => {
    const { events } = decodeStream([...frames, '[DONE]'])
    expect(sent(events)).toEqual(parts)
    expect(events.at(-1)).toEqual({ type: 'end', clean: true })
  })
})

describe('usage', () => {
  test.each<[string, unknown[]]>([
    ['in a chunk of its own', [chunk({ content: 'a' }, 'stop'), { id: 'c1', choices: [], usage }]],
    ['beside the finish', [chunk({ content: 'a' }, 'stop', { usage })]],
    [
      'in every chunk, the last one counts',
      [
        chunk({ content: 'a' }, null, {
          usage: { ...usage, completion_tokens: 1, total_tokens: 13 },
        }),
        chunk({}, 'stop', { usage }),
      ],
    ],
    [
      'in a chunk whose choice is empty',
      [chunk({ content: 'a' }, 'stop'), chunk({ content: '' }, null, { usage })],
    ],
    [
      'inside the choice',
      [
        {
          ...chunk({}),
          choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', usage }],
        },
      ],
    ],
    [
      'under the name of a server',
      [chunk({ content: 'a' }, 'stop', { x_groq: { id: 'g', usage } })],
    ],
  ])('%s', (_, frames) => {
    const { events } = decodeStream([...frames, '[DONE]'])
    expect(checkGrammar(events)).toEqual([])
    expect(collect(events).response.usage).toMatchObject({ input: 12, output: 3 })
  })
})

describe('the end of a stream', () => {
  const reason = (events: CanonicalEvent[]) =>
    collect(events).response.candidates[0]?.finish?.reason

  test.each<[string, unknown[], boolean, string | undefined]>([
    ['a finish and [DONE]', [chunk({ content: 'a' }), chunk({}, 'stop'), '[DONE]'], true, 'stop'],
    ['a finish without [DONE]', [chunk({ content: 'a' }), chunk({}, 'stop')], true, 'stop'],
    [
      '[DONE] twice',
      [chunk({ content: 'a' }, 'stop'), '[DONE]', '[DONE]', chunk({ content: 'b' })],
      true,
      'stop',
    ],
    [
      '`stop` although there are calls',
      [
        chunk({ tool_calls: [{ index: 0, id: 'a', ...fn('f', '{}') }] }),
        chunk({}, 'stop'),
        '[DONE]',
      ],
      true,
      'tool_calls',
    ],
    [
      'a second reason that sees the calls',
      [
        chunk({ tool_calls: [{ index: 0, id: 'a', ...fn('f', '{}') }] }, 'stop'),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ],
      true,
      'tool_calls',
    ],
    [
      '`tool_calls` without any call',
      [chunk({ content: 'a' }, 'tool_calls'), '[DONE]'],
      true,
      'stop',
    ],
    [
      'a second reason that repeats',
      [chunk({ content: 'a' }, 'length'), chunk({}, 'stop'), '[DONE]'],
      true,
      'length',
    ],
    [
      'an empty reason until the end',
      [chunk({ content: 'a' }, ''), chunk({}, 'stop'), '[DONE]'],
      true,
      'stop',
    ],
    ['words of other servers', [chunk({ content: 'a' }, 'eos'), '[DONE]'], true, 'stop'],
    ['[DONE] without any reason', [chunk({ content: 'a' }), '[DONE]'], true, 'other'],
    [
      '[DONE] in the middle of arguments',
      [chunk({ tool_calls: [{ index: 0, id: 'a', ...fn('f', '{"a"') }] }), '[DONE]'],
      false,
      undefined,
    ],
    ['nothing after some text', [chunk({ content: 'a' })], false, undefined],
    ['nothing after the first chunk', [{ id: 'c1', choices: [] }], false, undefined],
    ['nothing at all', [], false, undefined],
    ['only [DONE]', ['[DONE]'], false, undefined],
    [
      'one of two choices unfinished',
      [
        chunk({ content: 'a' }, 'stop'),
        { ...chunk({}), choices: [{ index: 1, delta: { content: 'b' }, finish_reason: null }] },
      ],
      false,
      undefined,
    ],
  ])('%s', (_, frames, clean, finish) => {
    const { events } = decodeStream(frames)
    expect(checkGrammar(events)).toEqual([])
    expect(events.at(-1)).toEqual({ type: 'end', clean })
    expect(reason(events)).toBe(finish)
  })

  test.each<[string, string, string, string[]]>([
    ['a reason that never sees the calls is mended', 'stop', 'stop', ['finish.repaired']],
    ['one that is corrected when it does needs no mending', 'stop', 'tool_calls', []],
  ])('%s', (_, first, second, expected) => {
    const { notes } = decodeStream([
      chunk({ tool_calls: [{ index: 0, id: 'a', ...fn('f', '{}') }] }, first),
      chunk({}, second),
      '[DONE]',
    ])
    expect(codes(notes)).toEqual(expected)
  })

  test.each([-1, 0.5, '1', null, undefined])(
    'treats a choice with the index %j as the first one',
    index => {
      const { events } = decodeStream([
        { ...chunk({}), choices: [{ index, delta: { content: 'a' }, finish_reason: 'stop' }] },
        '[DONE]',
      ])
      expect(checkGrammar(events)).toEqual([])
      expect(events).toContainEqual(expect.objectContaining({ type: 'finish', candidate: 0 }))
    },
  )

  test('treats the only requested candidate as the first one', () => {
    const one = (index: number, delta: object, finish: string | null = null) => ({
      ...chunk({}),
      choices: [{ index, delta, finish_reason: finish }],
    })
    const context = { from: 'responses', to: 'chat-completions', request: { messages: [] } }
    const wires = [one(130, { content: 'a' }), one(130, {}, 'stop'), '[DONE]']
    expect(collect(decodeStream(wires, { context }).events).response.candidates).toMatchObject([
      { index: 0, messages: [{ parts: [{ text: 'a' }] }] },
    ])
    const two = [
      one(1, { content: 'b' }),
      one(0, { content: 'a' }),
      one(0, {}, 'stop'),
      one(1, {}, 'stop'),
      '[DONE]',
    ]
    const reported = (generationConfig: object) => {
      const body = { contents: [{ role: 'user', parts: [{ text: 'q' }] }], generationConfig }
      const { context } = translateRequest(body, {
        from: 'generate-content',
        to: 'chat-completions',
      })
      return collect(decodeStream(two, { context }).events).response.candidates.map(
        ({ messages }) => messages[0]?.parts[0],
      )
    }
    expect(reported({})).toMatchObject([{ text: 'b' }, { text: 'a' }])
    expect(reported({ candidateCount: 2 })).toMatchObject([{ text: 'a' }, { text: 'b' }])
  })

  test.each<[string, unknown, object]>([
    [
      'alone',
      { error: { message: 'busy', type: 'server_error', code: null } },
      { message: 'busy', status: 500, kind: 'internal' },
    ],
    [
      'with its status',
      { error: { message: 'slow down', code: 429 } },
      { status: 429, kind: 'rate_limit' },
    ],
    [
      'beside a choice',
      {
        id: 'c1',
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        error: { code: 502, message: 'bad gateway' },
      },
      { status: 502, kind: 'internal' },
    ],
    ['as text', { error: 'model not loaded' }, { message: 'model not loaded' }],
    [
      'without a frame around it',
      { object: 'error', message: 'busy', type: 'server_error', code: 503 },
      { message: 'busy', status: 503 },
    ],
    [
      'whose event is named so',
      { type: 'error', message: 'busy' },
      { message: 'busy', status: 500, kind: 'internal' },
    ],
  ])('an error %s', (_, frame, error) => {
    const { events } = decodeStream([
      chunk({ content: 'a' }),
      frame,
      chunk({ content: 'b' }),
      '[DONE]',
    ])
    expect(checkGrammar(events)).toEqual([])
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', error },
      { type: 'end', clean: false },
    ])
  })
})

describe.each<[string, object, string]>([
  ['a frame with other content', { code: 'InternalError', message: 'engine died' }, 'engine died'],
  ['a frame in the words of FastAPI', { detail: 'engine died' }, 'engine died'],
  [
    'an error inside of a choice',
    { id: 'c1', choices: [{ index: 0, delta: {}, error: { message: 'engine died' } }] },
    'engine died',
  ],
])('%s', (_, frame, message) => {
  test('is a failure without any other finish reason', () => {
    for (const end of [['[DONE]'], []]) {
      const { events } = decodeStream([chunk({ content: 'a' }), frame, ...end])
      expect(checkGrammar(events)).toEqual([])
      expect(events.slice(-2)).toMatchObject([
        { type: 'error', error: { message } },
        { type: 'end', clean: false },
      ])
    }
  })

  test('is none when the response ends', () => {
    const { events } = decodeStream([
      chunk({ content: 'a' }),
      frame,
      chunk({ content: 'b' }, 'stop'),
      '[DONE]',
    ])
    expect(sent(events)).toEqual(['text:ab'])
    expect(events.at(-1)).toEqual({ type: 'end', clean: true })
  })
})

test('yields a legal, unclean stream for any cut', () => {
  const frames = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'r' }),
    chunk({ content: 'Let me look.' }),
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', ...fn('f', '') }] }),
    chunk({ tool_calls: [{ index: 0, ...fn(undefined, '{}') }] }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ]
  for (let cut = 0; cut < frames.length; cut++) {
    const { events } = decodeStream(frames.slice(0, cut))
    expect(checkGrammar(events)).toEqual([])
    expect(events.at(-1)).toEqual({ type: 'end', clean: cut >= 6 })
    expect(events.some(({ type }) => type === 'finish')).toBe(cut >= 6)
  }
})

test('unknown fields are reported once, and an unknown frame is noted', () => {
  const { events, notes } = decodeStream([
    chunk({ content: 'a' }, null, { provider: 'P' }),
    chunk({ content: 'b' }, 'stop', { provider: 'P' }),
    { hello: 1 },
    'text',
    '[DONE]',
  ])
  expect(events.filter(event => 'ext' in event)).toHaveLength(1)
  expect(codes(notes)).toEqual(['event.unknown'])
})

test('ignores an empty legacy call next to text', () => {
  const nothing = { function_call: { name: '', arguments: '' } }
  const { events, notes } = decodeStream([
    chunk({ content: 'hi', ...nothing }),
    chunk({ ...nothing }, 'stop'),
    '[DONE]',
  ])
  expect(sent(events)).toEqual(['text:hi'])
  expect(collect(events)).toMatchObject({
    clean: true,
    response: { candidates: [{ finish: { reason: 'stop' } }] },
  })
  expect(notes).toEqual([])
})

test('a citation counts from where its text begins; for an ended text it has no offset', () => {
  const cited = (start_index: number, end_index: number) => ({
    type: 'url_citation',
    url_citation: { start_index, end_index, title: 't', url: 'https://u' },
  })
  const { events } = decodeStream([
    chunk({ content: 'sö' }),
    chunk({ reasoning_content: 'hm' }),
    chunk({ content: '🙂 later' }),
    chunk({ annotations: [cited(0, 2), cited(4, 9)] }),
    chunk({}, 'stop'),
  ])
  const [text] = collect(events).response.candidates[0]?.messages[0]?.parts.slice(-1) ?? []
  const places =
    text?.type === 'text' ? text.citations?.map(({ start, end }) => [start, end]) : undefined
  expect(places).toEqual([
    [undefined, undefined],
    [2, 7],
  ])
})
