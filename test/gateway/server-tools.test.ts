import { describe, expect, test } from 'vitest'
import type { Hooks, UsageRecord } from '../../src/gateway/gateway.ts'
import { collectStream, normalizeResponse, textOf } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { explodeResponse } from '../../src/translate/fold.ts'
import { scripted } from './scripted.ts'
import {
  asking,
  failureIn,
  hostsOf,
  one,
  type Protocol,
  pairs,
  post,
  sendJson,
  sendStream,
  sent,
  until,
  upstream,
} from './support.ts'

/** A web search in the words of each client. */
const searches: Record<Protocol, Record<string, unknown>> = {
  'chat-completions': { web_search_options: {} },
  responses: { tools: [{ type: 'web_search' }] },
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] },
  'generate-content': { tools: [{ googleSearch: {} }] },
}

/** The tool of messages without `max_uses`, and with these settings. */
const searching = (more: object = {}) => ({
  tools: [{ type: 'web_search_20250305', name: 'web_search', ...more }],
})
const unlimited = searching()

const search = { name: 'web_search', input: { query: 'wires' } }
const page = { url: 'https://example.org/wires', title: 'Wires', text: 'Wires are long.' }

function hooked(result: unknown = { results: [page] }) {
  const queries: unknown[] = []
  const records: UsageRecord[] = []
  const hooks: Hooks = {
    logger: false,
    serverTools: {
      web_search(input) {
        queries.push(input)
        if (result instanceof Error) throw result
        return result as string
      },
    },
    onUsage: record => void records.push(record),
  }
  return { queries, records, hooks }
}

const calling = {
  id: 'chatcmpl-1',
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
            function: { name: 'web_search', arguments: '{"query":"wires"}' },
          },
        ],
      },
    },
  ],
}

/** What a chat-completions model reads of its calls. */
const resultsIn = (body: unknown): string[] =>
  (Object(body) as { messages: { role: string; content: string }[] }).messages.flatMap(
    ({ role, content }) => (role === 'tool' ? [content] : []),
  )

const messagesIn = (protocol: Protocol, body: unknown) =>
  protocols[protocol].decodeRequest(body).value.messages

const foreign = pairs.filter(([client, served]) => client !== served)

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each([false, true])('stream: %s', stream => {
    test.each(foreign)('a search is run, %s client, %s upstream', async (client, served) => {
      const answer = `Wires are long, says ${page.url}.`
      const { url, calls } = await scripted(served, stream, [
        { text: 'I search.', call: search },
        { text: answer },
      ])
      const { queries, records, hooks } = hooked()
      const ask = await start(one(url, served), hooks)
      const response = await ask(...asking(client, { stream, ...searches[client] }))
      expect(response.status).toBe(200)
      const text = await response.text()
      expect(queries).toEqual([{ query: 'wires' }])
      const said = stream
        ? await sent(text, client)
        : textOf(normalizeResponse(JSON.parse(text), { protocol: client }))
      expect(said).toBe(`I search.${answer}`)
      const strict = strictOf(client)
      if (stream) {
        const wires = framesOf(text).map(({ wire }) => wire)
        expect([strict.checkStream(wires), strict.outcome(wires)]).toEqual([[], 'success'])
      } else expect(strict.checkResponse(JSON.parse(text))).toEqual([])
      // What each wire has for a search: a call of its own, or a citation.
      expect(text).toContain(page.url)
      const own = { messages: 'web_search_tool_result', responses: 'web_search_call' }
      if (client in own) expect(text).toContain(own[client as keyof typeof own])
      if (client === 'chat-completions' || client === 'responses')
        expect(text).toContain('url_citation')
      if (client === 'generate-content') expect(text).toContain('groundingMetadata')
      // The model has a function, and reads the pages.
      const [first, second] = calls.map(({ json }) => protocols[served].decodeRequest(json).value)
      expect(first?.tools?.map(tool => tool.type === 'function' && tool.name)).toEqual([
        'web_search',
      ])
      const last = second?.messages.at(-1)?.parts.at(-1)
      expect(JSON.stringify(last)).toContain(page.text)
      await until(() => records.length > 0)
      expect(records[0]).toMatchObject({ usage: { input: 20, output: 6 }, attempts: 2 })
      expect(records[0]?.noteCodes).toContain('gateway.server-tool')
    })
  })

  test('the next request of the conversation shows the model what was found', async () => {
    const { url, calls } = await scripted('chat-completions', false, [
      { call: search },
      { text: 'Long.' },
      { text: 'Yes.' },
    ])
    const { hooks } = hooked()
    const ask = await start(one(url, 'chat-completions'), hooks)
    const response = await ask(...asking('messages', searches.messages))
    const { content } = (await response.json()) as { content: unknown[] }
    const messages = [
      { role: 'user', content: 'Are wires long?' },
      { role: 'assistant', content },
      { role: 'user', content: 'Really?' },
    ]
    await (await ask(...asking('messages', { ...searches.messages, messages }))).text()
    const roles = messagesIn('chat-completions', calls[2]?.json).map(({ role, parts }) => [
      role,
      parts.map(({ type }) => type),
    ])
    expect(roles).toEqual([
      ['user', ['text']],
      ['assistant', ['tool-call']],
      ['tool', ['tool-result']],
      ['assistant', ['text']],
      ['user', ['text']],
    ])
    expect(JSON.stringify(calls[2]?.json)).toContain(page.url)
  })

  test('a call of the client ends the response, and the search is there', async () => {
    const { url } = await scripted('chat-completions', false, [
      { call: { name: 'look', input: {} } },
    ])
    const { queries, hooks } = hooked()
    const ask = await start(one(url, 'chat-completions'), hooks)
    const look = { name: 'look', input_schema: { type: 'object' } }
    const tools = [...(searches.messages as { tools: object[] }).tools, look]
    const response = await ask(...asking('messages', { tools }))
    expect(await response.json()).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'look' }],
    })
    expect(queries).toEqual([])
  })

  test('a tool that fails is a result, and a model that never answers has to', async () => {
    const { url, calls } = await scripted('chat-completions', false, [{ call: search }])
    const { queries, hooks } = hooked(new Error('no network'))
    const ask = await start(one(url, 'chat-completions'), hooks)
    const response = await ask(...asking('messages', unlimited))
    expect(response.status).toBe(200)
    await response.text()
    expect(queries).toHaveLength(8)
    expect(calls).toHaveLength(9)
    expect(JSON.stringify(calls[1]?.json)).toContain('The tool failed.')
    expect(JSON.stringify(calls[1]?.json)).not.toContain('no network')
    expect(calls[8]?.json['tool_choice']).toBe('none')
  })

  test('a server of the same protocol runs its tools itself, unless the model says otherwise', async () => {
    for (const [model, isRun] of [
      [{}, false],
      [{ serverTools: 'app' }, true],
    ] as const) {
      const { url, calls } = await scripted('messages', false, [{ text: 'Long.' }])
      const { hooks } = hooked()
      const ask = await start(one(url, 'messages', {}, model), hooks)
      await (await ask(...asking('messages', searches.messages))).text()
      const tool: unknown = Object(calls[0]?.json['tools'])[0]
      expect(Object(tool).type === 'web_search_20250305').toBe(!isRun)
    }
  })

  test('`strict` refuses it', async () => {
    const { url } = await scripted('chat-completions', false, [{ text: 'Long.' }])
    const { hooks } = hooked()
    const ask = await start(
      one(url, 'chat-completions', { defaults: { strict: ['emulated'] } }),
      hooks,
    )
    const response = await ask(...asking('messages', searches.messages))
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('gateway.server-tool'),
    ])
  })

  test('settings of the client hold: how often, and which domains', async () => {
    const { url, calls } = await scripted('chat-completions', false, [
      { calls: [search, search, { name: 'web_fetch', input: { url: 'https://bad.org/a' } }] },
      { text: 'Long.' },
    ])
    const settings: unknown[] = []
    const ask = await start(one(url, 'chat-completions'), {
      logger: false,
      serverTools: {
        web_search(_, call) {
          settings.push(call.settings)
          return { results: [page, { url: 'https://bad.org/a' }, { url: 'no address' }] }
        },
        web_fetch: () => 'The page.',
      },
    })
    const [tool] = searching({ max_uses: 1, allowed_domains: ['example.org'] }).tools
    const fetching = { type: 'web_fetch_20250910', name: 'web_fetch', blocked_domains: ['bad.org'] }
    const response = await ask(...asking('messages', { tools: [tool, fetching] }))
    expect(await response.json()).toMatchObject({
      usage: { server_tool_use: { web_search_requests: 1, web_fetch_requests: 1 } },
    })
    expect(settings).toEqual([{ maxUses: 1, allowedDomains: ['example.org'] }])
    const results = resultsIn(calls[1]?.json)
    expect(results[0]).toContain(page.url)
    expect(results.join()).not.toContain('no address')
    expect(results.join()).not.toContain('bad.org')
    expect(results.slice(1)).toEqual([
      'The tool may not be used again.',
      'This address is not allowed.',
    ])
  })

  test('a flood of calls, and what is no call, are bounded', async () => {
    const { url, calls } = await scripted('chat-completions', false, [
      { calls: [{ name: 'web_search', input: {} }, ...Array.from({ length: 40 }, () => search)] },
      { text: 'Long.' },
    ])
    const { queries, hooks } = hooked()
    const ask = await start(one(url, 'chat-completions'), hooks)
    await (await ask(...asking('messages', unlimited))).text()
    expect(queries).toHaveLength(15)
    const results = resultsIn(calls[1]?.json)
    expect(results[0]).toBe('The argument query is missing.')
    expect(results.slice(16)).toEqual(
      Array.from({ length: 25 }, () => 'These are too many calls at once.'),
    )
  })

  test('a result of megabytes is cut', async () => {
    for (const result of [
      'x'.repeat(3e6),
      {
        results: Array.from({ length: 1000 }, (_, nth) => ({
          url: `https://example.org/${nth}`,
          title: 'x'.repeat(1e4),
        })),
      },
      { results: [{ url: `https://example.org/${'x'.repeat(1e6)}`, text: 'x' }] },
    ]) {
      const { url, calls } = await scripted('chat-completions', false, [
        { call: search },
        { text: 'Long.' },
      ])
      const { hooks } = hooked(result)
      const ask = await start(one(url, 'chat-completions'), hooks)
      const response = await ask(...asking('messages', unlimited))
      expect((await response.text()).length).toBeLessThan(1e5)
      expect(calls[1]?.text.length).toBeLessThan(3e5)
    }
  })

  test.each([false, true])('a client that leaves ends the tool, stream: %s', async stream => {
    const { url, calls } = await scripted('chat-completions', stream, [{ call: search }])
    const client = new AbortController()
    const seen: AbortSignal[] = []
    const ask = await start(one(url, 'chat-completions'), {
      logger: false,
      serverTools: {
        web_search(_, { signal }) {
          seen.push(signal)
          return new Promise(() => {})
        },
      },
    })
    const [path, init] = asking('messages', { ...unlimited, stream })
    const response = ask(path, { ...init, signal: client.signal }).then(one => one.text())
    await until(() => seen.length === 1)
    client.abort()
    await expect(response).rejects.toThrow()
    await until(() => seen[0]?.aborted === true)
    expect(calls).toHaveLength(1)
  })

  test('an upstream that fails in a later round is an error of the client', async () => {
    for (const stream of [false, true])
      for (const client of ['messages', 'responses', 'generate-content'] as const) {
        const { url } = await upstream(
          stream
            ? sendStream([explodeResponse(calling, protocols['chat-completions'], {}).text])
            : sendJson(200, calling),
          sendJson(400, { error: { message: 'too long', type: 'invalid_request_error' } }),
        )
        const { hooks } = hooked()
        const ask = await start(one(url, 'chat-completions'), hooks)
        const response = await ask(...asking(client, { ...searches[client], stream }))
        const text = await response.text()
        if (stream) expect(failureIn(text, client)?.message).toContain('too long')
        else {
          expect(response.status).toBe(400)
          const { value } = protocols[client].decodeError({
            status: 400,
            headers: {},
            body: JSON.parse(text),
          })
          expect(value.message).toContain('too long')
        }
      }
  })

  test('a list of allowed tools names the function, and forces it once', async () => {
    const { url, calls } = await scripted('chat-completions', false, [
      { call: search },
      { text: 'Long.' },
    ])
    const { hooks } = hooked()
    const ask = await start(one(url, 'chat-completions'), hooks)
    const tools = [
      { type: 'web_search' },
      { type: 'web_search_preview' },
      { type: 'function', name: 'look', parameters: null },
    ]
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] }
    await (await ask(...asking('responses', { tools, tool_choice: allowed }))).text()
    expect(calls.map(({ json }) => json['tool_choice'])).toEqual(
      ['required', 'auto'].map(mode => ({
        type: 'allowed_tools',
        allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'web_search' } }] },
      })),
    )
    expect(calls[0]?.json['tools']).toHaveLength(2)
  })

  describe.each([false, true])('usage over the rounds, stream: %s', stream => {
    const converse = {
      messages: [{ role: 'user', content: [{ text: 'Are wires long?' }] }],
      toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] },
    }
    type Client = 'chat-completions' | 'generate-content' | 'converse'
    const askings: Record<Client, [path: string, init: RequestInit]> = {
      'chat-completions': asking('chat-completions', {
        ...searches['chat-completions'],
        stream,
        ...(stream && { stream_options: { include_usage: true } }),
      }),
      'generate-content': asking('generate-content', { ...searches['generate-content'], stream }),
      converse: [`/model/m/converse${stream ? '-stream' : ''}`, post(converse)],
    }

    test.each(Object.keys(askings) as Client[])('%s', async client => {
      const { url } = await scripted('messages', stream, [
        { call: search },
        { call: search },
        { text: 'Long.' },
      ])
      const { queries, records, hooks } = hooked()
      const ask = await start(one(url, 'messages'), hooks)
      const response = await ask(...askings[client])
      expect(response.status).toBe(200)
      const bytes = new Uint8Array(await response.arrayBuffer())
      expect(queries).toHaveLength(2)
      const body: unknown = stream
        ? (await collectStream([bytes], { protocol: client })).body
        : JSON.parse(new TextDecoder().decode(bytes))
      const { usage } = normalizeResponse(body, { protocol: client })
      expect(usage).toMatchObject({ input: 30, output: 9 })
      await until(() => records.length > 0)
      expect(records[0]?.usage).toMatchObject({ input: 30, output: 9 })
    })
  })
})
