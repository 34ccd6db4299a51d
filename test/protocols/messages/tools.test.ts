import { describe, expect, test } from 'vitest'
import { type TranslateOptions, TranslationError } from '../../../src/index.ts'
import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'

type Wire = { [key: string]: unknown; messages: { role: string; content: unknown }[] }

/** A request of the responses protocol, as it is written here. */
function write(body: object, options: Partial<TranslateOptions> = {}) {
  const received = { model: 'claude-opus-5', max_output_tokens: 100, input: 'x', ...body }
  const {
    body: wire,
    notes,
    context,
  } = translateRequest(received, { from: 'responses', to: 'messages', ...options })
  return { wire: wire as Wire, notes: notes.map(({ code, path }) => `${code} ${path}`), context }
}

const refusal = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (TranslationError.is(error)) return `${error.code} ${error.path}`
    throw error
  }
  return 'nothing'
}

const named = (name: string) => ({
  type: 'function',
  name,
  parameters: { type: 'object' },
  strict: false,
})
const search = {
  type: 'web_search',
  filters: { allowed_domains: ['a.org'] },
  user_location: { type: 'approximate', city: 'B' },
}

describe('tools that another provider runs', () => {
  test.each<[string, object, string]>([
    ['are refused when they are the only ones', { tools: [search] }, 'inexpressible /tools/0'],
    [
      'are refused when one of them is forced',
      { tools: [search, named('w')], tool_choice: { type: 'web_search' } },
      'inexpressible /tool_choice',
    ],
    ['are left out beside others', { tools: [search, named('w')] }, 'nothing'],
    [
      'are left out beside others that are forced',
      { tools: [search, named('w')], tool_choice: 'required' },
      'nothing',
    ],
  ])('%s', (_, body, expected) => {
    expect(refusal(() => write(body))).toBe(expected)
  })

  test('are noted instead on request', () => {
    const { wire, notes } = write(
      { tools: [search, named('w')], tool_choice: { type: 'web_search' } },
      { onUnresolvable: 'note' },
    )
    expect(wire['tools']).toHaveLength(1)
    expect(notes).toEqual(['tool.server /tools/0', 'tool.server /tool_choice'])
  })

  test.each<[string, object, object]>([
    [
      'a web search',
      search,
      {
        type: 'web_search_20250305',
        name: 'web_search',
        allowed_domains: ['a.org'],
        user_location: { type: 'approximate', city: 'B' },
      },
    ],
    [
      'code execution',
      { type: 'code_interpreter', container: { type: 'auto' } },
      { type: 'code_execution_20250825', name: 'code_execution' },
    ],
    [
      'a search for tools',
      { type: 'tool_search' },
      { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    ],
  ])('%s becomes the nearest one', (_, tool, expected) => {
    const { wire, notes } = write({ tools: [tool] }, { tools: { serverTools: 'map' } })
    expect(wire['tools']).toEqual([expected])
    expect(notes).toEqual(['tool.server-mapped /tools/0'])
  })

  test('are forced by their name in messages', () => {
    const { wire } = write(
      {
        tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
        tool_choice: { type: 'code_interpreter' },
      },
      { tools: { serverTools: 'map' } },
    )
    expect(wire['tool_choice']).toEqual({ type: 'tool', name: 'code_execution' })
  })

  test('are merged when they become the same tool', () => {
    const { wire, notes } = write(
      { tools: [search, { type: 'web_search_preview' }] },
      { tools: { serverTools: 'map' } },
    )
    expect(wire['tools']).toHaveLength(1)
    expect(notes).toEqual(['tool.server-mapped /tools/0', 'tool.server-mapped /tools/1'])
  })

  test('a forced one of this provider is distinguished from a function', () => {
    const body = {
      model: 'm',
      messages: [],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    }
    const { value } = messages.decodeRequest(body)
    expect(value.toolChoice).toMatchObject({ mode: 'tool', kind: 'server', name: 'web_search' })
    expect(messages.encodeRequest(value)).toMatchObject({ wire: body, notes: [] })
  })

  const past = [
    { role: 'user', content: 'q' },
    {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'weather' },
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'sun' }] },
    { role: 'user', content: 'r' },
  ]

  test('past uses are left out', () => {
    expect(write({ input: past })).toMatchObject({
      wire: {
        messages: [{ content: 'q' }, { role: 'assistant', content: 'sun' }, { content: 'r' }],
      },
      notes: ['server-tool.dropped /input/1'],
    })
  })
})

describe('who may call a tool', () => {
  test.each<[string, string[] | undefined, object, unknown, string[]]>([
    ['the model itself', ['direct'], {}, ['direct'], []],
    [
      'code of another provider',
      ['direct', 'programmatic'],
      {},
      ['direct'],
      ['field.unsupported /tools/0/allowed_callers'],
    ],
    [
      'only code of another provider',
      ['programmatic'],
      {},
      undefined,
      ['field.unsupported /tools/0/allowed_callers'],
    ],
  ])('%s', (_, allowed_callers, options, expected, noted) => {
    const { wire, notes } = write({ tools: [{ ...named('w'), allowed_callers }] }, options)
    expect((wire['tools'] as { allowed_callers?: unknown }[])[0]?.allowed_callers).toEqual(expected)
    expect(notes).toEqual(noted)
  })
})

describe('tools that join in mid-conversation', () => {
  const input = [
    { role: 'user', content: 'q' },
    { type: 'additional_tools', role: 'developer', tools: [named('late')] },
    { role: 'user', content: 'r' },
  ]

  test('stand with the others', () => {
    const { wire, notes } = write({ input, tools: [named('w')] })
    expect(wire['tools']).toMatchObject([{ name: 'w' }, { name: 'late' }])
    expect(notes).toContain('tool.added-late /input/1')
  })

  test('of this protocol stand with the others of another', () => {
    const definition = { name: 'late', description: 'd', input_schema: { type: 'object' } }
    const body = {
      model: 'm',
      max_tokens: 1,
      messages: [
        { role: 'user', content: 'q' },
        {
          role: 'system',
          content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }],
        },
      ],
    }
    const { body: wire } = translateRequest(body, { from: 'messages', to: 'chat-completions' })
    expect(wire).toMatchObject({
      tools: [{ type: 'function', function: { name: 'late', description: 'd' } }],
    })
  })
})

describe('a choice among some of the tools', () => {
  const choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }] }
  const tools = [named('a'), named('b')]
  const response = (name: string) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 't1', name, input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  })

  test.each<[string, string, string[]]>([
    ['a call of an allowed one is right', 'a', []],
    ['a call of another one is noted', 'b', ['tool-choice.not-allowed /content/1']],
  ])('%s', (_, name, expected) => {
    // With signed thinking in the history all tools are sent.
    const sealed = wrapSignature({ signature: { value: 'S', issuer: 'messages' } })
    const input = [
      { role: 'user', content: 'q' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'r' },
    ]
    const { context } = write({ input, tools, tool_choice: choice })
    const { notes } = translateResponse(response(name), {
      from: 'messages',
      to: 'responses',
      context,
      now: 1,
    })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(expected)
  })
})

describe('servers of tools that the provider asks', () => {
  const remote = {
    type: 'mcp',
    server_label: 'docs',
    server_url: 'https://a.org/mcp',
    require_approval: 'never',
  }
  const map = { tools: { serverTools: 'map' } } as const

  test.each<[string, object, object, object, string[]]>([
    ['all tools of one', remote, {}, {}, []],
    ['with a key', { ...remote, authorization: 'k' }, { authorization_token: 'k' }, {}, []],
    [
      'some tools of one',
      { ...remote, allowed_tools: ['a', 'b'] },
      {},
      {
        default_config: { enabled: false },
        configs: { a: { enabled: true }, b: { enabled: true } },
      },
      [],
    ],
    [
      'found when they are needed',
      { ...remote, defer_loading: true },
      {},
      { default_config: { defer_loading: true } },
      [],
    ],
    [
      'whose use the client approves',
      { ...remote, require_approval: 'always' },
      {},
      {},
      ['tool.no-approval /tools/0'],
    ],
    [
      'whose use the client approves by default',
      { ...remote, require_approval: undefined },
      {},
      {},
      ['tool.no-approval /tools/0'],
    ],
    [
      'with words for its headers',
      { ...remote, headers: { a: 'b' } },
      {},
      {},
      ['field.unsupported /tools/0/headers'],
    ],
  ])('%s', (_, tool, server, toolset, expected) => {
    const { wire, notes, context } = write({ tools: [tool] }, map)
    expect(wire['mcp_servers']).toEqual([
      { type: 'url', name: 'docs', url: 'https://a.org/mcp', ...server },
    ])
    expect(wire['tools']).toEqual([{ type: 'mcp_toolset', mcp_server_name: 'docs', ...toolset }])
    expect(notes).toEqual([...expected, 'tool.server-mapped /tools/0'])
    expect(context.headers).toEqual({ 'anthropic-beta': 'mcp-client-2025-11-20' })
  })

  test('several are several', () => {
    const { wire } = write({ tools: [remote, { ...remote, server_label: 'more' }] }, map)
    expect(wire['mcp_servers']).toMatchObject([{ name: 'docs' }, { name: 'more' }])
    expect(wire['tools']).toMatchObject([{ mcp_server_name: 'docs' }, { mcp_server_name: 'more' }])
  })

  test('one that only its provider can find has no place', () => {
    const { wire, notes } = write(
      {
        tools: [{ type: 'mcp', server_label: 'mail', connector_id: 'connector_gmail' }, named('w')],
      },
      map,
    )
    expect(wire).not.toHaveProperty('mcp_servers')
    expect(notes).toEqual(['tool.server /tools/0'])
  })

  const servers = [
    { type: 'url', name: 'docs', url: 'https://a.org/mcp', authorization_token: 'k' },
  ]
  const own = {
    model: 'm',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
    mcp_servers: servers,
  }
  const back = (body: object, options: Partial<TranslateOptions> = {}) => {
    const { body: wire, notes } = translateRequest(body, {
      from: 'messages',
      to: 'responses',
      onUnresolvable: 'note',
      ...options,
    })
    return {
      wire: wire as { tools?: unknown },
      notes: notes
        .map(({ code, path }) => `${code} ${path}`)
        .filter(note => !note.startsWith('store')),
    }
  }

  test.each<[string, object, object, string[]]>([
    ['all tools of one', {}, {}, []],
    [
      'some tools of one',
      { default_config: { enabled: false }, configs: { a: { enabled: true } } },
      { allowed_tools: ['a'] },
      [],
    ],
    [
      'all tools but some',
      { configs: { a: { enabled: false } } },
      {},
      ['field.unsupported /tools/0/configs'],
    ],
  ])('of this protocol: %s', (_, more, expected, left) => {
    const { wire, notes } = back(
      { ...own, tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs', ...more }] },
      map,
    )
    expect(wire.tools).toEqual([
      {
        type: 'mcp',
        server_label: 'docs',
        server_url: 'https://a.org/mcp',
        authorization: 'k',
        require_approval: 'never',
        ...expected,
      },
    ])
    expect(notes.filter(note => /tool|mcp/.test(note))).toEqual([
      'tool.server-mapped /tools/0',
      ...left,
    ])
  })

  test.each(['responses', 'chat-completions'] as const)(
    'of this protocol are noted when %s does not get them',
    to => {
      const { notes } = back(
        {
          ...own,
          tools: [
            { type: 'mcp_toolset', mcp_server_name: 'docs' },
            { name: 'w', input_schema: { type: 'object' } },
          ],
        },
        { to },
      )
      expect(notes).toEqual(
        expect.arrayContaining(['tool.server /tools/0', 'tool.server /mcp_servers/0']),
      )
    },
  )

  test.each<[string, object]>([
    [
      'with their toolset',
      {
        tools: [
          { type: 'mcp_toolset', mcp_server_name: 'docs', configs: { a: { enabled: false } } },
        ],
      },
    ],
    [
      'with their tools in the older way',
      { mcp_servers: [{ ...servers[0], tool_configuration: { enabled: true } }] },
    ],
    ['without any toolset', {}],
    ['that are no list', { mcp_servers: null }],
  ])('are written back unchanged: %s', (_, more) => {
    const body = { ...own, ...more }
    expect(messages.encodeRequest(messages.decodeRequest(body).value)).toMatchObject({
      wire: body,
      notes: [],
    })
  })
})

describe('an effort that changes in mid-conversation', () => {
  const update = (reasoning: object, more: object = {}) => ({
    type: 'configuration_update',
    reasoning,
    ...more,
  })
  const input = (item: object) => [
    { role: 'user', content: 'q' },
    item,
    { role: 'assistant', content: 'a' },
    { role: 'user', content: 'r' },
  ]

  test('is not sent', () => {
    const { wire, notes } = write({ input: input(update({ effort: 'low' })) })
    expect(JSON.stringify(wire)).not.toContain('output_config')
    expect(notes.filter(note => note.startsWith('part.unsupported'))).toHaveLength(1)
  })

  const own = (message: object) => ({
    model: 'claude-opus-5',
    max_tokens: 1,
    messages: [
      { role: 'user', content: 'q' },
      { role: 'system', ...message },
    ],
  })

  test('of this protocol is an update of the other', () => {
    const { body, notes } = translateRequest(
      own({ content: 'Be brief.', output_config: { effort: 'low' } }),
      { from: 'messages', to: 'responses' },
    )
    expect((body as { input: unknown[] }).input.slice(1)).toMatchObject([
      { role: 'system' },
      { type: 'configuration_update', reasoning: { effort: 'low' } },
    ])
    expect(notes.map(({ path }) => path)).not.toContain('/messages/1/output_config')
  })

  test('of this protocol is noted where there is none', () => {
    const { notes } = translateRequest(
      own({ content: 'Be brief.', output_config: { effort: 'low' } }),
      { from: 'messages', to: 'chat-completions' },
    )
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'part.unsupported /messages/1/output_config',
    )
  })

  test.each<[string, object]>([
    ['beside text', { content: 'Be brief.', output_config: { effort: 'low' } }],
    ['alone', { output_config: { effort: 'max' } }],
    ['with an empty list', { content: [], output_config: { effort: 'max' } }],
    ['of nothing', { content: 'x', output_config: {} }],
    ['that is null', { content: 'x', output_config: { effort: null } }],
    ['with unknown fields', { content: 'x', output_config: { effort: 'low', more: 1 } }],
  ])('is written back unchanged: %s', (_, message) => {
    expect(messages.encodeRequest(messages.decodeRequest(own(message)).value)).toMatchObject({
      wire: own(message),
      notes: [],
    })
  })
})

describe('deferred tools of responses', () => {
  const deferred = {
    type: 'function',
    name: 'f',
    parameters: { type: 'object', properties: {} },
    strict: false,
    defer_loading: true,
  }
  const ask = (...more: object[]) =>
    translateRequest(
      { model: 'm', input: 'Hi', tools: [deferred, ...more] },
      { from: 'responses', to: 'messages', tools: { serverTools: 'map' } },
    )
  const loaded = expect.objectContaining({ code: 'tool.loaded', path: '/tools/0/defer_loading' })

  test('are loaded from the start without a tool search, because the server refuses a request whose tools are all deferred', () => {
    const { body, notes } = ask()
    expect(body).toMatchObject({ tools: [{ name: 'f' }] })
    expect(JSON.stringify(body)).not.toContain('defer_loading')
    expect(notes).toContainEqual(loaded)
  })

  test('stay deferred with a tool search', () => {
    const { body, notes } = ask({ type: 'tool_search' })
    expect(body).toMatchObject({
      tools: [{ name: 'f', defer_loading: true }, { name: 'tool_search_tool_bm25' }],
    })
    expect(notes).not.toContainEqual(loaded)
  })
})
