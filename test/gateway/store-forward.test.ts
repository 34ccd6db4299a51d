import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { GatewayConfig, Transport, UsageRecord } from '../../src/gateway/gateway.ts'
import { runsAll } from '../support/sampled.ts'
import {
  dataOf,
  failureIn,
  failures,
  half,
  hostsOf,
  one,
  paths,
  post,
  reading,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  type Upstream,
  until,
  upstream,
  wait,
} from './support.ts'

type Json = Record<string, unknown>

const path = '/v1/responses'
const memory = { store: { memory: true } } as const
const unknown = {
  error: {
    message: "Response with id 'resp_9' not found.",
    type: 'invalid_request_error',
    param: null,
    code: null,
  },
}

const received = ({ calls }: Upstream) =>
  calls.map(({ method, path: place }) => `${method} ${place}`)

/** One model at each upstream: `chat` and `first`, `second` of responses. */
function three(
  urls: { chat: string; first: string; second?: string },
  more: Partial<GatewayConfig> = {},
): GatewayConfig {
  const { chat, ...responses } = urls
  const names = Object.keys(responses)
  return {
    auth: 'none',
    defaults: { retries: 0 },
    channels: [
      { name: 'chat', protocols: ['chat-completions'], baseUrl: chat, apiKey: 'upstream-secret' },
      ...Object.entries(responses).map(([name, baseUrl]) => ({
        name,
        protocols: ['responses' as const],
        baseUrl,
        apiKey: 'upstream-secret',
      })),
    ],
    models: [...names, 'chat'].map(name => ({ id: name, channels: [{ name }] })),
    ...more,
  }
}

const result = (id: string, more: object = {}) => ({
  ...responses.responses,
  id,
  store: true,
  ...more,
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each([{}, memory])('a channel that stores responses itself, the gateway: %o', more => {
    test('gets requests with references unchanged, and its response comes back', async () => {
      const seen = await upstream(
        sendJson(200, result('resp_1')),
        sendJson(400, { error: { message: 'no such', type: 't', param: 'p', code: 'c', own: 1 } }),
      )
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post({ ...requests.responses, store: true }))
      const body =
        '{ "model":"m", "input":"Hi", "previous_response_id":"resp_0", "conversation":"conv_1", "store" : true }'
      const refused = await ask(path, post(body))
      expect(seen.calls[1]?.text).toBe(body)
      expect(refused.status).toBe(400)
      expect(await refused.json()).toEqual({
        error: { message: 'no such', type: 't', param: 'p', code: 'c', own: 1 },
      })
    })

    test('gets the request with its own key and the query, and its response passes unchanged', async () => {
      const text = '{ "id":"resp_1",  "object":"response", "big": 12345678901234567890 }'
      const seen = await upstream(
        sendJson(200, result('resp_1')),
        sendJson(200, text),
        sendJson(200, { object: 'list', data: [] }),
        sendJson(200, { deleted: true }),
      )
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post(requests.responses))
      const headers = { authorization: 'Bearer client-secret', 'openai-organization': 'org' }
      expect(await (await ask(`${path}/resp_1?include=a&include=b`, { headers })).text()).toBe(text)
      expect(await (await ask(`${path}/resp_1/input_items?limit=3`)).json()).toEqual({
        object: 'list',
        data: [],
      })
      expect(await (await ask(`${path}/resp_1`, { method: 'DELETE' })).json()).toEqual({
        deleted: true,
      })
      expect(received(seen).slice(1)).toEqual([
        'GET /v1/responses/resp_1?include=a&include=b',
        'GET /v1/responses/resp_1/input_items?limit=3',
        'DELETE /v1/responses/resp_1',
      ])
      expect(seen.calls[1]?.headers).toMatchObject({
        authorization: 'Bearer upstream-secret',
        'openai-organization': 'org',
      })
    })

    test('can respond without a body', async () => {
      const seen = await upstream(
        sendJson(200, result('resp_1')),
        response => void response.writeHead(204).end(),
      )
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post(requests.responses))
      const response = await ask(`${path}/resp_1`, { method: 'DELETE' })
      expect([
        response.status,
        await response.text(),
        response.headers.get('content-length'),
      ]).toEqual([204, '', null])
    })

    test('streams a response again that is in progress', async () => {
      const seen = await upstream(
        sendJson(200, result('resp_1', { status: 'queued', output: [] })),
        sendStream(streams.responses),
      )
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post({ ...requests.responses, background: true }))
      const response = await ask(`${path}/resp_1?stream=true&starting_after=3`)
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      expect(await response.text()).toBe(streams.responses.join(''))
      expect(received(seen)[1]).toBe('GET /v1/responses/resp_1?stream=true&starting_after=3')
    })

    test.each([
      ['falls silent', { cut: false, silent: 60_000 }, 'the upstream stopped sending'],
      ['breaks', { cut: true, silent: 20 }, 'the upstream broke the connection'],
    ])(
      'is reported as failed when it %s in the middle of a stream',
      async (_what, { cut, silent }, message) => {
        const seen = await upstream(
          sendJson(200, result('resp_1', { status: 'queued', output: [] })),
          sendStream([half('responses').join(''), silent], { cut }),
        )
        const ask = await start(
          one(seen.url, 'responses', more, {}, { timeouts: { idleMs: cut ? 0 : 60 } }),
        )
        await ask(path, post({ ...requests.responses, background: true }))
        const text = await (await ask(`${path}/resp_1?stream=true`)).text()
        expect(text.startsWith(half('responses').join(''))).toBe(true)
        expect(failureIn(text, 'responses')?.message).toBe(message)
      },
    )

    test.each([
      ['from its beginning', '', half('responses')],
      [
        'from the middle',
        '&starting_after=41',
        half('responses').map(frame =>
          frame.replace(
            /"sequence_number":(\d+)/,
            (_, nth) => `"sequence_number":${42 + Number(nth)}`,
          ),
        ),
      ],
    ])(
      'continues the sequence numbers of its events when it breaks off, %s',
      async (_what, query, sent) => {
        const seen = await upstream(
          sendJson(200, result('resp_1', { status: 'queued', output: [] })),
          sendStream([...sent, 20], { cut: true }),
        )
        const ask = await start(one(seen.url, 'responses', more))
        await ask(path, post({ ...requests.responses, background: true }))
        const text = await (await ask(`${path}/resp_1?stream=true${query}`)).text()
        const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, nth]) => Number(nth))
        const [first = -1] = numbers
        expect(numbers.length).toBeGreaterThan(1)
        expect(numbers).toEqual(numbers.map((_, nth) => first + nth))
      },
    )

    test('sends keep-alives while its stream is silent, and none inside an event', async () => {
      const ping = ': ping\n\n'
      const [first = '', second = '', ...rest] = streams.responses
      const seen = await upstream(
        sendJson(200, result('resp_1', { status: 'queued', output: [] })),
        // The second silence is in the middle of an event, where no keep-alive is allowed: only
        // time shows it.
        sendStream([
          // A busy machine may send several before the upstream continues.
          () => until(() => hearing.received().startsWith(ping)),
          first,
          () => until(() => hearing.received().includes(first + ping)),
          second.slice(0, 20),
          100,
          second.slice(20) + rest.join(''),
        ]),
      )
      const ask = await start(
        one(seen.url, 'responses', { ...more, defaults: { keepAliveMs: 30 } }),
      )
      await ask(path, post({ ...requests.responses, background: true }))
      const hearing = reading(ask(`${path}/resp_1?stream=true`))
      const text = await hearing.whole
      expect(text.replaceAll(ping, '')).toBe(streams.responses.join(''))
    })

    test.each([
      [
        'in the middle of an event',
        ['event: response.output_text.delta\ndata: {"type":"response.output_te'],
      ],
      ['between two events', []],
    ])(
      'is reported as failed after complete events when its stream ends %s',
      async (_what, rest) => {
        const seen = await upstream(
          sendJson(200, result('resp_1', { status: 'queued', output: [] })),
          sendStream([...half('responses'), ...rest]),
        )
        const ask = await start(one(seen.url, 'responses', more))
        await ask(path, post({ ...requests.responses, background: true }))
        const text = await (await ask(`${path}/resp_1?stream=true`)).text()
        const sent = half('responses').join('')
        expect(text.startsWith(sent)).toBe(true)
        expect(dataOf(text.slice(sent.length))).toMatchObject([
          { type: 'error', sequence_number: half('responses').length },
          { type: 'response.failed', response: { id: 'resp_1', status: 'failed' } },
          '[DONE]',
        ])
        expect(failureIn(text, 'responses')?.message).toBe('upstream stream ended early')
      },
    )

    test.each([
      [
        'ends with its last event, though not with its blank line',
        [...streams.responses.slice(0, -1), streams.responses.at(-1)?.trimEnd() ?? ''],
      ],
      ['ends with more than that', [...streams.responses, 'data: [DONE]\n\n', ': bye\n\n']],
      [
        'ends with an unknown event',
        [...streams.responses, 'data: {"type":"response.mystery","sequence_number":99}\n\n'],
      ],
      ['fails by its own word', [...half('responses'), failures.responses]],
      ['has nothing left to say', []],
    ])('passes unchanged when it %s', async (_what, chunks) => {
      const seen = await upstream(
        sendJson(200, result('resp_1', { status: 'queued', output: [] })),
        sendStream(chunks),
      )
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post({ ...requests.responses, background: true }))
      expect(await (await ask(`${path}/resp_1?stream=true&starting_after=3`)).text()).toBe(
        chunks.join(''),
      )
    })

    test.each(['', 'as-the-client-knows-it'])(
      'is reported as failed when an event does not end; the model: "%s"',
      async alias => {
        const seen = await upstream(
          sendJson(200, result('resp_1', { status: 'queued', output: [] })),
          sendStream([
            ...half('responses'),
            `data: {"x":"${'x'.repeat(6_000)}`,
            30,
            `${'x'.repeat(6_000)}"}\n\n`,
          ]),
        )
        const limited = { ...more, defaults: { eventLimit: 10_000 } }
        const ask = await start(
          one(
            seen.url,
            'responses',
            limited,
            alias ? { id: alias, channels: [{ name: 'up', model: 'm' }] } : {},
          ),
        )
        await ask(
          path,
          post({ ...requests.responses, background: true, ...(alias && { model: alias }) }),
        )
        const text = await (await ask(`${path}/resp_1?stream=true`)).text()
        expect(failureIn(text, 'responses')?.message).toBe(
          'an event of the upstream stream is too long',
        )
      },
    )

    test('never returns a content type that a browser renders', async () => {
      const page = '{"id":"<script>alert(1)</script>"}'
      const seen = await upstream(
        sendJson(200, result('resp_1')),
        sendJson(200, page, { 'content-type': 'text/html' }),
      )
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post(requests.responses))
      for (const place of [`${path}/resp_1`, `${path}/resp_1/input_items`]) {
        const response = await ask(place)
        expect([response.headers.get('content-type'), await response.text()]).toEqual([
          'application/json',
          page,
        ])
      }
    })

    test('returns its own error without its key', async () => {
      const failure = {
        error: { message: 'the key upstream-secret is bad', type: 't', param: null, code: null },
      }
      const seen = await upstream(
        sendJson(200, result('resp_1')),
        sendJson(404, failure, { 'x-request-id': 'r' }),
      )
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post(requests.responses))
      const response = await ask(`${path}/resp_1`)
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual({
        error: { ...failure.error, message: 'the key *** is bad' },
      })
    })

    test('returns 502 when it is unreachable', async () => {
      const seen = await upstream(sendJson(200, result('resp_1')), response => response.destroy())
      const ask = await start(one(seen.url, 'responses', more))
      await ask(path, post(requests.responses))
      expect((await ask(`${path}/resp_1`)).status).toBe(502)
    })

    test('returns 504 when it is silent', async () => {
      const seen = await upstream(sendJson(200, result('resp_1')), () => {})
      const ask = await start(
        one(seen.url, 'responses', more, {}, { timeouts: { firstByteMs: 300 } }),
      )
      await ask(path, post(requests.responses))
      expect((await ask(`${path}/resp_1`)).status).toBe(504)
    })
  })

  describe('the limit of a whole exchange', () => {
    /** Sends something again and again, until its caller has gone. */
    const dribbling =
      (type: string, beginning: string, more: string) => async (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': type }).write(beginning)
        for (; !response.destroyed; await wait(10)) response.write(more)
      }
    const limited = (totalMs = 150) => ({ timeouts: { totalMs } })

    test.each([
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/cancel'],
      ['GET', '/input_items'],
    ])('holds for %s …%s', async (method, place) => {
      const seen = await upstream(() => {}, dribbling('application/json', '{"id":"', 'x'))
      const ask = await start(one(seen.url, 'responses', {}, {}, limited()))
      for (const _ of ['an upstream that does not respond', 'one that does not end']) {
        const response = await ask(`${path}/resp_1${place}`, { method })
        expect([response.status, await response.json()]).toMatchObject([
          504,
          { error: { message: 'the upstream took too long' } },
        ])
      }
      await until(() => seen.aborted === 2)
    })

    test('holds for one that is streamed again', async () => {
      const seen = await upstream(
        dribbling('text/event-stream', half('responses').join(''), ': more\n\n'),
      )
      const records: UsageRecord[] = []
      const log = (record: object, message: string) =>
        message === 'exchange' && records.push(record as UsageRecord)
      const ask = await start(one(seen.url, 'responses', {}, {}, limited(2_000)), {
        logger: { info: log, warn() {}, error() {} },
      })
      const response = await ask(`${path}/resp_1?stream=true`)
      expect(response.status).toBe(200)
      expect(failureIn(await response.text(), 'responses')?.message).toBe(
        'the upstream took too long',
      )
      await until(() => seen.aborted === 1)
      expect(records).toMatchObject([{ status: 200, failure: 'upstream_timeout' }])
    })
  })

  describe('without a store', () => {
    test('sends the request to the only channel of the protocol', async () => {
      const [chat, first] = [
        await upstream(sendJson(500, {})),
        await upstream(sendJson(200, result('resp_9'))),
      ]
      const ask = await start(three({ chat: chat.url, first: first.url }))
      expect(await (await ask(`${path}/resp_9`)).json()).toMatchObject({ id: 'resp_9' })
      expect(chat.calls.length).toBe(0)
    })

    test('returns 404 when there are several channels', async () => {
      const [first, second] = [await upstream(sendJson(200, {})), await upstream(sendJson(200, {}))]
      const ask = await start(three({ chat: first.url, first: first.url, second: second.url }))
      const response = await ask(`${path}/resp_9`)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringMatching(/not found.*several channels.*store/i) },
      })
      expect([...first.calls, ...second.calls]).toEqual([])
    })

    test('a group asks no channel whose models it does not see', async () => {
      const [chat, first] = [
        await upstream(sendJson(500, {})),
        await upstream(sendJson(200, result('resp_9'))),
      ]
      const { auth: _, ...config } = three(
        { chat: chat.url, first: first.url },
        {
          groups: { some: { models: ['ch*'] }, all: { models: ['*'] }, it: { models: ['first'] } },
        },
      )
      const keys = ['some', 'all', 'it'].map(group => ({ name: group, key: group, group }))
      const ask = await start({ ...config, keys })
      const statuses: number[] = []
      for (const { key } of keys)
        statuses.push(
          (await ask(`${path}/resp_9`, { headers: { authorization: `Bearer ${key}` } })).status,
        )
      expect(statuses).toEqual([404, 200, 200])
    })

    test('a request that refers to a response goes to the channels that may have it', async () => {
      const [chat, first] = [
        await upstream(sendJson(200, responses['chat-completions'])),
        await upstream(sendJson(200, result('resp_2'))),
      ]
      const both = three(
        { chat: chat.url, first: first.url },
        { models: [{ id: 'm', channels: [{ name: 'chat' }, { name: 'first', priority: 1 }] }] },
      )
      const ask = await start(both)
      expect(
        (await ask(path, post({ ...requests.responses, previous_response_id: 'resp_1' }))).status,
      ).toBe(200)
      expect((await ask(path, post(requests.responses))).status).toBe(200)
      expect([chat.calls.length, first.calls.length]).toEqual([1, 1])
    })
  })

  describe('with a store', () => {
    test('sends the request to the channel that responded', async () => {
      const [first, second] = [
        await upstream(sendJson(200, result('resp_1'))),
        await upstream(sendJson(200, result('resp_2'))),
      ]
      const ask = await start(
        three({ chat: first.url, first: first.url, second: second.url }, memory),
      )
      await ask(path, post({ model: 'first', input: 'Hi' }))
      await ask(path, post({ model: 'second', input: 'Hi' }))
      expect(await (await ask(`${path}/resp_2`)).json()).toMatchObject({ id: 'resp_2' })
      expect(await (await ask(`${path}/resp_1`, { method: 'DELETE' })).json()).toMatchObject({
        id: 'resp_1',
      })
      expect([received(first)[1], received(second)[1]]).toEqual([
        'DELETE /v1/responses/resp_1',
        'GET /v1/responses/resp_2',
      ])
      expect((await ask(`${path}/resp_1`)).status).toBe(404)
    })

    test('an id that this gateway did not create is unknown, since it may belong to another', async () => {
      const seen = await upstream(sendJson(200, result('resp_9')))
      const ask = await start(one(seen.url, 'responses', memory))
      const response = await ask(`${path}/resp_9`)
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual(unknown)
      expect(seen.calls.length).toBe(0)
    })

    test('a streamed response is found, too, under the name that the client knows', async () => {
      const seen = await upstream(
        sendStream(streams.responses),
        sendJson(200, result('resp_1', { model: 'theirs' })),
      )
      const ask = await start(
        one(seen.url, 'responses', memory, { channels: [{ name: 'up', model: 'theirs' }] }),
      )
      await (await ask(path, post({ ...requests.responses, stream: true }))).text()
      expect(await (await ask(`${path}/resp_1`)).json()).toMatchObject({ id: 'resp_1', model: 'm' })
    })

    test("a response that is streamed again has the client's name of the model", async () => {
      const named = streams.responses.map(frame =>
        frame.replaceAll('"model":"m"', '"model":"theirs"'),
      )
      const odd = ': still there\n\ndata: no JSON\n\n'
      const seen = await upstream(
        sendJson(200, result('resp_1', { status: 'queued', output: [], model: 'theirs' })),
        sendStream([odd, ...named]),
      )
      const ask = await start(
        one(seen.url, 'responses', memory, { channels: [{ name: 'up', model: 'theirs' }] }),
      )
      await ask(path, post({ ...requests.responses, background: true }))
      expect(named).not.toEqual(streams.responses)
      expect(await (await ask(`${path}/resp_1?stream=true`)).text()).toBe(
        odd + streams.responses.join(''),
      )
    })

    test('a request goes to the channel that stores its reference, from any client', async () => {
      const [first, second] = [
        await upstream(sendJson(200, result('resp_1'))),
        await upstream(sendJson(200, result('resp_2'))),
      ]
      const config = three({ chat: first.url, first: first.url, second: second.url }, memory)
      const channels = [{ name: 'first' }, { name: 'second', priority: 1 }]
      const ask = await start({
        ...config,
        models: [
          { id: 'second', channels: [{ name: 'second' }] },
          { id: 'm', channels },
        ],
      })
      await ask(path, post({ model: 'second', input: 'Hi' }))
      await ask(path, post({ model: 'm', input: 'And now?', previous_response_id: 'resp_2' }))
      expect(first.calls.length).toBe(0)
      expect(second.calls[1]?.json).toEqual({
        model: 'm',
        input: 'And now?',
        previous_response_id: 'resp_2',
      })
    })

    test('a conversation moves from a channel that keeps it to one that keeps nothing, and on', async () => {
      const [chat, first, second] = [
        await upstream(sendJson(200, responses['chat-completions'])),
        await upstream(sendJson(200, result('resp_1'))),
        await upstream(sendJson(200, result('resp_2'))),
      ]
      const ask = await start(
        three({ chat: chat.url, first: first.url, second: second.url }, memory),
      )
      await ask(path, post({ model: 'first', input: 'One' }))
      const { id } = (await (
        await ask(path, post({ model: 'chat', input: 'Two', previous_response_id: 'resp_1' }))
      ).json()) as { id: string }
      expect(chat.calls[0]?.json['messages']).toEqual([
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: 'Two' },
      ])
      expect(
        (await ask(path, post({ model: 'second', input: 'Three', previous_response_id: id })))
          .status,
      ).toBe(200)
      const [{ json } = { json: {} as Json }] = second.calls
      const { previous_response_id: previous, input } = json as {
        previous_response_id?: string
        input: Json[]
      }
      expect(previous).toBeUndefined()
      expect(
        input.map(({ role, content }) => [
          role,
          typeof content === 'string' ? content : (content as Json[])[0]?.['text'],
        ]),
      ).toEqual([
        ['user', 'One'],
        ['assistant', 'Hello'],
        ['user', 'Two'],
        ['assistant', 'Hello'],
        ['user', 'Three'],
      ])
    })

    test('a request that continues something of one provider cannot move', async () => {
      const [chat, first] = [
        await upstream(sendJson(200, responses['chat-completions'])),
        await upstream(sendJson(200, result('resp_1'))),
      ]
      const ask = await start(three({ chat: chat.url, first: first.url }, memory))
      await ask(path, post({ model: 'first', input: 'One', previous_response_id: 'resp_0' }))
      const response = await ask(
        path,
        post({ model: 'chat', input: 'Two', previous_response_id: 'resp_1' }),
      )
      expect(await response.json()).toMatchObject({
        error: { code: 'previous_response_not_found' },
      })
      expect(
        (await ask(path, post({ model: 'first', input: 'Two', previous_response_id: 'resp_1' })))
          .status,
      ).toBe(200)
    })

    test('refuses to move a response that is in progress', async () => {
      const [chat, first] = [
        await upstream(sendJson(200, responses['chat-completions'])),
        await upstream(sendJson(200, result('resp_1', { status: 'queued', output: [] }))),
      ]
      const ask = await start(three({ chat: chat.url, first: first.url }, memory))
      await ask(path, post({ model: 'first', input: 'One', background: true }))
      expect(
        (await ask(path, post({ model: 'chat', input: 'Two', previous_response_id: 'resp_1' })))
          .status,
      ).toBe(400)
      expect((await ask(`${path}/resp_1`)).status).toBe(200)
    })

    // A stream of 256 MB, which takes four seconds.
    test.runIf(runsAll())(
      'a stream beyond the bound of complete responses continues to its client, and the log reports that it is not stored',
      async () => {
        const kept = new Map<string, string>()
        const logged: unknown[] = []
        const log = (...message: unknown[]) => logged.push(message)
        const [begun, delta = '', rest] = [
          streams.responses.slice(0, 3),
          streams.responses[3],
          streams.responses.slice(4),
        ]
        const long = new TextEncoder().encode(
          delta.replace('"Hel"', `"${'x'.repeat(16 * 1024 * 1024)}"`),
        )
        const times = 16
        /** How much was logged before each of them, and before the end. */
        const reported: number[] = []
        const body = async function* () {
          yield begun.join('')
          for (let nth = 0; nth < times; nth++) {
            reported.push(logged.length)
            yield long
          }
          reported.push(logged.length)
          yield rest.join('')
        }
        const transport: Transport = {
          send: async () => ({
            status: 200,
            headers: { 'content-type': 'text/event-stream' },
            body: body(),
          }),
        }
        const ask = await start(one('http://upstream.test', 'responses'), {
          store: kept,
          transport,
          logger: { info() {}, warn: log, error: log },
        })
        let length = 0
        for await (const chunk of (await ask(path, post({ ...requests.responses, stream: true })))
          .body ?? [])
          length += chunk.length
        expect(length).toBe(streams.responses.join('').length - delta.length + times * long.length)
        expect(logged).toEqual([
          [
            {
              requestId: expect.any(String),
              error: expect.objectContaining({ message: 'the response is too large' }),
            },
            'a response could not be stored',
          ],
        ])
        expect(reported).toEqual([...Array(times).fill(0), 1])
        expect(kept.size).toBe(0)
      },
    )

    test('other protocols keep nothing and pass as they are', async () => {
      const kept = new Map<string, string>()
      const seen = await upstream(sendJson(200, responses['chat-completions']))
      const ask = await start(one(seen.url, 'chat-completions'), { store: kept })
      const body = '{ "model":"m", "messages":[{"role":"user","content":"Hi"}], "store":true }'
      expect(await (await ask(paths['chat-completions'], post(body))).json()).toEqual(
        responses['chat-completions'],
      )
      expect(seen.calls[0]?.text).toBe(body)
      expect(kept.size).toBe(0)
    })
  })
})
