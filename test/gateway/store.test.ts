import { describe, expect, test } from 'vitest'
import type { GatewayConfig, Hooks, Identity, Store } from '../../src/gateway/gateway.ts'
import { collectStream } from '../../src/index.ts'
import {
  type Ask,
  dataOf,
  hosts,
  hostsOf,
  one,
  type Protocol,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  type Upstream,
  upstream,
} from './support.ts'

type Json = Record<string, unknown>

const path = '/v1/responses'
const memory = { store: { memory: true } } as const
const stateless = ['chat-completions', 'messages'] as const

/** The body of a response that has to be 200. */
async function good(response: Response): Promise<Json & { id: string; output: Json[] }> {
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text)
}

const next = (previous: string, input: unknown = 'And now?', more: object = {}) =>
  post({ model: 'm', input, previous_response_id: previous, ...more })

/** The conversation that the upstream got last, as "role: text" lines. */
function received({ calls }: Upstream): string[] {
  const messages = calls.at(-1)?.json['messages'] as {
    role: string
    content: string | { type: string; text?: string }[]
  }[]
  return messages.map(
    ({ role, content }) =>
      `${role}: ${typeof content === 'string' ? content : content.map(({ text, type }) => text ?? type).join(' ')}`,
  )
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each(stateless)('without a store, before %s', served => {
    test.each<[string, object, string]>([
      ['previous_response_id', { previous_response_id: 'resp_1' }, 'previous_response_id'],
      ['conversation', { conversation: 'conv_1' }, 'conversation'],
      [
        'an item that is referred to',
        { input: [{ type: 'item_reference', id: 'msg_1' }] },
        'input[0]',
      ],
    ])('%s is refused, by name and with a way out', async (_, more, param) => {
      const seen = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(seen.url, served))
      const response = await ask(path, post({ ...requests.responses, ...more }))
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: {
          type: 'invalid_request_error',
          param,
          message: expect.stringContaining('send the whole conversation'),
        },
      })
      expect(seen.calls.length).toBe(0)
    })

    test('no response is known, and the error says why', async () => {
      const ask = await start(one((await upstream(sendJson(200, responses[served]))).url, served))
      const { id } = await good(await ask(path, post(requests.responses)))
      for (const [method, place] of [
        ['GET', id],
        ['DELETE', id],
        ['GET', `${id}/input_items`],
      ] as const) {
        const response = await ask(`${path}/${place}`, { method })
        expect(response.status).toBe(404)
        expect(await response.json()).toMatchObject({
          error: {
            type: 'invalid_request_error',
            message: expect.stringMatching(
              new RegExp(`^Response with id '${id}' not found\\..*store`),
            ),
          },
        })
      }
    })
  })

  describe.each(stateless)('with a store, before %s', served => {
    test('a conversation continues from the previous response, again and again', async () => {
      const seen = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(seen.url, served, memory))
      const first = await good(await ask(path, post(requests.responses)))
      const second = await good(await ask(path, next(first.id)))
      expect(second).toMatchObject({ previous_response_id: first.id, store: true })
      const third = await ask(path, next(second.id, 'And then?'))
      expect(third.headers.get('wireglot-notes') ?? '').not.toMatch(
        /"\/store"|"\/previous_response_id"|unresolvable/,
      )
      expect(received(seen)).toEqual([
        'user: Hi',
        'assistant: Hello',
        'user: And now?',
        'assistant: Hello',
        'user: And then?',
      ])
      expect(new Set([first.id, second.id, (await good(third)).id]).size).toBe(3)
    })

    test('a streamed response is known as soon as the client has its end', async () => {
      const seen = await upstream(sendStream(streams[served]))
      const ask = await start(one(seen.url, served, memory))
      const text = await (await ask(path, post({ ...requests.responses, stream: true }))).text()
      const whole = dataOf(text).find(
        event => (event as Json)['type'] === 'response.completed',
      ) as { response: Json & { id: string } }
      expect(whole.response).toMatchObject({ store: true })
      expect(await good(await ask(`${path}/${whole.response.id}`))).toEqual(whole.response)
      await (await ask(path, next(whole.response.id, 'And now?', { stream: true }))).text()
      expect(received(seen)).toEqual(['user: Hi', 'assistant: Hello', 'user: And now?'])
    })

    test('does not store a stream that broke off', async () => {
      const half = streams[served].slice(0, 3)
      const ask = await start(
        one((await upstream(sendStream(half, { cut: true }))).url, served, memory),
      )
      const text = await (await ask(path, post({ ...requests.responses, stream: true }))).text()
      const [begun] = dataOf(text) as { response: { id: string } }[]
      expect((await ask(`${path}/${begun?.response.id}`)).status).toBe(404)
    })

    test('does not store a stream whose client disconnected', async () => {
      const kept = new Map<string, string>()
      const seen = await upstream(
        sendStream([...streams[served].slice(0, 3), 5_000, ...streams[served].slice(3)]),
      )
      const ask = await start(one(seen.url, served), { store: kept })
      const left = new AbortController()
      const response = await ask(
        path,
        post({ ...requests.responses, stream: true }, {}, { signal: left.signal }),
      )
      await response.body?.getReader().read()
      left.abort()
      await new Promise(resolve => setTimeout(resolve, 200))
      expect(kept.size).toBe(0)
    })

    test('stores nothing with `store: false`', async () => {
      const kept = new Map<string, string>()
      const ask = await start(one((await upstream(sendJson(200, responses[served]))).url, served), {
        store: kept,
      })
      const body = await good(await ask(path, post({ ...requests.responses, store: false })))
      expect(body).toMatchObject({ store: false })
      expect(kept.size).toBe(0)
      expect((await ask(`${path}/${body.id}`)).status).toBe(404)
    })

    test('a response is shown unchanged, deleted once, and then gone', async () => {
      const ask = await start(
        one((await upstream(sendJson(200, responses[served]))).url, served, memory),
      )
      const body = await good(await ask(path, post(requests.responses)))
      expect(await good(await ask(`${path}/${body.id}`))).toEqual(body)
      expect(await good(await ask(`${path}/${body.id}`, { method: 'DELETE' }))).toEqual({
        id: body.id,
        object: 'response',
        deleted: true,
      })
      for (const method of ['GET', 'DELETE']) {
        const gone = await ask(`${path}/${body.id}`, { method })
        expect(gone.status).toBe(404)
        expect(await gone.json()).toEqual({
          error: {
            message: `Response with id '${body.id}' not found.`,
            type: 'invalid_request_error',
            param: null,
            code: null,
          },
        })
      }
      expect((await ask(path, next(body.id))).status).toBe(400)
    })

    test.each([false, true])(
      'an unknown id is refused in the words that clients know, streamed: %s',
      async stream => {
        const seen = await upstream(sendJson(200, responses[served]))
        const ask = await start(one(seen.url, served, memory))
        const response = await ask(path, next('resp_none', 'Hi', { stream }))
        expect(response.status).toBe(400)
        expect(await response.json()).toEqual({
          error: {
            message: "Previous response with id 'resp_none' not found.",
            type: 'invalid_request_error',
            param: 'previous_response_id',
            code: 'previous_response_not_found',
          },
        })
        expect(seen.calls.length).toBe(0)
      },
    )

    test('makes no note for `store: true`', async () => {
      const ask = await start(
        one((await upstream(sendJson(200, responses[served]))).url, served, memory),
      )
      const response = await ask(path, post({ ...requests.responses, store: true }))
      expect(response.headers.get('wireglot-notes') ?? '').not.toContain('/store')
    })

    test('items of a response can be referred to one by one', async () => {
      const seen = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(seen.url, served, memory))
      const { output } = await good(await ask(path, post(requests.responses)))
      const reference = { type: 'item_reference', id: output[0]?.['id'] }
      await good(
        await ask(
          path,
          post({
            model: 'm',
            input: [{ role: 'user', content: 'Hi' }, reference, { role: 'user', content: 'More' }],
          }),
        ),
      )
      expect(received(seen)).toEqual(['user: Hi', 'assistant: Hello', 'user: More'])
      const long = 'Hi '.repeat(10_000)
      await good(
        await ask(
          path,
          post({
            model: 'm',
            input: [{ role: 'user', content: long }, reference, { role: 'user', content: 'More' }],
          }),
        ),
      )
      expect(received(seen)).toEqual([`user: ${long}`, 'assistant: Hello', 'user: More'])
      const unknown = await ask(
        path,
        post({ model: 'm', input: [{ type: 'item_reference', id: 'msg_none' }] }),
      )
      expect(unknown.status).toBe(404)
      expect(await unknown.json()).toMatchObject({
        error: { message: "Item with id 'msg_none' not found.", param: 'input' },
      })
    })

    test('a response that came as a stream for a JSON request is stored as well', async () => {
      const seen = await upstream(sendStream(streams[served]))
      const ask = await start(one(seen.url, served, memory, { streaming: 'only' }))
      const { id } = await good(await ask(path, post(requests.responses)))
      await ask(path, next(id))
      expect(received(seen)).toEqual(['user: Hi', 'assistant: Hello', 'user: And now?'])
    })
  })

  describe('an item that carries the signature of its neighbor', () => {
    const call = {
      functionCall: { name: 'lookup', args: { q: 'x' }, id: 'c1' },
      thoughtSignature: 'cHJvb2Y=',
    }
    const signed = { text: 'One moment.', thoughtSignature: 'dGV4dA==' }
    const tools = [
      {
        type: 'function',
        name: 'lookup',
        parameters: { type: 'object', properties: { q: { type: 'string' } } },
      },
    ]
    const response = {
      ...responses['generate-content'],
      candidates: [{ content: { role: 'model', parts: [signed, call] }, finishReason: 'STOP' }],
    }
    const refersTo = ({ id }: Json) => ({ type: 'item_reference', id })
    const isCarrier = ({ type }: Json) => type === 'reasoning'

    test.each<[string, (item: Json) => Json]>([
      ['when it alone is referred to', item => (isCarrier(item) ? refersTo(item) : item)],
      [
        'when the neighbour alone is referred to',
        item => (isCarrier(item) ? item : refersTo(item)),
      ],
      ['when both are referred to', refersTo],
      [
        'when the reference says its id alone',
        item => (isCarrier(item) ? { id: item['id'] } : item),
      ],
    ])('brings it there %s', async (_, sent) => {
      const seen = await upstream(
        sendJson(200, response),
        sendJson(200, responses['generate-content']),
        sendJson(200, responses['generate-content']),
      )
      const ask = await start(one(seen.url, 'generate-content', memory))
      const { output } = await good(await ask(path, post({ model: 'm', tools, input: 'Hi' })))
      expect(output.filter(isCarrier).length).toBe(2)
      const result = { type: 'function_call_output', call_id: 'c1', output: 'found' }
      const responded = await ask(
        path,
        post({
          model: 'm',
          tools,
          input: [{ role: 'user', content: 'Hi' }, ...output.map(sent), result],
        }),
      )
      expect(responded.headers.get('wireglot-notes') ?? '').not.toContain('reasoning')
      expect(seen.calls[1]?.json['contents']).toMatchObject([
        { role: 'user' },
        { role: 'model', parts: [signed, call] },
        { role: 'user' },
      ])
      const { id } = await good(responded)
      expect(await (await ask(`${path}/${id}/input_items`)).text()).not.toContain('item_reference')
      await good(await ask(path, next(id, 'More', { tools })))
      expect(seen.calls[2]?.json['contents']).toMatchObject([
        {},
        { role: 'model', parts: [signed, call] },
        {},
        { role: 'model' },
        { role: 'user' },
      ])
    })
  })

  test('a response is looked up once, however many of its items are referenced', async () => {
    const entries = new Map<string, string>()
    const requested: string[] = []
    const store: Store = {
      get(key) {
        requested.push(key)
        return entries.get(key)
      },
      set: (key, value) => void entries.set(key, value),
      delete: key => void entries.delete(key),
    }
    const calls = ['a', 'b'].map(id => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: '{}' },
    }))
    const message = { role: 'assistant', content: 'One moment.', tool_calls: calls }
    const calling = sendJson(200, {
      ...responses['chat-completions'],
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    })
    const seen = await upstream(calling, sendJson(200, responses['chat-completions']))
    const ask = await start(one(seen.url, 'chat-completions'), { store })
    const { output } = await good(await ask(path, post(requests.responses)))
    const references = output.map(({ id }) => ({ type: 'item_reference', id }))
    const results = ['a', 'b'].map(id => ({
      type: 'function_call_output',
      call_id: id,
      output: 'x',
    }))
    await good(await ask(path, post({ model: 'm', input: [...references, ...results] })))
    expect(references.length).toBe(3)
    expect(requested.filter(key => key.includes('response')).length).toBe(1)
    expect(received(seen)[0]).toBe('assistant: One moment.')
  })

  test('stores two responses when an upstream repeats an id', async () => {
    const says = (content: string) =>
      sendJson(200, {
        ...responses['chat-completions'],
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      })
    const seen = await upstream(says('One'), says('Two'), says('Three'))
    const ask = await start(one(seen.url, 'chat-completions', memory))
    const first = await good(await ask(path, post(requests.responses)))
    const second = await good(await ask(path, post(requests.responses)))
    expect(first.id).not.toBe(second.id)
    await ask(path, next(first.id))
    expect(received(seen)).toEqual(['user: Hi', 'assistant: One', 'user: And now?'])
  })

  test('does not inherit instructions', async () => {
    const seen = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start(one(seen.url, 'chat-completions', memory))
    const { id } = await good(
      await ask(path, post({ ...requests.responses, instructions: 'Be brief.' })),
    )
    await ask(path, next(id, 'And now?', { instructions: 'Be kind.' }))
    expect(JSON.stringify(seen.calls[1]?.json)).toContain('Be kind.')
    expect(JSON.stringify(seen.calls[1]?.json)).not.toContain('Be brief.')
  })

  test('a tool loop continues with its result only, and the signed reasoning is with it', async () => {
    const thinking = { type: 'thinking', thinking: 'Look it up.', signature: 'c2lnbmVk' }
    const call = { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { q: 'x' } }
    const seen = await upstream(
      sendJson(200, { ...responses.messages, content: [thinking, call], stop_reason: 'tool_use' }),
      sendJson(200, responses.messages),
    )
    const ask = await start(one(seen.url, 'messages', memory))
    const tools = [
      {
        type: 'function',
        name: 'lookup',
        parameters: { type: 'object', properties: { q: { type: 'string' } } },
      },
    ]
    const { id, output } = await good(
      await ask(path, post({ ...requests.responses, tools, reasoning: { effort: 'low' } })),
    )
    const callId = output.find(({ type }) => type === 'function_call')?.['call_id']
    await good(
      await ask(
        path,
        next(id, [{ type: 'function_call_output', call_id: callId, output: 'found' }], {
          tools,
          reasoning: { effort: 'low' },
        }),
      ),
    )
    expect(seen.calls[1]?.json['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [thinking, call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
    ])
  })

  test('a response that reached its limit is stored, since that is an end', async () => {
    const ask = await start(
      one(
        (await upstream(sendJson(200, { ...responses.messages, stop_reason: 'max_tokens' }))).url,
        'messages',
        memory,
      ),
    )
    const body = await good(await ask(path, post(requests.responses)))
    expect(body).toMatchObject({ status: 'incomplete' })
    expect((await ask(`${path}/${body.id}`)).status).toBe(200)
  })

  test('does not store an error', async () => {
    const kept = new Map<string, string>()
    const ask = await start(
      one((await upstream(sendJson(500, { error: { message: 'no' } }))).url, 'chat-completions'),
      { store: kept },
    )
    expect((await ask(path, post(requests.responses))).status).toBe(500)
    expect(kept.size).toBe(0)
  })

  test('stores responses of the demo model', async () => {
    const ask = await start({
      auth: 'none',
      channels: [{ name: 'demo', embedded: 'demo' }],
      ...memory,
    })
    const { id } = await good(await ask(path, post({ model: 'demo', input: 'One' })))
    const { output } = await good(await ask(path, next(id, 'Two')))
    expect(JSON.stringify(output)).toContain('You said: Two')
    expect(await good(await ask(`${path}/${id}`))).toMatchObject({ id })
  })

  describe('the items of a request', () => {
    const input = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      {
        type: 'message',
        id: 'msg_own',
        role: 'user',
        content: [{ type: 'input_text', text: 'Three' }],
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Five' },
    ]
    const started = async (
      given: unknown = input,
    ): Promise<(query: string) => Promise<Response>> => {
      const ask = await start(
        one((await upstream(sendJson(200, responses.messages))).url, 'messages', memory),
      )
      const { id } = await good(await ask(path, post({ model: 'm', input: given })))
      return query => ask(`${path}/${id}/input_items${query}`)
    }

    test('are listed newest first, each with its id', async () => {
      const list = await started()
      const { data, ...page } = (await (await list('')).json()) as { data: Json[] } & Json
      expect(data).toMatchObject([
        {
          type: 'function_call_output',
          id: expect.stringMatching(/^fco_/),
          call_id: 'c1',
          output: 'Five',
        },
        { type: 'function_call', id: expect.stringMatching(/^fc_/), name: 'f' },
        {
          type: 'message',
          id: 'msg_own',
          role: 'user',
          status: 'completed',
          content: [{ type: 'input_text', text: 'Three' }],
        },
        {
          type: 'message',
          id: expect.stringMatching(/^msg_/),
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Two' }],
        },
        {
          type: 'message',
          id: expect.stringMatching(/^msg_/),
          role: 'user',
          status: 'completed',
          content: [{ type: 'input_text', text: 'One' }],
        },
      ])
      expect(page).toEqual({
        object: 'list',
        first_id: data[0]?.['id'],
        last_id: data[4]?.['id'],
        has_more: false,
      })
    })

    test('come page by page', async () => {
      const list = await started()
      const ids: unknown[] = []
      for (let after = '', more = true; more; ) {
        const page = (await (await list(`?order=asc&limit=2${after}`)).json()) as {
          data: Json[]
          last_id: string
          has_more: boolean
        }
        ids.push(...page.data.map(({ id }) => id))
        after = `&after=${page.last_id}`
        more = page.has_more
      }
      const all = (await (await list('?order=asc')).json()) as { data: Json[] }
      expect(ids).toEqual(all.data.map(({ id }) => id))
      expect(ids.length).toBe(5)
    })

    test('are one message where the input was a text', async () => {
      const list = await started('Hi')
      expect(await (await list('')).json()).toMatchObject({
        data: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      })
    })

    test.each(['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=msg_none'])(
      '%s is refused by name',
      async query => {
        const response = await (await started())(`?${query}`)
        expect(response.status).toBe(400)
        expect(await response.json()).toMatchObject({ error: { param: `${query.split('=')[0]}` } })
      },
    )
  })

  test('a response that was not generated in the background cannot be streamed again', async () => {
    const ask = await start(
      one((await upstream(sendJson(200, responses.messages))).url, 'messages', memory),
    )
    const { id } = await good(await ask(path, post(requests.responses)))
    expect((await ask(`${path}/${id}?stream=true`)).status).toBe(400)
  })

  describe('one key never sees the requests of another', () => {
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
    const keyed = (url: string): GatewayConfig => {
      const { auth: _, ...rest } = one(url, 'messages', memory)
      return {
        ...rest,
        keys: [
          { name: 'ann', key: 'ann-key' },
          { name: 'bob', key: 'bob-key' },
        ],
      }
    }

    test('neither continues from it, nor reads, nor deletes it', async () => {
      const ask = await start(keyed((await upstream(sendJson(200, responses.messages))).url))
      const { id } = await good(await ask(path, post(requests.responses, bearer('ann-key'))))
      const of = async (key: string) => [
        (
          await ask(`${path}/${id}`, {
            method: 'DELETE',
            headers: key === 'ann-key' ? bearer('bob-key') : bearer(key),
          })
        ).status,
        (await ask(`${path}/${id}`, { headers: bearer(key) })).status,
        (await ask(`${path}/${id}/input_items`, { headers: bearer(key) })).status,
        (
          await ask(path, {
            ...next(id),
            headers: { ...bearer(key), 'content-type': 'application/json' },
          })
        ).status,
      ]
      expect(await of('bob-key')).toEqual([404, 404, 404, 400])
      expect(await of('ann-key')).toEqual([404, 200, 200, 200])
    })

    test('without a key there is nothing to see', async () => {
      const ask = await start(keyed((await upstream(sendJson(200, responses.messages))).url))
      expect((await ask(`${path}/resp_1`)).status).toBe(401)
    })

    test.each<[string, Identity, Identity]>([
      ['a group and a key of the same name', { group: 'ann' }, { name: 'ann' }],
      ['names that hold separators', { name: 'a","b' }, { name: 'a' }],
      ['a key and no key', { name: 'ann' }, {}],
    ])('%s are not mixed up', async (_, one_, other) => {
      const config = one((await upstream(sendJson(200, responses.messages))).url, 'messages', {
        ...memory,
        groups: { ann: {} },
      })
      const ask = await start(config, {
        authenticate: credential => (credential === 'one' ? one_ : other),
      })
      const { id } = await good(await ask(path, post(requests.responses, bearer('one'))))
      expect((await ask(`${path}/${id}`, { headers: bearer('other') })).status).toBe(404)
      expect((await ask(`${path}/${id}`, { headers: bearer('one') })).status).toBe(200)
    })
  })

  describe('a store of the application', () => {
    const failing = (how: Partial<Store>): Store => ({
      get: () => undefined,
      set: () => undefined,
      delete: () => undefined,
      ...how,
    })
    const rejects = async () => {
      throw new Error('away')
    }
    const startWith = async (
      store: Store,
      more: Partial<GatewayConfig> = {},
      hooks: Hooks = {},
    ): Promise<Ask> =>
      start(one((await upstream(sendJson(200, responses.messages))).url, 'messages', more), {
        ...hooks,
        store,
      })

    test('gets texts under keys, and how long they live', async () => {
      const set: unknown[][] = []
      const ask = await startWith(failing({ set: (...all) => set.push(all) }), {
        store: { ttlMs: 5_000 },
      })
      const { id } = await good(await ask(path, post(requests.responses)))
      expect(set).toContainEqual([expect.stringContaining(id), expect.any(String), 5_000])
    })

    test('returns the response when the store fails to write', async () => {
      const ask = await startWith(failing({ set: rejects }))
      await good(await ask(path, post(requests.responses)))
    })

    test('logs an unreachable store once, until it is reachable again', async () => {
      const warnings: string[] = []
      const quiet = () => {}
      const logger = {
        info: quiet,
        warn: (_details: object, message: string) => void warnings.push(message),
        error: quiet,
      }
      let isAway = true
      const response = async () => {
        if (isAway) await rejects()
      }
      const ask = await startWith(
        { get: response, set: response, delete: response },
        {},
        { logger },
      )
      for (const away of [true, true, false, true, true]) {
        isAway = away
        await good(await ask(path, post(requests.responses)))
        expect((await ask(`${path}/resp_1`)).status).toBe(away ? 503 : 404)
      }
      expect(warnings).toEqual(Array(2).fill('the response store cannot be reached'))
    })

    test('logs a store that can read but not write once', async () => {
      const warnings: string[] = []
      const quiet = () => {}
      const logger = {
        info: quiet,
        warn: (_details: object, message: string) => void warnings.push(message),
        error: quiet,
      }
      const ask = await startWith(failing({ set: rejects }), {}, { logger })
      for (let i = 0; i < 3; i++) {
        await good(await ask(path, post(requests.responses)))
        expect((await ask(`${path}/resp_1`)).status).toBe(404)
      }
      expect(warnings).toEqual(['the response store cannot be reached'])
    })

    test('returns an error when the store cannot delete', async () => {
      const kept = JSON.stringify({ body: responses.responses })
      const ask = await startWith(failing({ get: () => kept, delete: rejects }))
      expect((await ask(`${path}/resp_1`, { method: 'DELETE' })).status).toBe(503)
    })

    test('does not call a response unknown when the store cannot be read', async () => {
      const ask = await startWith(failing({ get: rejects }))
      for (const response of [await ask(path, next('resp_1')), await ask(`${path}/resp_1`)])
        expect(response.status).toBe(503)
    })

    test('is treated as empty when it returns an unexpected value', async () => {
      const ask = await startWith(failing({ get: () => 42 }))
      expect((await ask(`${path}/resp_1`)).status).toBe(404)
    })

    test.each([
      '{"body":{"id":"resp_1"',
      '',
      'null',
      '[]',
      '"resp_1"',
      '{"body":5}',
      '{"body":{},"input":3}',
      '{"body":{},"messages":7}',
      '{"messages":[7]}',
      '{"messages":[{"role":"user"}]}',
    ])(
      'that returns something else has no response, and the log reports it once: %s',
      async broken => {
        const warnings: unknown[] = []
        const quiet = () => {}
        const logger = {
          info: quiet,
          warn: (...reported: unknown[]) => void warnings.push(reported),
          error: (...reported: unknown[]) => void warnings.push(reported),
        }
        const ask = await startWith(
          failing({ get: (key: string) => (key.includes('item') ? 'resp_1' : broken) }),
          {},
          { logger },
        )
        for (const [place, method] of [
          ['', 'GET'],
          ['', 'DELETE'],
          ['/input_items', 'GET'],
          ['/cancel', 'POST'],
        ] as const) {
          const response = await ask(`${path}/resp_1${place}`, { method })
          expect([response.status, await response.json()]).toMatchObject([
            404,
            { error: { message: "Response with id 'resp_1' not found." } },
          ])
        }
        const continued = await ask(path, next('resp_1'))
        expect([continued.status, await continued.json()]).toMatchObject([
          400,
          { error: { code: 'previous_response_not_found' } },
        ])
        const referring = await ask(
          path,
          post({ model: 'm', input: [{ type: 'item_reference', id: 'msg_1' }] }),
        )
        expect([referring.status, await referring.json()]).toMatchObject([
          404,
          { error: { message: "Item with id 'msg_1' not found." } },
        ])
        expect(warnings).toEqual([
          [
            { key: 'wireglot:response:["resp_1"]' },
            'the response store returned something that is not a response',
          ],
        ])
      },
    )

    test('gets no lookups of invalid ids', async () => {
      const received: string[] = []
      const ask = await startWith(failing({ get: key => void received.push(key) }))
      expect((await ask(path, next('x'.repeat(100_000)))).status).toBe(400)
      expect(received).toEqual([])
    })
  })

  test('does not evict other responses for one that exceeds the memory limit', async () => {
    const ask = await start(
      one((await upstream(sendJson(200, responses.messages))).url, 'messages', {
        store: { memory: true, memoryLimitBytes: 40_000 },
      }),
    )
    const { id } = await good(await ask(path, post(requests.responses)))
    const large = await good(
      await ask(path, post({ ...requests.responses, input: 'x'.repeat(30_000) })),
    )
    expect((await ask(`${path}/${large.id}`)).status).toBe(404)
    expect((await ask(`${path}/${id}`)).status).toBe(200)
  })

  test('evicts the least recently used response when the memory is full', async () => {
    const ask = await start(
      one((await upstream(sendJson(200, responses.messages))).url, 'messages', {
        store: { memory: true, memoryLimitBytes: 40_000 },
      }),
    )
    const ids: string[] = []
    for (let i = 0; i < 20; i++)
      ids.push((await good(await ask(path, post(requests.responses)))).id)
    expect((await ask(`${path}/${ids[0]}`)).status).toBe(404)
    expect((await ask(`${path}/${ids.at(-1)}`)).status).toBe(200)
  })

  test('expires responses in memory', async () => {
    const ask = await start(
      one((await upstream(sendJson(200, responses.messages))).url, 'messages', {
        store: { memory: true, ttlMs: 1 },
      }),
    )
    const { id } = await good(await ask(path, post(requests.responses)))
    await new Promise(resolve => setTimeout(resolve, 20))
    expect((await ask(`${path}/${id}`)).status).toBe(404)
  })
})

test('the stored response of a stream has the content of the stream', async () => {
  const [[, start]] = hosts as [(typeof hosts)[number]]
  for (const served of stateless) {
    const ask = await start(one((await upstream(sendStream(streams[served]))).url, served, memory))
    const text = await (await ask(path, post({ ...requests.responses, stream: true }))).text()
    const { body } = await collectStream([text], { protocol: 'responses' satisfies Protocol })
    expect(await good(await ask(`${path}/${(body as { id: string }).id}`))).toEqual(body)
  }
})
