import { describe, expect, test } from 'vitest'
import type { Hooks, UsageRecord } from '../../src/gateway/gateway.ts'
import { normalizeResponse, textOf } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { explodeResponse } from '../../src/translate/fold.ts'
import {
  asking,
  hostsOf,
  one,
  type Protocol,
  pairs,
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

type Said = { text?: string; call?: { name: string; input: object } }

/** A response of an upstream that says this. */
function saying(protocol: Protocol, { text, call }: Said): unknown {
  const parts = [
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...(call
      ? [
          {
            type: 'tool-call' as const,
            kind: 'function' as const,
            id: 'call_1',
            name: call.name,
            input: JSON.stringify(call.input),
          },
        ]
      : []),
  ]
  return protocols[protocol].encodeResponse({
    id: 'resp_1',
    model: 'm',
    createdAt: 1_700_000_000,
    candidates: [
      {
        index: 0,
        messages: [{ role: 'assistant', origin: 'message', parts }],
        finish: { reason: call ? 'tool_calls' : 'stop' },
      },
    ],
    usage: { input: 10, output: 3 },
  }).wire
}

const scripted = (protocol: Protocol, stream: boolean, said: readonly Said[]) =>
  upstream(
    ...said.map(one => {
      const wire = saying(protocol, one)
      return stream
        ? sendStream([explodeResponse(wire, protocols[protocol], {}).text])
        : sendJson(200, wire)
    }),
  )

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
      if (client === 'chat-completions') expect(text).toContain('url_citation')
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
    const response = await ask(...asking('messages', searches.messages))
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
})
