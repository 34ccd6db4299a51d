import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../../src/api.ts'
import { protocolNames } from '../../../src/protocols/index.ts'
import { responses } from '../../../src/protocols/responses/index.ts'
import { framesOf } from '../../../src/testing/streams.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { explodeResponse, translateRequest, translateResponse } from '../../support/untyped.ts'

const tools = [
  { type: 'shell', environment: { type: 'local' } },
  { type: 'local_shell' },
  { type: 'apply_patch' },
]
const names = ['shell', 'local_shell', 'apply_patch']
const received = (more: object = {}) => ({
  model: 'm',
  input: [{ role: 'user', content: 'q' }],
  tools,
  ...more,
})
const others = protocolNames.filter(name => name !== 'responses')

const history = [
  { role: 'user', content: 'q' },
  {
    type: 'shell_call',
    id: 'sh_1',
    call_id: 'call_1',
    status: 'completed',
    action: { commands: ['ls'], timeout_ms: null, max_output_length: null },
    environment: null,
  },
  {
    type: 'shell_call_output',
    call_id: 'call_1',
    output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
  },
  {
    type: 'local_shell_call',
    id: 'lsh_1',
    call_id: 'call_2',
    status: 'completed',
    action: { type: 'exec', command: ['pwd'], env: {} },
  },
  { type: 'local_shell_call_output', id: 'lsh_1', output: '/home' },
  {
    type: 'apply_patch_call',
    id: 'apc_1',
    call_id: 'call_3',
    status: 'completed',
    operation: { type: 'delete_file', path: 'a.txt' },
  },
  { type: 'apply_patch_call_output', call_id: 'call_3', status: 'failed', output: 'no such file' },
]

const calls = [
  [
    'shell',
    { commands: ['ls'], timeout_ms: 5 },
    { type: 'shell_call', action: { commands: ['ls'], timeout_ms: 5, max_output_length: null } },
  ],
  [
    'local_shell',
    { command: ['pwd'] },
    { type: 'local_shell_call', action: { type: 'exec', command: ['pwd'], env: {} } },
  ],
  [
    'apply_patch',
    { type: 'update_file', path: 'a', diff: '+b' },
    { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a', diff: '+b' } },
  ],
] as const

describe('tools of the client', () => {
  test.each(others)('become functions of %s when the option is set', to => {
    const { body, notes } = translateRequest(received(), {
      from: 'responses',
      to,
      tools: { expandClientTools: true },
    })
    for (const name of names) expect(JSON.stringify(body)).toContain(`"name":"${name}"`)
    expect(notes.filter(({ code }) => code === 'tool.expanded').map(({ path }) => path)).toEqual([
      '/tools/0',
      '/tools/1',
      '/tools/2',
    ])
  })

  test('are dropped with a note when the option is not set', () => {
    const { notes } = translateRequest(
      received({
        tools: [...tools, { type: 'function', name: 'f', parameters: {}, strict: false }],
      }),
      {
        from: 'responses',
        to: 'messages',
      },
    )
    expect(notes.filter(({ code }) => code === 'tool.server').map(({ path }) => path)).toEqual([
      '/tools/0',
      '/tools/1',
      '/tools/2',
    ])
  })

  test('stay tools of the provider when a function has their name or a container runs them', () => {
    const twice = [
      { type: 'apply_patch' },
      { type: 'function', name: 'apply_patch', parameters: {}, strict: false },
      { type: 'shell', environment: { type: 'container_auto' } },
    ]
    const { body, notes } = translateRequest(received({ tools: twice }), {
      from: 'responses',
      to: 'messages',
      tools: { expandClientTools: true },
    })
    expect(body).toMatchObject({ tools: [{ name: 'apply_patch' }] })
    expect(notes.filter(({ code }) => code === 'tool.server').map(({ path }) => path)).toEqual([
      '/tools/0',
      '/tools/2',
    ])
  })

  test('can be forced', () => {
    const { body } = translateRequest(received({ tool_choice: { type: 'apply_patch' } }), {
      from: 'responses',
      to: 'messages',
      tools: { expandClientTools: true },
    })
    expect(body).toMatchObject({ tool_choice: { type: 'tool', name: 'apply_patch' } })
  })

  test('keep their calls and results in the history', () => {
    const { body, notes } = translateRequest(received({ input: history }), {
      from: 'responses',
      to: 'messages',
      tools: { expandClientTools: true },
    })
    expect(body).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'shell', input: { commands: ['ls'] } }],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: expect.stringContaining('a.txt'),
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: 'call_2',
              name: 'local_shell',
              input: { command: ['pwd'], env: {} },
            },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_2', content: '/home' }],
        },
        {
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: 'call_3',
              name: 'apply_patch',
              input: { type: 'delete_file', path: 'a.txt' },
            },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_3', content: 'no such file', is_error: true },
          ],
        },
      ],
    })
    expect(
      notes.filter(({ code }) => code.startsWith('server-tool') || code.endsWith('.unknown')),
    ).toEqual([])
  })
})

describe('a call of such a tool', () => {
  const { context } = translateRequest(received(), {
    from: 'responses',
    to: 'messages',
    tools: { expandClientTools: true },
  })
  const response = (name: string, input: unknown) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'tool_use', id: 'toolu_1', name, input }],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  const streamed = (name: string, input: unknown) => {
    const text = JSON.stringify(input)
    const { stop_reason, content: _, ...message } = response(name, input)
    return [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: text.slice(0, 5) },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: text.slice(5) },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: 2 },
      },
      { type: 'message_stop' },
    ]
  }

  test.each(calls)('comes back as its own item when the tool is %s', (name, input, item) => {
    const { body } = translateResponse(response(name, input), {
      from: 'messages',
      to: 'responses',
      context,
    })
    expect(body).toMatchObject({
      status: 'completed',
      output: [{ ...item, call_id: 'toolu_1', status: 'completed' }],
      tools,
    })
  })

  test.each(calls)(
    'comes back as its own item of a stream when the tool is %s',
    (name, input, item) => {
      const translator = createStreamTranslator({ from: 'messages', to: 'responses', context })
      const text = streamed(name, input)
        .map(event => translator.push(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
        .join('')
      const wires = framesOf(text + translator.end()).map(({ wire }) => wire)
      expect(strictOf('responses').checkStream(wires)).toEqual([])
      expect(wires.filter(wire => JSON.stringify(wire).includes('function_call'))).toEqual([])
      expect(wires.at(-2)).toMatchObject({
        type: 'response.completed',
        response: { output: [{ ...item, call_id: 'toolu_1' }] },
      })
    },
  )

  test('stays a function call with a note when its arguments are not those of the tool', () => {
    const { body, notes } = translateResponse(response('shell', { command: 'ls' }), {
      from: 'messages',
      to: 'responses',
      context,
    })
    expect(body).toMatchObject({
      output: [{ type: 'function_call', name: 'shell', arguments: '{"command":"ls"}' }],
    })
    expect(
      notes.filter(({ code }) => code === 'client-call.as-function').map(({ path }) => path),
    ).toEqual(['/content/0/input'])
  })
})

describe('a tool search that the client runs', () => {
  const parameters = {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
  }
  const search = {
    type: 'tool_search',
    execution: 'client',
    description: 'Finds tools.',
    parameters,
  }
  const found = {
    type: 'function',
    name: 'found',
    description: 'Found.',
    parameters: { type: 'object' },
    strict: false,
    defer_loading: true,
  }
  const searched = [
    { role: 'user', content: 'q' },
    {
      type: 'tool_search_call',
      call_id: 'call_1',
      execution: 'client',
      arguments: { query: 'x' },
      status: 'completed',
    },
    {
      type: 'tool_search_output',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      tools: [found],
    },
  ]

  test.each(others)(
    'is a function of %s, also alone, with its own description and parameters',
    to => {
      const { body, notes } = translateRequest(received({ tools: [search] }), {
        from: 'responses',
        to,
      })
      expect(JSON.stringify(body)).toContain('"name":"tool_search"')
      expect(JSON.stringify(body)).toContain('Finds tools.')
      expect(JSON.stringify(body)).toContain('"query"')
      expect(
        notes
          .filter(({ code }) => code.startsWith('tool.'))
          .map(({ code, path }) => `${code} ${path}`),
      ).toEqual(['tool.expanded /tools/0'])
      expect(strictOf(to).checkRequest(body)).toEqual([])
    },
  )

  test.each(others)(
    'has its calls and results in the history toward %s, and what it found can be called',
    to => {
      const { body, notes } = translateRequest(received({ tools: [search], input: searched }), {
        from: 'responses',
        to,
      })
      const text = JSON.stringify(body)
      expect(text).toContain('"found"')
      expect(text).not.toContain('defer_loading')
      expect(text.match(/tool_search/g)?.length).toBeGreaterThan(1)
      expect(strictOf(to).checkRequest(body)).toEqual([])
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(
        expect.arrayContaining([
          'tool.loaded /input/2/tools/0/defer_loading',
          'tool.added-late /input/2',
        ]),
      )
      expect(
        notes.filter(
          ({ kind, path }) =>
            kind === 'dropped' && path.startsWith('/input') && !path.endsWith('/status'),
        ),
      ).toEqual([])
    },
  )

  test.each(others)('names what it found in a namespace as the model of %s calls it', to => {
    const spaced = {
      type: 'namespace',
      name: 'ns',
      description: 'N',
      tools: [{ ...found, name: 'inner' }],
    }
    const input = [...searched.slice(0, 2), { ...searched[2], tools: [spaced] }]
    const text = JSON.stringify(
      translateRequest(received({ tools: [search], input }), { from: 'responses', to }).body,
    )
    expect(text).toContain('"name":"ns__inner"')
    expect(text.replaceAll('\\', '')).toContain(
      '{"tools":[{"name":"ns__inner","description":"Found."}]}',
    )
  })

  const called = {
    'chat-completions': {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'call_1',
                type: 'function',
                function: { name: 'tool_search', arguments: '{"query":"x"}' },
              },
            ],
          },
        },
      ],
    },
    messages: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'tool_use', id: 'call_1', name: 'tool_search', input: { query: 'x' } }],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    'generate-content': {
      candidates: [
        {
          index: 0,
          finishReason: 'STOP',
          content: {
            role: 'model',
            parts: [{ functionCall: { id: 'call_1', name: 'tool_search', args: { query: 'x' } } }],
          },
        },
      ],
    },
  }
  const call = {
    type: 'tool_search_call',
    call_id: 'call_1',
    execution: 'client',
    arguments: { query: 'x' },
    status: 'completed',
  }

  test.each(['chat-completions', 'messages', 'generate-content'] as const)(
    'gets the call of a model of %s as a tool_search_call, whole and streamed',
    from => {
      const { context } = translateRequest(received({ tools: [search] }), {
        from: 'responses',
        to: from,
      })
      const { body } = translateResponse(called[from], { from, to: 'responses', context })
      expect(body).toMatchObject({ output: [call] })
      const stream = createStreamTranslator({ from, to: 'responses', context })
      const text = stream.push(explodeResponse(called[from], { protocol: from })) + stream.end()
      const done = framesOf(text)
        .map(({ wire }) => wire as { type?: string })
        .filter(({ type }) => type === 'response.output_item.done')
      expect(done).toMatchObject([{ item: call }])
    },
  )
})

test.each(['chat-completions', 'messages', 'generate-content'] as const)(
  'removes `encrypted` annotations from tool schemas toward %s',
  to => {
    const parameters = {
      type: 'object',
      properties: { task: { type: 'string', encrypted: true }, encrypted: { type: 'boolean' } },
    }
    const { body, notes } = translateRequest(
      {
        model: 'm',
        input: 'Hi',
        tools: [{ type: 'function', name: 'f', strict: false, parameters }],
      },
      { from: 'responses', to },
    )
    expect(JSON.stringify(body)).not.toContain('"encrypted":true')
    expect(JSON.stringify(body)).toContain('"encrypted":{"type":"boolean"}')
    expect(notes).toContainEqual(
      expect.objectContaining({ code: 'tool.annotation', path: '/tools/0/parameters' }),
    )
  },
)

describe('`encrypted` annotations in the schema of a response', () => {
  const format = (more: object) => ({
    type: 'json_schema',
    name: 'n',
    schema: {
      type: 'object',
      properties: { task: { type: 'string', ...more }, encrypted: { type: 'boolean' } },
      required: ['task', 'encrypted'],
      additionalProperties: false,
    },
  })
  const body = { model: 'm', input: 'Hi', text: { format: format({ encrypted: true }) } }

  test.each(['chat-completions', 'messages', 'generate-content'] as const)(
    'are removed toward %s',
    to => {
      const { body: wire, notes } = translateRequest(body, { from: 'responses', to })
      expect(JSON.stringify(wire)).not.toContain('"encrypted":true')
      expect(JSON.stringify(wire)).toContain('"encrypted":{"type":"boolean"}')
      expect(notes).toContainEqual(
        expect.objectContaining({ code: 'tool.annotation', path: '/text/format/schema' }),
      )
    },
  )

  test('stay within the protocol, unless the schema has changed', () => {
    const { value } = responses.decodeRequest(body)
    expect(responses.encodeRequest(value).wire).toMatchObject({ text: body.text })
    const changed = {
      ...value,
      output: { format: { type: 'schema' as const, name: 'n', schema: { type: 'object' } } },
    }
    expect(responses.encodeRequest(changed).wire).toMatchObject({
      text: { format: { schema: { type: 'object' } } },
    })
    expect(JSON.stringify(responses.encodeRequest(changed).wire)).not.toContain('encrypted')
  })
})
