import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { TranslationError } from '../../src/errors.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { type Covered, covered } from '../support/covered.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'
import {
  call,
  called,
  calling,
  content,
  each,
  item,
  type Row,
  reported,
  use,
  user,
  type Wire,
} from './asking.ts'

const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }

/** The same function in the words of each protocol. */
const define: Record<Covered, (name: string) => Wire> = {
  'chat-completions': name => ({ type: 'function', function: { name, parameters: schema } }),
  responses: name => ({ type: 'function', name, parameters: schema, strict: false }),
  messages: name => ({ name, input_schema: schema }),
  'generate-content': name => ({ functionDeclarations: [{ name, parametersJsonSchema: schema }] }),
}
const say: Record<Covered, Wire> = {
  'chat-completions': { messages: [user('x')] },
  responses: { input: [user('x')] },
  messages: { messages: [user('x')] },
  'generate-content': { contents: [content('user', { text: 'x' })] },
}
const pairsOf = (names: readonly Covered[]) =>
  names.flatMap(from => names.filter(to => to !== from).map(to => ({ from, to })))
const pairs = pairsOf(covered)

const configured = (mode: string, ...names: string[]): Wire => ({
  functionCallingConfig: { mode, ...(names.length > 0 && { allowedFunctionNames: names }) },
})
/** Where the choice of tools is. */
const choiceIn = (protocol: Covered) =>
  protocol === 'generate-content' ? 'toolConfig' : 'tool_choice'

describe.each(pairs)('choices of $from for $to', ({ from, to }) => {
  const choices: [what: string, spelled: Record<Covered, unknown>][] = [
    [
      'any tool or none',
      {
        'chat-completions': 'auto',
        responses: 'auto',
        messages: { type: 'auto' },
        'generate-content': configured('AUTO'),
      },
    ],
    [
      'no tool',
      {
        'chat-completions': 'none',
        responses: 'none',
        messages: { type: 'none' },
        'generate-content': configured('NONE'),
      },
    ],
    [
      'some tool',
      {
        'chat-completions': 'required',
        responses: 'required',
        messages: { type: 'any' },
        'generate-content': configured('ANY'),
      },
    ],
    [
      'this tool',
      {
        'chat-completions': { type: 'function', function: { name: 'g' } },
        responses: { type: 'function', name: 'g' },
        messages: { type: 'tool', name: 'g' },
        'generate-content': configured('ANY', 'g'),
      },
    ],
  ]
  const tools = (protocol: Covered) => ({
    ...say[protocol],
    tools: ['f', 'g'].map(define[protocol]),
  })

  test.each(choices)('keeps the choice %s', (_, spelled) => {
    const { body, notes, faults } = reported(from, to, {
      ...tools(from),
      [choiceIn(from)]: spelled[from],
    })
    expect({ choice: body[choiceIn(to)], notes, faults }).toEqual({
      choice: spelled[to],
      notes: [],
      faults: [],
    })
    expect(body['parallel_tool_calls']).toBe(undefined)
  })

  // This wire has no field for it: in a request to it, it is noted; requests from it never have it.
  if (to === 'generate-content')
    test('notes a dropped limit of one call at a time', () => {
      const flag =
        from === 'messages'
          ? { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }
          : { parallel_tool_calls: false }
      expect(reported(from, to, { ...tools(from), ...flag }).notes).toEqual([
        `dropped /${from === 'messages' ? 'tool_choice/disable_parallel_tool_use' : 'parallel_tool_calls'} field.unsupported`,
      ])
    })
  const sayable =
    from === 'generate-content' || to === 'generate-content'
      ? []
      : [...choices, ['nothing', undefined] as const]
  for (const [what, spelled] of sayable)
    test(`limits calls to one at a time with ${what}`, () => {
      const one = (protocol: Covered) => {
        const choice = spelled?.[protocol]
        if (protocol !== 'messages')
          return {
            ...(choice !== undefined && { tool_choice: choice }),
            parallel_tool_calls: false,
          }
        // No call at all is no two calls.
        return {
          tool_choice:
            what === 'no tool'
              ? choice
              : { type: 'auto', ...(choice as Wire | undefined), disable_parallel_tool_use: true },
        }
      }
      const { body, notes } = reported(from, to, { ...tools(from), ...one(from) })
      const { tool_choice, parallel_tool_calls } = one(to) as Wire
      const unreported = from === 'messages' && what === 'no tool'
      // Messages has no place for the flag but in a choice.
      const wanted = from === 'messages' && what === 'nothing' ? 'auto' : tool_choice
      expect({ choice: body['tool_choice'], parallel: body['parallel_tool_calls'], notes }).toEqual(
        {
          choice: wanted,
          parallel: unreported ? undefined : parallel_tool_calls,
          notes: [],
        },
      )
    })
})

const none = { type: 'object', properties: {} }
const webSearch = {
  type: 'web_search_20250305',
  name: 'web_search',
  max_uses: 2,
  allowed_domains: ['news.test'],
}
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
}
const wrapped = {
  name: 'apply_patch',
  description: 'Edits.',
  input_schema: {
    type: 'object',
    properties: {
      input: { type: 'string', description: 'Raw text. Must match this lark grammar:\nstart: "x"' },
    },
    required: ['input'],
    additionalProperties: false,
  },
}
const { input_schema: parameters, ...patchWords } = wrapped
const chatPatch = { type: 'function', function: { ...patchWords, parameters } }
const space = {
  type: 'namespace',
  name: 'mcp',
  description: 'Remote.',
  tools: [{ type: 'function', name: 'get', parameters: schema, strict: false }],
}

const rows: Row[] = [
  ...[undefined, null].map(
    (parameters): Row => [
      `a tool without parameters (${parameters}) does not disappear`,
      'chat-completions',
      {
        ...say['chat-completions'],
        tools: [
          { type: 'function', function: { name: 'ping', parameters } },
          define['chat-completions']('f'),
        ],
      },
      {
        messages: [
          { ...say.messages, tools: [{ name: 'ping', input_schema: none }, define.messages('f')] },
        ],
        responses: [
          {
            input: [item('user', 'x')],
            tools: [
              { type: 'function', name: 'ping', parameters: null, strict: false },
              define.responses('f'),
            ],
          },
        ],
      },
    ],
  ),
  [
    'a tool without a schema does not disappear',
    'messages',
    { ...say.messages, tools: [{ name: 'ping' }, { name: 'pong', input_schema: none }] },
    {
      'chat-completions': [
        {
          ...say['chat-completions'],
          tools: [
            { type: 'function', function: { name: 'ping' } },
            { type: 'function', function: { name: 'pong', parameters: none } },
          ],
        },
      ],
      responses: [
        {
          input: [item('user', 'x')],
          tools: [
            { type: 'function', name: 'ping', parameters: null, strict: false },
            { type: 'function', name: 'pong', parameters: none, strict: false },
          ],
        },
      ],
    },
  ],
  [
    'a tool that the provider runs becomes no function without parameters',
    'messages',
    { ...say.messages, tools: [webSearch, define.messages('f')] },
    {
      'chat-completions': [
        { ...say['chat-completions'], tools: [define['chat-completions']('f')] },
        'dropped /tools/0 tool.server',
      ],
      responses: [
        { input: [item('user', 'x')], tools: [define.responses('f')] },
        'dropped /tools/0 tool.server',
      ],
    },
  ],
  [
    'tools that the provider runs become no functions',
    'responses',
    {
      ...say.responses,
      tools: [
        { type: 'web_search' },
        define.responses('f'),
        { type: 'file_search', vector_store_ids: ['vs_1'] },
        { type: 'newest_tool' },
      ],
    },
    {
      'chat-completions': [
        {
          ...say['chat-completions'],
          tools: [{ type: 'function', function: { name: 'f', parameters: schema, strict: false } }],
        },
        'dropped /tools/3 tool.unknown',
        'dropped /tools/0 tool.server',
        'dropped /tools/2 tool.server',
      ],
      messages: [
        { ...say.messages, tools: [define.messages('f')] },
        'dropped /tools/0 tool.server',
        'dropped /tools/2 tool.server',
        'dropped /tools/3 tool.unknown',
      ],
    },
  ],
  [
    'fields that only one vendor knows do not leak to those who refuse them',
    'messages',
    {
      ...say.messages,
      tools: [
        {
          ...define.messages('f'),
          defer_loading: true,
          input_examples: [{ q: 'a' }],
          eager_input_streaming: true,
          allowed_callers: ['direct'],
        },
      ],
    },
    {
      'chat-completions': [
        { ...say['chat-completions'], tools: [define['chat-completions']('f')] },
        'dropped /tools/0/defer_loading field.unsupported',
        'dropped /tools/0/input_examples field.unsupported',
        'dropped /tools/0/eager_input_streaming field.unsupported',
      ],
      responses: [
        {
          input: [item('user', 'x')],
          tools: [{ ...define.responses('f'), allowed_callers: ['direct'] }],
        },
        'dropped /tools/0/input_examples field.unsupported',
        'dropped /tools/0/eager_input_streaming field.unsupported',
        'approximated /tools/0/defer_loading tool.loaded',
      ],
    },
  ],
  [
    'a search that is mapped notes what its new provider does not accept',
    'messages',
    { ...say.messages, tools: [webSearch] },
    {
      'chat-completions': [
        { ...say['chat-completions'], web_search_options: {} },
        'approximated /tools/0 tool.server-mapped',
        'dropped /tools/0/max_uses field.unsupported',
        'dropped /tools/0/allowed_domains field.unsupported',
      ],
      responses: [
        {
          input: [item('user', 'x')],
          tools: [{ type: 'web_search', filters: { allowed_domains: ['news.test'] } }],
        },
        'approximated /tools/0 tool.server-mapped',
        'dropped /tools/0/max_uses field.unsupported',
      ],
    },
    { tools: { serverTools: 'map' } },
  ],
  [
    'a tool that is declared inside the input is a tool and no message',
    'responses',
    {
      input: [
        { type: 'additional_tools', role: 'developer', tools: [define.responses('late')] },
        user('x'),
      ],
      tools: [define.responses('f')],
    },
    {
      'chat-completions': [
        {
          ...say['chat-completions'],
          tools: ['f', 'late'].map(name => ({
            type: 'function',
            function: { name, parameters: schema, strict: false },
          })),
        },
        'approximated /input/0 tool.added-late',
      ],
      messages: [
        { ...say.messages, tools: ['f', 'late'].map(define.messages) },
        'approximated /input/0 tool.added-late',
      ],
    },
  ],
  [
    'a tool that takes text is kept, with its grammar',
    'responses',
    { ...say.responses, tools: [patch], tool_choice: { type: 'custom', name: 'apply_patch' } },
    {
      'chat-completions': [
        {
          ...say['chat-completions'],
          tools: [chatPatch],
          tool_choice: { type: 'function', function: { name: 'apply_patch' } },
        },
        'approximated /tools/0 freeform.wrapped',
      ],
      messages: [
        { ...say.messages, tools: [wrapped], tool_choice: { type: 'tool', name: 'apply_patch' } },
        'approximated /tools/0 freeform.wrapped',
      ],
    },
  ],
  [
    'a past call with text is no call with broken arguments',
    'responses',
    {
      input: [
        user('x'),
        { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** "é"\n' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' },
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('x'),
            calling(call('c', JSON.stringify({ input: '*** "é"\n' }), 'apply_patch')),
            { role: 'tool', tool_call_id: 'c', content: 'ok' },
          ],
        },
        'approximated /input/1 freeform.wrapped',
      ],
      messages: [
        {
          messages: [
            user('x'),
            { role: 'assistant', content: [use('c', { input: '*** "é"\n' }, 'apply_patch')] },
            user([{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }]),
          ],
        },
        'approximated /input/1 freeform.wrapped',
      ],
    },
  ],
  [
    'tools of a namespace are functions with its name, also where one is forced',
    'responses',
    {
      input: [
        user('x'),
        { ...called('c', '{}', 'get'), namespace: 'mcp' },
        { type: 'function_call_output', call_id: 'c', output: 'r' },
      ],
      tools: [space],
      tool_choice: { type: 'function', name: 'get' },
    },
    {
      'chat-completions': [
        {
          messages: [
            user('x'),
            calling(call('c', '{}', 'mcp__get')),
            { role: 'tool', tool_call_id: 'c', content: 'r' },
          ],
          tools: [
            { type: 'function', function: { name: 'mcp__get', parameters: schema, strict: false } },
          ],
          tool_choice: { type: 'function', function: { name: 'mcp__get' } },
        },
        'approximated /tools/0/name tool.namespace',
        'dropped /tools/0/description field.unsupported',
      ],
      messages: [
        {
          messages: [
            user('x'),
            { role: 'assistant', content: [use('c', {}, 'mcp__get')] },
            user([{ type: 'tool_result', tool_use_id: 'c', content: 'r' }]),
          ],
          tools: [define.messages('mcp__get')],
          tool_choice: { type: 'tool', name: 'mcp__get' },
        },
        'approximated /tools/0/name tool.namespace',
        'dropped /tools/0/description field.unsupported',
      ],
    },
  ],
  [
    'a choice without any tool makes no server refuse the request',
    'responses',
    { ...say.responses, tools: [], tool_choice: 'auto', parallel_tool_calls: true },
    { 'chat-completions': [{ ...say['chat-completions'] }], messages: [{ ...say.messages }] },
  ],
  [
    'a forced choice without any tool is noted',
    'responses',
    { ...say.responses, tool_choice: 'required', parallel_tool_calls: false },
    {
      'chat-completions': [
        { ...say['chat-completions'] },
        'dropped /tool_choice tool-choice.without-tools',
        'dropped /parallel_tool_calls tool-choice.without-tools',
      ],
      messages: [
        { ...say.messages },
        'dropped /tool_choice tool-choice.without-tools',
        'dropped /parallel_tool_calls tool-choice.without-tools',
      ],
    },
  ],
]

test.each(each(rows))('$seen: $from → $to', ({ from, to, asks, options, wanted }) => {
  expect(reported(from, to, asks, options)).toEqual(wanted)
})

test.each<[seen: string, from: Covered, asks: Wire]>([
  ['the only tool', 'messages', { ...say.messages, tools: [webSearch] }],
  [
    'the forced tool',
    'messages',
    {
      ...say.messages,
      tools: [webSearch, define.messages('f')],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
  ],
  ['the only tool', 'responses', { ...say.responses, tools: [{ type: 'web_search' }] }],
  [
    'the forced tool',
    'responses',
    {
      ...say.responses,
      tools: [{ type: 'web_search' }, define.responses('f')],
      tool_choice: { type: 'web_search' },
    },
  ],
])('refuses %s, which only %s can run, with its path', (seen, from, asks) => {
  for (const { to } of pairs.filter(pair => pair.from === from)) {
    let thrown: unknown
    try {
      reported(from, to, asks)
    } catch (error) {
      thrown = error
    }
    if (!TranslationError.is(thrown)) throw new Error(`${to}: nothing was thrown`)
    expect(thrown.code).toBe('inexpressible')
    expect(thrown.path).toMatch(seen === 'the only tool' ? /^\/tools/ : /^\/tool_choice/)
  }
})

describe('tool names that the target refuses', () => {
  const long = `mcp__${'files_'.repeat(11)}read`
  const odd: [what: string, ...names: string[]][] = [
    ['longer than 64', long],
    ['two that are alike in their first 64 letters', `${long}_a`, `${long}_b`],
    ['a dot, beside one that has an underscore there', 'files.read', 'files_read'],
    ['other scripts', '調べる', '探す'],
    ['words of an object', '__proto__', 'constructor'],
  ]
  const rules: Record<Covered, RegExp> = {
    'chat-completions': /^[\w-]{1,64}$/,
    responses: /^[\w-]{1,128}$/,
    messages: /^[\w-]{1,128}$/,
    'generate-content': /^[a-zA-Z_][\w.:-]{0,127}$/,
  }
  const namesIn = (body: Wire) =>
    (body['tools'] as Wire[])
      .flatMap(tool => (tool['functionDeclarations'] as Wire[] | undefined) ?? [tool])
      .map(tool => String((tool['function'] as Wire | undefined)?.['name'] ?? tool['name']))

  const responses: Record<Covered, (names: string[]) => Wire> = {
    'chat-completions': names => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm-1',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: calling(...names.map((name, index) => call(`c${index}`, '{}', name))),
        },
      ],
    }),
    responses: names => ({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'm-1',
      status: 'completed',
      output: names.map((name, index) => ({
        ...called(`c${index}`, '{}', name),
        id: `fc_${index}`,
        status: 'completed',
      })),
    }),
    messages: names => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      content: names.map((name, index) => use(`c${index}`, {}, name)),
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    'generate-content': names => ({
      candidates: [
        {
          index: 0,
          content: content(
            'model',
            ...names.map((name, index) => ({ functionCall: { id: `c${index}`, name, args: {} } })),
          ),
          finishReason: 'STOP',
        },
      ],
      modelVersion: 'm-1',
      responseId: 'r1',
    }),
  }
  const calledIn = (body: unknown) =>
    [...JSON.stringify(body).matchAll(/"name":"((?:[^"\\]|\\.)*)"/g)].map(([, name]) =>
      JSON.parse(`"${name}"`),
    )

  describe.each(pairs)('$from → $to', ({ from, to }) => {
    test.each(odd)('%s: the target takes them, and the client gets back its own', (_, ...names) => {
      const asks = { ...say[from], tools: names.map(define[from]) }
      const { body, notes, faults } = reported(from, to, asks)
      const written = namesIn(body)
      expect(faults).toEqual([])
      expect(new Set(written).size).toBe(names.length)
      for (const name of written) expect(name).toMatch(rules[to])
      expect(notes.filter(note => note.endsWith(' tool.renamed'))).toHaveLength(
        names.filter(name => !rules[to].test(name)).length,
      )

      const { context } = translateRequest(
        { model: 'm-1', ...(from === 'messages' && { max_tokens: 9 }), ...asks },
        { from, to },
      )
      const kept = JSON.parse(JSON.stringify(context)) as typeof context
      const response = translateResponse(responses[to](written), {
        from: to,
        to: from,
        context: kept,
        now: 1,
      }).body
      const { tools: _tools, ...result } = response as Wire
      expect(calledIn(result)).toEqual(names)
    })
  })

  test('the client gets back its own name in a stream, too', () => {
    const { body, context } = translateRequest(
      { model: 'm-1', max_tokens: 9, ...say.messages, tools: [define.messages(long)] },
      { from: 'messages', to: 'chat-completions' },
    )
    const [short] = namesIn(body as Wire)
    const chunk = (delta: Wire, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm-1', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const translator = createStreamTranslator({ from: 'chat-completions', to: 'messages', context })
    const text =
      translator.push(
        chunk({
          tool_calls: [
            { index: 0, id: 'c0', type: 'function', function: { name: short, arguments: '{}' } },
          ],
        }) + chunk({}, 'tool_calls'),
      ) +
      translator.push('data: [DONE]\n\n') +
      translator.end()
    const block = framesOf(text).find(({ event }) => event === 'content_block_start')?.wire as {
      content_block: Wire
    }
    expect(block.content_block).toMatchObject({ type: 'tool_use', name: long })
  })
})

test('restores the text of a custom tool call, and the namespace of a namespaced one', () => {
  const asks = { model: 'm-1', ...say.responses, tools: [patch, space] }
  const { context } = translateRequest(asks, { from: 'responses', to: 'messages' })
  const response = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    content: [use('c1', { input: '*** "é"\n' }, 'apply_patch'), use('c2', { q: 'a' }, 'mcp__get')],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const { body } = translateResponse(response, {
    from: 'messages',
    to: 'responses',
    context,
    now: 1,
  })
  expect((body as { output: Wire[] }).output).toMatchObject([
    { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** "é"\n' },
    { type: 'function_call', call_id: 'c2', name: 'get', namespace: 'mcp', arguments: '{"q":"a"}' },
  ])
})
