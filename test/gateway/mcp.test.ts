import { describe, expect, test } from 'vitest'
import { type Hooks, type McpClient, mcpTool, type UsageRecord } from '../../src/gateway/gateway.ts'
import { collectStream } from '../../src/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { scripted } from './scripted.ts'
import { asking, hostsOf, one, until } from './support.ts'

/** How both clients ask for the tools of a server that their provider calls. */
const servers = {
  messages: (more: object = {}) => ({
    mcp_servers: [{ type: 'url', name: 'wires', url: 'https://mcp.example.org' }],
    tools: [{ type: 'mcp_toolset', mcp_server_name: 'wires', ...more }],
  }),
  responses: (more: object = {}) => ({
    tools: [
      {
        type: 'mcp',
        server_label: 'wires',
        server_url: 'https://mcp.example.org',
        require_approval: 'never',
        ...more,
      },
    ],
  }),
}
type Client = keyof typeof servers
const clients = Object.keys(servers) as Client[]

const inputSchema = { type: 'object', properties: { name: { type: 'string' } } } as const
const text = (said: string) => ({ content: [{ type: 'text', text: said }] })

/** By name. Its list has two pages. */
const tools: Record<string, (given: Record<string, unknown>) => unknown> = {
  'wire.length': ({ name }) => text(`${String(name)} is 7 m long.`),
  cut: () => ({ ...text('There is no such wire.'), isError: true }),
  look: () => ({
    content: [
      { type: 'resource_link', uri: 'https://example.org/plan', name: 'Plan' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'A wire.' } },
      { type: 'image', data: 'aaaa', mimeType: 'image/png' },
    ],
  }),
  weigh: () => ({ content: [], structuredContent: { grams: 5 } }),
  hang: () => {
    throw new Error('secret of the server')
  },
  find: ({ q }) => text(`${String(q)}: see https://example.org/wires.`),
}

function connected() {
  const calls: unknown[] = []
  const client: McpClient = {
    async listTools({ cursor } = {}) {
      const names = Object.keys(tools)
      const some = cursor === undefined ? names.slice(0, 2) : names.slice(2)
      return {
        tools: some.map(name => ({
          name,
          description: `About ${name}`,
          inputSchema,
          annotations: { readOnlyHint: name !== 'cut' },
        })),
        ...(cursor === undefined && { nextCursor: 'more' }),
      }
    },
    async callTool({ name, arguments: given = {} }, _, { signal } = {}) {
      calls.push([name, given, signal?.aborted])
      return tools[name]?.(given)
    },
  }
  return { client, calls }
}

function hooked(client: McpClient | Error | undefined) {
  const asked: unknown[] = []
  const records: UsageRecord[] = []
  const hooks: Hooks = {
    logger: false,
    onUsage: record => void records.push(record),
    serverTools: {
      mcp(server) {
        asked.push(server)
        if (client instanceof Error) throw client
        return server.label === 'wires' ? client : undefined
      },
    },
  }
  return { asked, records, hooks }
}

const namesIn = (body: unknown) =>
  (Object(body) as { tools?: { function: { name: string } }[] }).tools?.map(
    one => one.function.name,
  )
const resultsIn = (body: unknown): string[] =>
  (Object(body) as { messages: { role: string; content: string }[] }).messages.flatMap(
    ({ role, content }) => (role === 'tool' ? [content] : []),
  )

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each([false, true])('stream: %s', stream => {
    test.each(clients)('the tools of a server are run, %s client', async client => {
      const { url, calls } = await scripted('chat-completions', stream, [
        { call: { name: 'wire_length', input: { name: 'A' } } },
        { call: { name: 'cut', input: {} } },
        { text: 'It is long.' },
      ])
      const server = connected()
      const { asked, records, hooks } = hooked(server.client)
      const ask = await start(one(url, 'chat-completions'), hooks)
      const response = await ask(...asking(client, { stream, ...servers[client]() }))
      expect(response.status).toBe(200)
      const whole = await response.text()
      const strict = strictOf(client)
      const wires = stream ? framesOf(whole).map(({ wire }) => wire) : []
      expect(
        stream
          ? [strict.checkStream(wires), strict.outcome(wires)]
          : [strict.checkResponse(JSON.parse(whole)), 'success'],
      ).toEqual([[], 'success'])
      const body: unknown = stream
        ? (await collectStream([whole], { protocol: client })).body
        : JSON.parse(whole)
      const shown = {
        messages: {
          content: [
            {
              type: 'mcp_tool_use',
              name: 'wire.length',
              server_name: 'wires',
              input: { name: 'A' },
            },
            { type: 'mcp_tool_result', is_error: false },
            { type: 'mcp_tool_use', name: 'cut' },
            {
              type: 'mcp_tool_result',
              is_error: true,
              content: [{ text: 'There is no such wire.' }],
            },
            { type: 'text', text: 'It is long.' },
          ],
          stop_reason: 'end_turn',
        },
        responses: {
          output: [
            { type: 'mcp_call', server_label: 'wires', output: 'A is 7 m long.', error: null },
            { type: 'mcp_call', name: 'cut', output: null, error: 'There is no such wire.' },
            { type: 'message' },
          ],
          status: 'completed',
        },
      }
      expect(body).toMatchObject(shown[client])
      expect(asked).toEqual([{ label: 'wires', url: 'https://mcp.example.org' }])
      expect(server.calls).toEqual([
        ['wire.length', { name: 'A' }, false],
        ['cut', {}, false],
      ])
      expect(namesIn(calls[0]?.json)).toEqual(
        Object.keys(tools).map(name => name.replace('.', '_')),
      )
      expect(resultsIn(calls[2]?.json)).toEqual(['A is 7 m long.', 'There is no such wire.'])
      await until(() => records.length > 0)
      expect(records[0]?.noteCodes).toContain('gateway.server-tool')
    })
  })

  test.each(clients)('the model of the next request reads the calls, %s client', async client => {
    const { url, calls } = await scripted('chat-completions', false, [
      { call: { name: 'wire_length', input: { name: 'A' } } },
      { text: 'It is long.' },
      { text: 'Yes.' },
    ])
    const { hooks } = hooked(connected().client)
    const ask = await start(one(url, 'chat-completions'), hooks)
    const first = await ask(...asking(client, servers[client]()))
    const { content, output } = (await first.json()) as { content: unknown[]; output: unknown[] }
    const user = { role: 'user', content: 'Really?' }
    const history =
      client === 'messages'
        ? { messages: [user, { role: 'assistant', content }, user] }
        : { input: [user, ...output, user] }
    await (await ask(...asking(client, { ...servers[client](), ...history }))).text()
    const { messages } = Object(calls[2]?.json) as { messages: { role: string }[] }
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(resultsIn(calls[2]?.json)).toEqual(['A is 7 m long.'])
  })

  test('results of every kind are text', async () => {
    const names = ['look', 'weigh', 'hang']
    const { url, calls } = await scripted('chat-completions', false, [
      { calls: names.map(name => ({ name, input: {} })) },
      { text: 'See https://example.org/plan.' },
    ])
    const { hooks } = hooked(connected().client)
    const ask = await start(one(url, 'chat-completions'), hooks)
    const response = await ask(...asking('responses', servers.responses()))
    expect(JSON.stringify(await response.json())).toContain('url_citation')
    expect(resultsIn(calls[1]?.json)).toEqual([
      'Plan\nhttps://example.org/plan\n\nA wire.\n\n[Here was image/png, which is no text.]',
      '{"grams":5}',
      'The tool failed.',
    ])
  })

  test.each([
    ['messages', { configs: { cut: { enabled: false } } }, 5],
    ['messages', { default_config: { enabled: false }, configs: { cut: { enabled: true } } }, 1],
    [
      'messages',
      { default_config: { enabled: false }, configs: { cut: { enabled: true, x: 1 } } },
      1,
    ],
    ['responses', { allowed_tools: ['cut', 'find'] }, 2],
    ['responses', { allowed_tools: { read_only: true } }, 5],
  ] as const)('only what is allowed is offered, %s client: %j', async (client, more, count) => {
    const { url, calls } = await scripted('chat-completions', false, [{ text: 'Hi.' }])
    const { hooks } = hooked(connected().client)
    const ask = await start(one(url, 'chat-completions'), hooks)
    await (await ask(...asking(client, servers[client](more)))).text()
    expect(namesIn(calls[0]?.json)).toHaveLength(count)
  })

  test('a function of the client keeps its name', async () => {
    const { url, calls } = await scripted('chat-completions', false, [{ text: 'Hi.' }])
    const { hooks } = hooked(connected().client)
    const ask = await start(one(url, 'chat-completions'), hooks)
    const own = { type: 'function', name: 'cut', parameters: null }
    const both = { tools: [own, ...servers.responses({ allowed_tools: ['cut'] }).tools] }
    await (await ask(...asking('responses', both))).text()
    expect(namesIn(calls[0]?.json)).toEqual(['cut', 'wires_cut'])
  })

  test.each([
    ['a tool', { type: 'mcp', server_label: 'wires', name: 'cut' }, { function: { name: 'cut' } }],
    ['a server', { type: 'mcp', server_label: 'wires' }, 'required'],
  ])('a choice of %s', async (_name, choice, wanted) => {
    const { url, calls } = await scripted('chat-completions', false, [{ text: 'Hi.' }])
    const { hooks } = hooked(connected().client)
    const ask = await start(one(url, 'chat-completions'), hooks)
    await (
      await ask(...asking('responses', { ...servers.responses(), tool_choice: choice }))
    ).text()
    const chosen: unknown = calls[0]?.json['tool_choice']
    if (typeof wanted === 'string') expect(chosen).toBe(wanted)
    else expect(chosen).toMatchObject(wanted)
  })

  test.each([
    ['is unknown to the application', undefined, {}],
    ['cannot be reached', new Error('no network'), {}],
    ['wants approval of the client', connected().client, { require_approval: 'always' }],
  ])('a server that %s is left out, with a note', async (_name, client, more) => {
    const { url, calls } = await scripted('chat-completions', false, [{ text: 'Hi.' }])
    const { records, hooks } = hooked(client)
    const ask = await start(one(url, 'chat-completions'), hooks)
    const own = { type: 'function', name: 'own', parameters: null }
    const both = { tools: [own, ...servers.responses(more).tools] }
    const response = await ask(...asking('responses', both))
    expect(response.status).toBe(200)
    await response.text()
    expect(namesIn(calls[0]?.json)).toEqual(['own'])
    await until(() => records.length > 0)
    expect(records[0]?.noteCodes).toContain('tool.server')
  })

  test('an endless list of tools ends', async () => {
    const { url, calls } = await scripted('chat-completions', false, [{ text: 'Hi.' }])
    let lists = 0
    const { hooks } = hooked({
      listTools: async () => ({
        tools: Array.from({ length: 20 }, (_, nth) => ({ name: `t${lists}_${nth}`, inputSchema })),
        nextCursor: String(lists++),
      }),
      callTool: async () => text(''),
    })
    const ask = await start(one(url, 'chat-completions'), hooks)
    await (await ask(...asking('messages', servers.messages()))).text()
    expect(namesIn(calls[0]?.json)).toHaveLength(128)
    expect(lists).toBeLessThan(11)
  })

  test('a tool of a server searches the web', async () => {
    const { url, calls } = await scripted('chat-completions', false, [
      { call: { name: 'web_search', input: { query: 'wires' } } },
      { text: 'See https://example.org/wires.' },
    ])
    const { client } = connected()
    const ask = await start(one(url, 'chat-completions'), {
      logger: false,
      serverTools: { web_search: mcpTool(client, 'find', ({ query }) => ({ q: query })) },
    })
    const search = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }
    const response = await ask(...asking('messages', search))
    expect(await response.json()).toMatchObject({
      content: [
        { type: 'server_tool_use' },
        { content: [{ type: 'web_search_result', url: 'https://example.org/wires' }] },
        { type: 'text' },
        { citations: [{ url: 'https://example.org/wires' }] },
        { type: 'text' },
      ],
    })
    expect(resultsIn(calls[1]?.json)).toEqual(['wires: see https://example.org/wires.'])
    const { signal } = new AbortController()
    await expect(mcpTool(client, 'cut')({}, { signal })).rejects.toThrow('There is no such wire.')
  })
})
