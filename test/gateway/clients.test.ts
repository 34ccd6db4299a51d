import { describe, expect, test } from 'vitest'
import { all, hello, others, responded } from './responded.ts'
import {
  dataOf,
  hostsOf,
  one,
  paths,
  post,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  type Upstream,
  upstream,
} from './support.ts'

/**
 * What known client programs rely on, one sentence a test. Requests have the shape that these
 * programs send.
 */

const ephemeral = { cache_control: { type: 'ephemeral' } }
const betas =
  'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01'
const schema = {
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
  additionalProperties: false,
}

const claude = {
  headers: {
    'user-agent': 'claude-cli/2.1.329 (external, sdk-cli)',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': betas,
    'x-api-key': 'client-secret',
    'x-app': 'cli',
    'x-stainless-retry-count': '0',
  },
  body: {
    model: 'sim-model',
    max_tokens: 32000,
    stream: true,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.329' },
      { type: 'text', text: 'You are a coding agent.', ...ephemeral },
      { type: 'text', text: 'Work in the project.', ...ephemeral },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Count the lines.', ...ephemeral }] },
      { role: 'system', content: [{ type: 'text', text: 'The shell is bash.' }] },
    ] as object[],
    tools: [
      { name: 'Bash', description: 'Runs a command.', input_schema: schema },
      {
        name: 'DeferredToolPlaceholder',
        description: 'Represents more.',
        input_schema: { type: 'object', properties: {} },
        defer_loading: true,
      },
    ] as object[],
    thinking: { type: 'adaptive', display: 'omitted' } as object,
    output_config: { effort: 'medium' } as object,
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: '{"device":"d","account":""}' },
  },
}

const codex = {
  headers: {
    authorization: 'Bearer client-secret',
    originator: 'codex_exec',
    'session-id': 's',
    'thread-id': 't',
    'x-client-request-id': 't',
    'x-codex-window-id': 'w:0',
    'x-codex-turn-metadata': '{"request_kind":"turn"}',
    'x-codex-beta-features': 'remote_compaction_v2',
  },
  body: {
    model: 'sim-model',
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    parallel_tool_calls: true,
    tool_choice: 'auto',
    prompt_cache_key: 'k',
    client_metadata: { 'x-codex-installation-id': 'i' },
    reasoning: { summary: 'auto' },
    text: { verbosity: 'low' } as object,
    input: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'developer',
        content: [{ type: 'input_text', text: 'You are a coding agent.' }],
      },
      {
        type: 'message',
        id: 'msg_2',
        role: 'user',
        content: [{ type: 'input_text', text: 'Count the lines.' }],
      },
    ] as object[],
  },
}

const execTool = {
  type: 'function',
  name: 'exec_command',
  description: 'Runs a command.',
  strict: false,
  parameters: schema,
}
const lark = { type: 'grammar', syntax: 'lark', definition: 'start: /.+/s' }

const text = (upstream: Upstream | undefined, call = 0) =>
  JSON.stringify(upstream?.calls[call]?.json)

describe.each(hostsOf(import.meta.url))('through %s, Claude Code', (_, start) => {
  test('prints the last block, so that only the text of a response is the last', async () => {
    const parts = [{ text: 'Hello' }, { text: '', thoughtSignature: 'c2VhbGVk' }]
    const frames = parts.map((part, at) => {
      const candidate = {
        index: 0,
        content: { role: 'model', parts: [part] },
        ...(at === 1 && { finishReason: 'STOP' }),
      }
      return `data: ${JSON.stringify({ candidates: [candidate], modelVersion: 'gemini-3-pro' })}\n\n`
    })
    const seen = await upstream(sendStream(frames))
    let ask = await start(one(seen.url, 'generate-content', {}, { id: 'sim-model' }))
    const typesFor = async (headers: Record<string, string>) =>
      dataOf(await (await ask(paths.messages, post(claude.body, headers))).text()).flatMap(
        event => (event as { content_block?: { type: string } }).content_block?.type ?? [],
      )
    expect(await typesFor(claude.headers)).toEqual(['text'])
    expect(await typesFor({ ...claude.headers, 'user-agent': 'Anthropic/JS 1.11.0' })).toEqual([
      'text',
      'redacted_thinking',
    ])
    // What the channel says wins.
    ask = await start(
      one(
        seen.url,
        'generate-content',
        {},
        { id: 'sim-model' },
        { options: { messages: { lastSignature: 'block' } } },
      ),
    )
    expect(await typesFor(claude.headers)).toEqual(['text', 'redacted_thinking'])
  })

  test('asks /v1/messages?beta=true, with its key in either header', async () => {
    const up = await hello('messages')
    const { auth: _auth, ...config } = one(up.url, 'messages', {}, { id: '*' })
    const ask = await start({ ...config, keys: [{ name: 'alice', key: 'client-secret' }] })
    const { 'x-api-key': key, ...headers } = claude.headers
    for (const shown of [{ 'x-api-key': key }, { authorization: `Bearer ${key}` }]) {
      const response = await ask(
        '/v1/messages?beta=true',
        post(claude.body, { ...headers, ...shown }),
      )
      expect(await sent(await response.text(), 'messages')).toBe('Hello')
    }
    expect(up.calls).toMatchObject([
      { path: '/v1/messages?beta=true', headers: { 'anthropic-beta': betas } },
      { path: '/v1/messages?beta=true' },
    ])
  })

  test('sends three blocks of instructions, of which the changing one is left out, and messages of role system in mid conversation, whole or as text', async () => {
    const messages = [
      ...claude.body.messages,
      { role: 'assistant', content: 'Three.' },
      { role: 'user', content: 'And now?' },
      { role: 'system', content: 'The shell is zsh.' },
    ]
    for (const body of [claude.body, { ...claude.body, messages }])
      for (const up of await responded(start, 'messages', body, claude.headers, '?beta=true')) {
        expect(text(up)).not.toContain('cc_version')
        for (const word of [
          'You are a coding agent.',
          'Work in the project.',
          'Count the lines.',
          'The shell is bash.',
        ])
          expect(text(up)).toContain(word)
      }
  })

  test('asks for thinking in both of its ways, for cleared contexts and for an effort', async () => {
    await responded(start, 'messages', claude.body, claude.headers)
    await responded(
      start,
      'messages',
      {
        ...claude.body,
        output_config: undefined,
        thinking: { type: 'enabled', budget_tokens: 31999, display: 'omitted' },
      },
      claude.headers,
    )
    await responded(
      start,
      'messages',
      { ...claude.body, thinking: { type: 'adaptive', display: 'updates' } },
      claude.headers,
    )
  })

  test('sends a thinking block back with its signature alone, which reaches the provider that made it', async () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' }
    const call = {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'Bash',
      arguments: '{"q":"wc"}',
    }
    const up = await upstream(
      sendJson(200, { ...responses.responses, output: [item, call] }),
      sendStream(streams.responses),
    )
    const ask = await start(one(up.url, 'responses', {}, { id: '*' }))
    const first = (await (
      await ask(paths.messages, post({ ...claude.body, stream: false }))
    ).json()) as { content: { type: string; signature?: string }[] }
    const { signature } = first.content.find(({ type }) => type === 'thinking') ?? {}
    const content = first.content.map(block =>
      block.type === 'thinking' ? { type: 'thinking', thinking: '', signature } : block,
    )
    const results = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '3' }],
    }
    await (
      await ask(
        paths.messages,
        post({
          ...claude.body,
          messages: [...claude.body.messages, { role: 'assistant', content }, results],
        }),
      )
    ).text()
    expect(up.calls[1]?.json['input']).toContainEqual(
      expect.objectContaining({ type: 'reasoning', id: 'rs_1', encrypted_content: 'c2VhbGVk' }),
    )
  })

  test('defers the loading of tools, and says who called one', async () => {
    const content = [
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'Bash',
        input: { q: 'wc' },
        caller: { type: 'direct' },
      },
    ]
    const results = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '3' }] },
      ],
    }
    for (const up of await responded(
      start,
      'messages',
      {
        ...claude.body,
        messages: [...claude.body.messages, { role: 'assistant', content }, results],
      },
      claude.headers,
    ))
      expect(text(up)).toContain('toolu_1')
  })

  test('asks for a title with a format and an empty list of tools, and sends safeguards that no type lists', async () => {
    const format = {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { title: { type: 'string' } },
        required: ['title'],
        additionalProperties: false,
      },
    }
    for (const up of await responded(
      start,
      'messages',
      { ...claude.body, tools: [], output_config: { format } },
      claude.headers,
    ))
      expect(text(up)).toMatch(/json_?schema/i)
    await responded(
      start,
      'messages',
      { ...claude.body, safeguards: [{ type: 'dangerous_tool_use' }] },
      claude.headers,
    )
    const up = await hello('messages')
    const ask = await start(one(up.url, 'messages', {}, { id: '*' }))
    await (
      await ask(
        paths.messages,
        post({ ...claude.body, safeguards: [{ type: 'dangerous_tool_use' }] }, claude.headers),
      )
    ).text()
    expect(up.calls[0]?.json['safeguards']).toEqual([{ type: 'dangerous_tool_use' }])
  })

  test('removes features after a refusal: the text of the upstream passes through, and no other client retries', async () => {
    for (const served of all) {
      const up = await upstream(
        sendJson(400, {
          ...(served === 'messages' && { type: 'error' }),
          error: {
            type: 'invalid_request_error',
            message: 'safeguards: Extra inputs are not permitted',
          },
        }),
      )
      const ask = await start(one(up.url, served, { defaults: { retries: 2 } }, { id: '*' }))
      const response = await ask(paths.messages, post(claude.body, claude.headers))
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('safeguards') },
      })
      expect(up.calls.length).toBe(1)
    }
  })

  test('takes responses with one id for one response: ids differ even if those of the upstream do not', async () => {
    for (const stream of [true, false])
      for (const served of others.messages) {
        const ask = await start(one((await hello(served)).url, served, {}, { id: '*' }))
        const ids = new Set<string>()
        for (let i = 0; i < 3; i++)
          ids.add(
            /"id":"([^"]+)"/.exec(
              await (await ask(paths.messages, post({ ...claude.body, stream }))).text(),
            )?.[1] ?? '',
          )
        expect(ids.size).toBe(3)
        expect(ids).not.toContain('')
      }
  })

  test.each([429, 500, 503, 529])(
    'tries again after %i: it sees that status, and how long to wait',
    async status => {
      for (const served of all) {
        const ask = await start(
          one(
            (
              await upstream(
                sendJson(
                  status,
                  { type: 'error', error: { type: 'api_error', message: 'Not now' } },
                  { 'retry-after': '2' },
                ),
              )
            ).url,
            served,
            {},
            { id: '*' },
          ),
        )
        const response = await ask(paths.messages, post(claude.body))
        expect(response.status).toBe(status)
        expect(response.headers.get('retry-after')).toBe('2')
        expect(await response.json()).toMatchObject({ type: 'error' })
      }
    },
  )

  test('retries without a stream after an invalid response: the same body works as a complete request', async () => {
    for (const served of all) {
      const up = await upstream(
        response => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
        sendJson(200, responses[served]),
      )
      const ask = await start(one(up.url, served, {}, { id: '*' }))
      expect((await ask(paths.messages, post(claude.body))).status).toBe(502)
      const whole = await ask(
        paths.messages,
        post({ ...claude.body, stream: false }, { 'x-stainless-timeout': '300' }),
      )
      expect(await whole.json()).toMatchObject({
        type: 'message',
        content: [{ type: 'text', text: 'Hello' }],
      })
    }
  })
})

describe.each(hostsOf(import.meta.url))('through %s, Codex', (_, start) => {
  test('stores no responses, caches by key, requests encrypted reasoning and sends metadata without a type', async () => {
    for (const up of await responded(start, 'responses', codex.body, codex.headers)) {
      expect(text(up)).toContain('You are a coding agent.')
      expect(text(up)).toContain('Count the lines.')
    }
  })

  test('declares functions, namespaces, tools that take text, a search for tools and one of the web', async () => {
    const tools = [
      execTool,
      {
        type: 'namespace',
        name: 'multi_agent_v1',
        description: 'Agents.',
        tools: [{ ...execTool, name: 'spawn_agent' }],
      },
      { type: 'custom', name: 'apply_patch', description: 'Edits files.', format: lark },
      { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: schema },
      { type: 'web_search', external_web_access: false, search_content_types: ['text'] },
    ]
    for (const up of await responded(start, 'responses', { ...codex.body, tools }, codex.headers))
      for (const name of ['exec_command', 'spawn_agent', 'apply_patch'])
        expect(text(up)).toContain(name)
  })

  test('puts its tools into the input, calls them by a namespace and sends results as lists', async () => {
    const tools = [
      {
        type: 'namespace',
        name: 'functions',
        description: '',
        tools: [{ type: 'custom', name: 'exec', description: 'Runs JavaScript.', format: lark }],
      },
    ]
    const input = [
      { type: 'additional_tools', id: 'at_1', role: 'developer', tools },
      ...codex.body.input,
    ]
    const lite = { ...codex.headers, 'x-openai-internal-codex-responses-lite': 'true' }
    const call = {
      type: 'custom_tool_call',
      id: 'ctc_1',
      status: 'completed',
      call_id: 'call_1',
      name: 'exec',
      namespace: 'functions',
      input: 'wc()',
    }
    const output = {
      type: 'custom_tool_call_output',
      id: 'ctco_1',
      call_id: 'call_1',
      output: [{ type: 'input_text', text: 'THREE' }],
    }
    for (const up of await responded(
      start,
      'responses',
      { ...codex.body, input: [...input, call, output] },
      lite,
    )) {
      expect(text(up)).toContain('exec')
      expect(text(up)).toContain('THREE')
    }
  })

  test('gets a call of such a tool back by its own name and namespace', async () => {
    const tools = [
      {
        type: 'namespace',
        name: 'functions',
        description: '',
        tools: [{ type: 'custom', name: 'exec', description: 'Runs JavaScript.', format: lark }],
      },
    ]
    const up = await upstream((response, { json }) => {
      const [tool] = json['tools'] as { name: string }[]
      const content = [
        { type: 'tool_use', id: 'toolu_1', name: tool?.name, input: { input: 'wc()' } },
      ]
      return sendJson(200, { ...responses.messages, content, stop_reason: 'tool_use' })(response)
    })
    const ask = await start(one(up.url, 'messages', {}, { id: '*' }))
    const body = {
      ...codex.body,
      stream: false,
      input: [
        { type: 'additional_tools', id: 'at_1', role: 'developer', tools },
        ...codex.body.input,
      ],
    }
    const { output } = (await (await ask(paths.responses, post(body))).json()) as {
      output: object[]
    }
    expect(output).toContainEqual(
      expect.objectContaining({
        type: 'custom_tool_call',
        name: 'exec',
        namespace: 'functions',
        input: 'wc()',
      }),
    )
  })

  test('sends reasoning back with content null, and its provider gets it', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2VhbGVk' },
      { type: 'tool_use', id: 'toolu_1', name: 'exec_command', input: { q: 'wc' } },
    ]
    const up = await upstream(
      sendJson(200, { ...responses.messages, content, stop_reason: 'tool_use' }),
      sendStream(streams.messages),
    )
    const ask = await start(one(up.url, 'messages', {}, { id: '*' }))
    const body = { ...codex.body, tools: [execTool] }
    const { output } = (await (
      await ask(paths.responses, post({ ...body, stream: false }))
    ).json()) as { output: Record<string, unknown>[] }
    const echo = output.map(item =>
      item['type'] === 'reasoning'
        ? {
            type: 'reasoning',
            id: item['id'],
            summary: [],
            content: null,
            encrypted_content: item['encrypted_content'],
          }
        : item,
    )
    await (
      await ask(
        paths.responses,
        post({
          ...body,
          input: [
            ...body.input,
            ...echo,
            { type: 'function_call_output', call_id: 'toolu_1', output: '3' },
          ],
        }),
      )
    ).text()
    expect(text(up, 1)).toContain('c2VhbGVk')
    expect(text(up, 1)).not.toContain('xs1.')
  })

  test('asks for JSON by text.format', async () => {
    const body = {
      ...codex.body,
      text: { format: { type: 'json_schema', name: 'codex_output_schema', strict: true, schema } },
    }
    for (const up of await responded(start, 'responses', body, codex.headers))
      expect(text(up)).toMatch(/json_?schema/i)
  })

  test.each([429, 500, 503])('tries again after %i: it sees that status', async status => {
    for (const served of all) {
      const ask = await start(
        one(
          (
            await upstream(
              sendJson(status, { error: { message: 'Not now' } }, { 'retry-after': '2' }),
            )
          ).url,
          served,
          {},
          { id: '*' },
        ),
      )
      const response = await ask(paths.responses, post(codex.body))
      expect(response.status).toBe(status)
      expect(response.headers.get('retry-after')).toBe('2')
    }
  })

  test('tries again after a stream without response.completed: one that broke off has none, nor has a web page', async () => {
    for (const served of all) {
      const half = streams[served].slice(0, -2)
      const ask = await start(
        one((await upstream(sendStream(half, { cut: true }))).url, served, {}, { id: '*' }),
      )
      const reported = await (await ask(paths.responses, post(codex.body))).text()
      expect(reported).not.toContain('response.completed')
      if (served !== 'responses') expect(reported).toContain('response.failed')
      const page = await start(
        one(
          (
            await upstream(response =>
              response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
            )
          ).url,
          served,
          {},
          { id: '*' },
        ),
      )
      expect((await page(paths.responses, post(codex.body))).status).toBe(502)
    }
  })

  test('sees response.incomplete when the limit was reached', async () => {
    const frames = streams.messages.map(frame => frame.replace('end_turn', 'max_tokens'))
    const ask = await start(
      one((await upstream(sendStream(frames))).url, 'messages', {}, { id: '*' }),
    )
    const reported = dataOf(await (await ask(paths.responses, post(codex.body))).text())
    expect(reported.at(-1) === '[DONE]' ? reported.at(-2) : reported.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { incomplete_details: { reason: 'max_output_tokens' } },
    })
  })

  test('sends headers for the newer forms that it supports, which its own provider receives', async () => {
    const up = await hello('responses')
    const ask = await start(one(up.url, 'responses', {}, { id: '*' }))
    await (await ask(paths.responses, post(codex.body, codex.headers))).text()
    const { authorization: _key, ...received } = codex.headers
    expect(up.calls[0]?.headers).toMatchObject(received)
  })
})

describe.each(hostsOf(import.meta.url))('through %s, Gemini CLI', (_, start) => {
  const path = '/v1beta/models/sim-model:streamGenerateContent?alt=sse'
  const received = { role: 'user', parts: [{ text: 'Look it up.' }] }
  type Reported = {
    candidates: { content: { parts: { thought?: boolean; functionCall?: { id: string } }[] } }[]
  }

  test('forgets reasoning, which a server that needs it next to calls gets back', async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'lookup', arguments: '{}' },
    }
    const thinking = [
      { reasoning_content: 'I look ' },
      { reasoning_content: 'it up.' },
      { tool_calls: [call] },
    ].map(delta => chunk(delta))
    const up = await upstream(
      sendStream([...thinking, chunk({}, 'tool_calls'), 'data: [DONE]\n\n']),
      sendStream(streams['chat-completions']),
    )
    const ask = await start(one(up.url, 'chat-completions', {}, { id: 'sim-model' }))
    const headers = { 'user-agent': 'GeminiCLI-tui/0.61.0/sim-model (linux; x64; terminal)' }
    const first = dataOf(
      await (await ask(path, post({ contents: [received] }, headers))).text(),
    ) as Reported[]
    const kept = first.flatMap(({ candidates }) =>
      candidates.flatMap(({ content }) =>
        content.parts.filter(part => !part.thought && part.functionCall),
      ),
    )
    expect(kept).toMatchObject([{ functionCall: { id: 'call_1' } }])
    const result = {
      functionResponse: { id: 'call_1', name: 'lookup', response: { output: 'found' } },
    }
    const contents = [received, { role: 'model', parts: kept }, { role: 'user', parts: [result] }]
    await (await ask(path, post({ contents }, headers))).text()
    expect(up.calls[1]?.json).toMatchObject({
      messages: [
        {},
        { role: 'assistant', reasoning_content: 'I look it up.', tool_calls: [{ id: 'call_1' }] },
        {},
      ],
    })
  })
})

describe.each(hostsOf(import.meta.url))('through %s, the AI SDK', (_, start) => {
  test.each([
    ['5', 'ai/5.0.277 ai-sdk/provider-utils/3.0.27 runtime/node.js/v20.20.2', 0],
    ['5, its provider alone', 'ai-sdk/openai/2.0.131 ai-sdk/provider-utils/3.0.27', 0],
    ['6', 'ai/6.0.10 ai-sdk/openai/3.0.141', 0],
  ])('of version %s accepts responses without counts', async (_version, agent, count) => {
    const { usage: _usage, ...response } = responses['chat-completions'] as Record<string, unknown>
    const ask = await start(one((await upstream(sendJson(200, response))).url, 'chat-completions'))
    const responded = (await (
      await ask(paths.responses, post({ model: 'm', input: 'hi' }, { 'user-agent': agent }))
    ).json()) as {
      usage: { input_tokens?: number } | null
    }
    expect(responded.usage?.input_tokens).toBe(count)
  })

  test.each([
    ['the AI SDK 5', 'ai/5.0.277 ai-sdk/provider-utils/3.0.27 runtime/node.js/v20.20.2'],
    [
      'the AI SDK 6',
      'ai-sdk/openai-compatible/2.0.91 ai-sdk/provider-utils/4.0.64 runtime/node.js/22',
    ],
    ['the AI SDK 7', 'ai-sdk-openai-compatible/3.0.92 ai-sdk-provider-utils/5.0.81 node.js/22'],
    ['opencode', 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14'],
  ])(
    'known as %s, forgets all of reasoning but plain text and the signatures of calls',
    async (_client, agent) => {
      const thinking = { type: 'thinking', thinking: 'I look it up.', signature: 'cHJvb2Y=' }
      const calling = {
        ...responses.messages,
        content: [thinking, { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: {} }],
        stop_reason: 'tool_use',
      }
      const up = await upstream(sendJson(200, calling), sendJson(200, responses.messages))
      const ask = await start(one(up.url, 'messages'))
      const received = [{ role: 'user', content: 'Look it up.' }]
      const first = await ask(
        paths['chat-completions'],
        post({ model: 'm', messages: received }, { 'user-agent': agent }),
      )
      const { choices } = (await first.json()) as {
        choices: [{ message: { tool_calls: object[] } }]
      }
      const { tool_calls } = choices[0].message
      const messages = [
        ...received,
        { role: 'assistant', content: null, tool_calls },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'found' },
      ]
      await ask(paths['chat-completions'], post({ model: 'm', messages }, { 'user-agent': agent }))
      expect(up.calls[1]?.json).toMatchObject({
        messages: [{}, { role: 'assistant', content: [thinking, { type: 'tool_use' }] }, {}],
      })
    },
  )
})

describe.each(hostsOf(import.meta.url))(
  'through %s, the AI SDK over generate-content',
  (_, start) => {
    const path = '/v1beta/models/m:streamGenerateContent?alt=sse'
    type Chunk = {
      text?: string
      thought?: boolean
      functionCall?: object
      thoughtSignature?: string
    }
    type Reported = { candidates: { content: { parts: Chunk[] } }[] }
    const thinking = { type: 'thinking', thinking: 'I look it up.', signature: 'cHJvb2Y=' }
    const calling = [
      {
        type: 'message_start',
        message: { ...(responses.messages as object), content: [], stop_reason: null },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'thinking_delta', thinking: thinking.thinking },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'signature_delta', signature: thinking.signature },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: {} },
      },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 2 },
      },
      { type: 'message_stop' },
    ].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

    test.each([
      [
        'the AI SDK 6',
        'ai-sdk/google/3.0.141 ai-sdk/provider-utils/4.0.64 runtime/node.js/v20.20.2',
      ],
      ['the AI SDK 7', 'ai-sdk-google/4.0.121 ai-sdk-provider-utils/5.0.81 node.js/22'],
      ['opencode', 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14'],
    ])(
      'known as %s, forgets signatures of a stream that have no words, but for those of calls',
      async (_client, agent) => {
        const up = await upstream(sendStream(calling), sendStream(streams.messages))
        const ask = await start(one(up.url, 'messages'))
        const received = { role: 'user', parts: [{ text: 'Look it up.' }] }
        const headers = { 'user-agent': agent }
        const reported = dataOf(
          await (await ask(path, post({ contents: [received] }, headers))).text(),
        ) as Reported[]
        const parts = reported.flatMap(({ candidates }) =>
          candidates.flatMap(({ content }) => content.parts.filter(({ text }) => text !== '')),
        )
        expect(parts).toMatchObject([
          { thought: true, text: 'I look it up.' },
          { functionCall: { name: 'lookup' } },
        ])
        const result = {
          functionResponse: { id: 'toolu_1', name: 'lookup', response: { output: 'found' } },
        }
        const contents = [received, { role: 'model', parts }, { role: 'user', parts: [result] }]
        await (await ask(path, post({ contents }, headers))).text()
        expect(up.calls[1]?.json).toMatchObject({
          messages: [
            {},
            { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'toolu_1' }] },
            {},
          ],
        })
      },
    )
  },
)

describe.each(hostsOf(import.meta.url))('through %s, over generate-content', (_, start) => {
  test.each([
    [
      'the AI SDK',
      'ai/6.0.326 ai-sdk/google/3.0.141 ai-sdk/provider-utils/4.0.64 runtime/node.js/22',
    ],
    [
      'the AI SDK 6, its provider alone',
      'ai-sdk/google/3.0.141 ai-sdk/provider-utils/4.0.64 runtime/node.js/22',
    ],
    [
      'the AI SDK 7, its provider alone',
      'ai-sdk-google/4.0.121 ai-sdk-provider-utils/5.0.81 node.js/22',
    ],
    ['opencode', 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14'],
  ])('%s leaves out texts that hold nothing but a signature', async (_client, agent) => {
    const thinking = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'cHJvb2Y=' }
    const calling = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'lookup',
      arguments: '{}',
      status: 'completed',
    }
    const up = await upstream(
      sendJson(200, { ...responses.responses, output: [thinking, calling] }),
      sendJson(200, responses.responses),
    )
    const ask = await start(one(up.url, 'responses', {}, { id: 'sim-model' }))
    const path = '/v1beta/models/sim-model:generateContent'
    const received = { role: 'user', parts: [{ text: 'Look it up.' }] }
    const first = await ask(path, post({ contents: [received] }, { 'user-agent': agent }))
    const { candidates } = (await first.json()) as {
      candidates: [{ content: { parts: { text?: string }[] } }]
    }
    const parts = candidates[0].content.parts.filter(({ text }) => text !== '')
    const result = {
      functionResponse: { id: 'call_1', name: 'lookup', response: { output: 'found' } },
    }
    const contents = [received, { role: 'model', parts }, { role: 'user', parts: [result] }]
    await ask(path, post({ contents }, { 'user-agent': agent }))
    expect(up.calls[1]?.json).toMatchObject({
      input: [{}, thinking, { type: 'function_call' }, { type: 'function_call_output' }],
    })
  })
})

/** What these programs send back of a response. */
const signedBlocks = (response: unknown) =>
  (response as { content: { type: string; signature?: string }[] }).content.filter(
    ({ type, signature }) => type !== 'thinking' || signature,
  )
const sealedItems = (response: unknown) =>
  (
    response as { output: { type: string; encrypted_content?: string; content?: unknown }[] }
  ).output.flatMap(item => {
    if (item.type !== 'reasoning') return [item]
    const { content: _, ...kept } = item
    return kept.encrypted_content ? [kept] : []
  })

describe.each(hostsOf(import.meta.url))(
  'through %s, a client that forgets unsigned reasoning',
  (_, start) => {
    const calling = {
      ...(responses['chat-completions'] as object),
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: 'I look it up.',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    }
    const overMessages = {
      path: paths.messages,
      first: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Look it up.' }] },
      next: (response: unknown) => [
        { role: 'assistant', content: signedBlocks(response) },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'found' }],
        },
      ],
    }
    const overResponses = {
      path: paths.responses,
      first: { model: 'm', store: false, input: [{ role: 'user', content: 'Look it up.' }] },
      next: (response: unknown) => [
        ...sealedItems(response),
        { type: 'function_call_output', call_id: 'call_1', output: 'found' },
      ],
    }

    test.each([
      ['the AI SDK 5', 'ai-sdk/anthropic/2.0.112 ai-sdk/provider-utils/3.0.44', overMessages],
      [
        'the AI SDK 6',
        'ai/6.0.326 ai-sdk/provider-utils/4.0.64 runtime/node.js/v20.20.2',
        overMessages,
      ],
      [
        'the AI SDK 7',
        'ai-sdk-anthropic/4.0.105 ai-sdk-provider-utils/5.0.81 node.js/22',
        overMessages,
      ],
      [
        'opencode',
        'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
        overMessages,
      ],
      ['the AI SDK 5', 'ai-sdk/openai/2.0.131 ai-sdk/provider-utils/3.0.40', overResponses],
      [
        'the AI SDK 6',
        'ai/6.0.326 ai-sdk/provider-utils/4.0.66 runtime/node.js/v20.20.2',
        overResponses,
      ],
      [
        'the AI SDK 7',
        'ai-sdk-openai/4.0.118 ai-sdk-provider-utils/5.0.81 node.js/22',
        overResponses,
      ],
      [
        'opencode',
        'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
        overResponses,
      ],
      ['LangChain', 'langchainjs-openai/1.0.0 ((node/v20.20.2; linux; x64))', overResponses],
    ])(
      'known as %s, %s, gives it back all the same',
      async (_client, agent, { path, first, next }) => {
        const up = await upstream(
          sendJson(200, calling),
          sendJson(200, responses['chat-completions']),
        )
        const ask = await start(one(up.url, 'chat-completions'))
        const headers = { 'user-agent': agent }
        const response: unknown = await (await ask(path, post(first, headers))).json()
        const [key, message] =
          'messages' in first ? ['messages', first.messages] : ['input', first.input]
        await (
          await ask(path, post({ ...first, [key]: [...message, ...next(response)] }, headers))
        ).text()
        expect(up.calls[1]?.json).toMatchObject({
          messages: [
            {},
            {
              role: 'assistant',
              reasoning_content: 'I look it up.',
              tool_calls: [{ id: 'call_1' }],
            },
            {},
          ],
        })
      },
    )

    test('gets none of that where the channel says so', async () => {
      const up = await upstream(sendJson(200, calling))
      const ask = await start(
        one(
          up.url,
          'chat-completions',
          {},
          {},
          { options: { chatCompletions: { unsignedReasoning: 'bare' } } },
        ),
      )
      const responded = await ask(
        paths.messages,
        post(overMessages.first, { 'user-agent': 'ai/6.0.326' }),
      )
      expect(await responded.json()).toMatchObject({
        content: [
          { type: 'thinking', thinking: 'I look it up.', signature: '' },
          { type: 'tool_use' },
        ],
      })
    })
  },
)

describe.each(hostsOf(import.meta.url))('through %s, opencode', (_, start) => {
  test('asks for a title beside the first turn', async () => {
    const title = {
      ...claude.body,
      tools: undefined,
      thinking: { type: 'enabled', budget_tokens: 4095 },
      max_tokens: 12287,
      output_config: undefined,
    }
    for (const served of all) {
      const ask = await start(one((await hello(served)).url, served, {}, { id: '*' }))
      const headers = { 'x-session-id': 's', 'x-session-affinity': 's' }
      const both = await Promise.all(
        [title, claude.body].map(body => ask(paths.messages, post(body, headers))),
      )
      for (const response of both)
        expect(await sent(await response.text(), 'messages')).toBe('Hello')
    }
  })

  test('sends items of the assistant without a type', async () => {
    const input = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Welcome' }], id: 'msg_9' },
      { role: 'user', content: [{ type: 'input_text', text: 'Continue' }] },
    ]
    for (const up of await responded(start, 'responses', { model: 'm', stream: true, input }))
      expect(text(up)).toContain('Welcome')
  })

  test('marks the last two messages for the cache as well as the instructions', async () => {
    const marked = (role: string, word: string) => ({
      role,
      content: [{ type: 'text', text: word, ...ephemeral }],
    })
    const messages = [
      { role: 'user', content: 'Hi' },
      marked('assistant', 'Welcome'),
      marked('user', 'Continue'),
    ]
    await responded(start, 'messages', { ...claude.body, messages })
  })
})
