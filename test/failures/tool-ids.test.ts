import { describe, expect, test } from 'vitest'
import { type Covered, covered } from '../support/covered.ts'
import { translateResponse } from '../support/untyped.ts'
import {
  assistant,
  call,
  called,
  calling,
  content,
  each,
  item,
  output,
  type Row,
  received,
  reported,
  response,
  result,
  spoken,
  text,
  use,
  user,
  type Wire,
} from './asking.ts'

/**
 * What calls without arguments look like elsewhere, and that the argument of a call is an object
 * everywhere.
 */
const interrupted = 'This tool call was interrupted and has no result.'
const empty: Row[] = [
  ...['', '  ', '\n', null, undefined].flatMap((args): Row[] => [
    [
      `a call without arguments (${JSON.stringify(args)}) does not make the next request fail`,
      'chat-completions',
      {
        messages: [
          user('now?'),
          calling({ ...call('a'), function: { name: 'look', arguments: args } }),
          response('a', 'noon'),
        ],
      },
      {
        messages: [
          { messages: [user('now?'), assistant([use('a')]), user([result('a', 'noon')])] },
        ],
        responses: [
          { input: [item('user', 'now?'), called('a'), output('a', 'noon')] },
          'synthesized /input/1/arguments tool-call.empty-input',
        ],
      },
    ],
    [
      `an item of a call without arguments (${JSON.stringify(args)}) does not make the next request fail`,
      'responses',
      { input: [user('now?'), { ...called('a'), arguments: args }, output('a', 'noon')] },
      {
        messages: [
          { messages: [user('now?'), assistant([use('a')]), user([result('a', 'noon')])] },
        ],
        'chat-completions': [
          { messages: [user('now?'), calling(call('a')), response('a', 'noon')] },
          'synthesized /messages/1/tool_calls/0/function/arguments tool-call.empty-input',
        ],
      },
    ],
  ]),
  [
    'an empty object is an empty object',
    'messages',
    { messages: [user('now?'), assistant([use('a')]), user([result('a', 'noon')])] },
    {
      'chat-completions': [{ messages: [user('now?'), calling(call('a')), response('a', 'noon')] }],
      responses: [{ input: [item('user', 'now?'), called('a'), output('a', 'noon')] }],
    },
  ],
  ...[undefined, null, ''].map(
    (input): Row => [
      `a call whose input (${JSON.stringify(input)}) is nothing is a call with an empty object`,
      'messages',
      {
        messages: [
          user('now?'),
          assistant([{ type: 'tool_use', id: 'a', name: 'look', input }]),
          user([result('a', 'noon')]),
        ],
      },
      {
        'chat-completions': [
          { messages: [user('now?'), calling(call('a')), response('a', 'noon')] },
          'synthesized /messages/1/tool_calls/0/function/arguments tool-call.empty-input',
        ],
        responses: [
          { input: [item('user', 'now?'), called('a'), output('a', 'noon')] },
          'synthesized /input/1/arguments tool-call.empty-input',
        ],
      },
    ],
  ),
  ...['{"q":', '{"a":1}{"b":2}', '[]', '"x"'].flatMap((args): Row[] => [
    [
      `arguments that are no object (${args}) are not lost, and the model sees its own fault`,
      'chat-completions',
      { messages: [user('x'), calling(call('a', args)), response('a', 'r')] },
      {
        messages: [
          {
            messages: [user('x'), assistant([use('a', { __raw: args })]), user([result('a', 'r')])],
          },
          'approximated /messages/1/tool_calls/0/function/arguments tool-call.input',
        ],
        responses: [{ input: [item('user', 'x'), called('a', args), output('a', 'r')] }],
      },
    ],
    [
      `arguments of an item that are no object (${args}) are not lost`,
      'responses',
      { input: [user('x'), called('a', args), output('a', 'r')] },
      {
        messages: [
          {
            messages: [user('x'), assistant([use('a', { __raw: args })]), user([result('a', 'r')])],
          },
          'approximated /input/1/arguments tool-call.input',
        ],
        'chat-completions': [
          {
            messages: [
              user('x'),
              calling(call('a', JSON.stringify({ __raw: args }))),
              response('a', 'r'),
            ],
          },
          'approximated /input/1/arguments tool-call.input',
        ],
      },
    ],
  ]),
]

/** Two calls with these ids, and their results. */
const history: Record<Covered, (one: string, other: string) => Wire> = {
  'chat-completions': (one, other) => ({
    messages: [
      user('x'),
      calling(call(one), call(other)),
      response(one, '1'),
      response(other, '2'),
    ],
  }),
  responses: (one, other) => ({
    input: [user('x'), called(one), called(other), output(one, '1'), output(other, '2')],
  }),
  messages: (one, other) => ({
    messages: [
      user('x'),
      assistant([use(one), use(other)]),
      user([result(one, '1'), result(other, '2')]),
    ],
  }),
  'generate-content': (one, other) => ({
    contents: [
      content('user', { text: 'x' }),
      content(
        'model',
        ...[one, other].map(id => ({ functionCall: { id, name: 'look', args: {} } })),
      ),
      content(
        'user',
        ...[one, other].map((id, i) => ({
          functionResponse: { id, name: 'look', response: { output: String(i + 1) } },
        })),
      ),
    ],
  }),
}

/** The ids of the calls and of the results, in the order in which they stand. */
const idsIn: Record<Covered, (body: Wire) => { calls: string[]; results: string[] }> = {
  'chat-completions': ({ messages }) => ({
    calls: (messages as Wire[]).flatMap(({ tool_calls }) =>
      ((tool_calls ?? []) as { id: string }[]).map(({ id }) => id),
    ),
    results: (messages as Wire[]).flatMap(({ tool_call_id }) =>
      typeof tool_call_id === 'string' ? [tool_call_id] : [],
    ),
  }),
  responses: ({ input }) => ({
    calls: (input as Wire[]).flatMap(({ type, call_id }) =>
      type === 'function_call' ? [String(call_id)] : [],
    ),
    results: (input as Wire[]).flatMap(({ type, call_id }) =>
      type === 'function_call_output' ? [String(call_id)] : [],
    ),
  }),
  messages: ({ messages }) => {
    const blocks = (messages as Wire[]).flatMap(({ content }) =>
      Array.isArray(content) ? (content as Wire[]) : [],
    )
    return {
      calls: blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : [])),
      results: blocks.flatMap(({ type, tool_use_id: id }) =>
        type === 'tool_result' ? [String(id)] : [],
      ),
    }
  },
  'generate-content': ({ contents }) => {
    const parts = (
      contents as {
        parts: { functionCall?: { id: string }; functionResponse?: { id: string } }[]
      }[]
    ).flatMap(one => one.parts)
    return {
      calls: parts.flatMap(({ functionCall }) => (functionCall ? [functionCall.id] : [])),
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse ? [functionResponse.id] : [],
      ),
    }
  },
}

const idRules: Record<Covered, RegExp> = {
  'chat-completions': /^[\x21-\x7e]{1,40}$/,
  responses: /^[\x21-\x7e]{1,64}$/,
  messages: /^[a-zA-Z0-9_-]{1,64}$/,
  'generate-content': /^./s,
}

const oddIds: [what: string, one: string, other: string][] = [
  ['the common ones', 'call_1', 'toolu_2'],
  ['dots and colons, as some models make them', 'functions.read:0', 'functions.read:1'],
  ['letters of other scripts', '呼び出し', 'appel_é'],
  ['blanks and quotes', 'a b', 'a"b'],
  ['a carried signature', `call_1|${'s'.repeat(416)}`, `call_2|${'s'.repeat(416)}`],
  ['64 characters', 'a'.repeat(64), `${'a'.repeat(63)}b`],
  ['65 characters', 'a'.repeat(65), `${'a'.repeat(64)}b`],
  ['the words of an object', '__proto__', 'constructor'],
]

const between = covered.flatMap(from => covered.filter(to => to !== from).map(to => ({ from, to })))

describe.each(between)('ids of $from for $to', ({ from, to }) => {
  test.each(oddIds)('%s: a result never loses its call', (_, one, other) => {
    const { body, notes, faults } = reported(from, to, history[from](one, other))
    const { calls, results } = idsIn[to](body)
    expect(calls).toHaveLength(2)
    expect(new Set(calls).size).toBe(2)
    expect(results).toEqual(calls)
    expect(faults).toEqual([])
    for (const [index, message] of [one, other].entries()) {
      const fits = idRules[to].test(message)
      if (fits) expect(calls[index]).toBe(message)
      expect(calls[index]).toMatch(idRules[to])
    }
    expect(notes.filter(note => note.endsWith(' tool-call.id'))).toHaveLength(
      [one, other].filter(id => !idRules[to].test(id)).length,
    )
  })

  test('maps an id to the same id in every later request', () => {
    const again = () =>
      idsIn[to](
        reported(from, to, history[from]('functions.read:0', `call_${'x'.repeat(80)}`)).body,
      )
    expect(again()).toEqual(again())
    const later = reported(
      from,
      to,
      history[from](`call_${'x'.repeat(80)}`, 'functions.read:0'),
    ).body
    expect([...idsIn[to](later).calls].reverse()).toEqual(again().calls)
  })
})

test('restores an id that was changed for a client', () => {
  const response = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm-1',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: { role: 'assistant', content: null, tool_calls: [call('functions.read:0')] },
      },
    ],
  }
  const { body } = translateResponse(response, { from: 'chat-completions', to: 'messages' })
  const [block] = (body as { content: Wire[] }).content
  const asks = {
    messages: [
      user('x'),
      assistant([use(String(block?.['id']))]),
      user([result(String(block?.['id']), 'r')]),
    ],
  }
  const { notes, faults } = reported('messages', 'chat-completions', asks)
  expect({ notes, faults }).toEqual({ notes: [], faults: [] })
})

test('no item is given an id of another kind: what has none says none', () => {
  const asks = {
    messages: [
      user('x'),
      { ...calling(call('call_1')), content: 'aloud' },
      response('call_1', 'r'),
    ],
  }
  const { body } = received('chat-completions', 'responses', asks)
  expect(body['input']).toEqual([
    item('user', 'x'),
    spoken('aloud'),
    called('call_1'),
    output('call_1', 'r'),
  ])
})

const pairs: Row[] = [
  [
    'of two results for one call the fresh one is sent, and the stale one is noted',
    'chat-completions',
    { messages: [user('x'), calling(call('a')), response('a', 'stale'), response('a', 'fresh')] },
    {
      messages: [
        { messages: [user('x'), assistant([use('a')]), user([result('a', 'fresh')])] },
        'dropped /messages/2 tool-result.duplicate',
      ],
      responses: [
        { input: [item('user', 'x'), called('a'), output('a', 'fresh')] },
        'dropped /messages/2 tool-result.duplicate',
      ],
    },
  ],
  [
    'of three outputs for one call the last one is sent',
    'responses',
    { input: [user('x'), called('a'), output('a', '1'), output('a', '2'), output('a', '3')] },
    {
      'chat-completions': [
        { messages: [user('x'), calling(call('a')), response('a', '3')] },
        'dropped /input/2 tool-result.duplicate',
        'dropped /input/3 tool-result.duplicate',
      ],
      messages: [
        { messages: [user('x'), assistant([use('a')]), user([result('a', '3')])] },
        'dropped /input/2 tool-result.duplicate',
        'dropped /input/3 tool-result.duplicate',
      ],
    },
  ],
  [
    'an id that is used again in a later turn is another call',
    'chat-completions',
    {
      messages: [
        user('x'),
        calling(call('a')),
        response('a', '1'),
        user('again'),
        calling(call('a')),
        response('a', '2'),
      ],
    },
    {
      messages: [
        {
          messages: [
            user('x'),
            assistant([use('a')]),
            user([result('a', '1'), text('again')]),
            assistant([use('a_2')]),
            user([result('a_2', '2')]),
          ],
        },
        'approximated /messages/4/tool_calls/0/id tool-call.id',
      ],
    },
  ],
  [
    'a call without a result gets one',
    'responses',
    { input: [user('x'), called('a'), user('never mind')] },
    {
      messages: [
        {
          messages: [
            user('x'),
            assistant([use('a')]),
            user([result('a', interrupted, { is_error: true }), text('never mind')]),
          ],
        },
        'synthesized /messages/2/content/0 tool-result.synthesized',
      ],
      'chat-completions': [
        {
          messages: [user('x'), calling(call('a')), response('a', interrupted), user('never mind')],
        },
        'synthesized /messages/2 tool-result.synthesized',
      ],
    },
  ],
  [
    'the same from a client of messages',
    'messages',
    {
      messages: [
        user('x'),
        assistant([use('a'), use('b')]),
        user([result('b', '2'), text('well')]),
      ],
    },
    {
      responses: [
        {
          input: [
            item('user', 'x'),
            called('a'),
            called('b'),
            output('a', interrupted),
            output('b', '2'),
            item('user', 'well'),
          ],
        },
        'synthesized /input/3 tool-result.synthesized',
      ],
      'chat-completions': [
        {
          messages: [
            user('x'),
            calling(call('a'), call('b')),
            response('a', interrupted),
            response('b', '2'),
            user('well'),
          ],
        },
        'synthesized /messages/2 tool-result.synthesized',
      ],
    },
  ],
  [
    'a result whose call was cut off the history is text of the user',
    'chat-completions',
    { messages: [user('x'), response('gone', 'r'), user('y')] },
    {
      messages: [
        { messages: [user('x'), user('r'), user('y')] },
        'approximated /messages/1 tool-result.orphan-as-text',
      ],
      responses: [
        { input: [item('user', 'x'), item('user', 'r'), item('user', 'y')] },
        'approximated /messages/1 tool-result.orphan-as-text',
      ],
    },
  ],
]

test.each(each([...empty, ...pairs]))(
  '$seen: $from → $to',
  ({ from, to, asks, options, wanted }) => {
    expect(reported(from, to, asks, options)).toEqual(wanted)
  },
)
