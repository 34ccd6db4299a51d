import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  after,
  asking,
  dataOf,
  failures,
  half,
  hostsOf,
  listen,
  mounted,
  one,
  type Protocol,
  pairs,
  paths,
  post,
  requests,
  responses,
  saying,
  sendJson,
  sendStream,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

/** What gateways have done wrong in operation, and no other file of this folder tests. */

const all = Object.keys(paths) as Protocol[]

const counts = { usage: { input: 3, output: 2 } }
const chatCounts = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const long = 'x'.repeat(20_000)

/** Responses of which only the outline is read, and those that have to be parsed. */
const passedOn: [what: string, protocol: Protocol, change: object, usage: object][] = [
  ...all.map((protocol): (typeof passedOn)[number] => [
    `the usage: ${protocol}`,
    protocol,
    {},
    counts,
  ]),
  ['the usage beside long fields', 'chat-completions', { x_odd: { long }, x_list: [long] }, counts],
  [
    'the usage, whatever its texts say',
    'messages',
    { x_odd: '"error":{"message":"x"},"usage":{"input_tokens":9}' },
    counts,
  ],
  [
    'the usage, not a nested one',
    'messages',
    { x_odd: { usage: { input_tokens: 9, output_tokens: 9 } } },
    counts,
  ],
  [
    'the usage where some servers put it',
    'chat-completions',
    { usage: undefined, x_groq: { usage: chatCounts } },
    counts,
  ],
  [
    'the usage inside of its choice',
    'chat-completions',
    {
      usage: undefined,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: long },
          finish_reason: 'stop',
          usage: chatCounts,
        },
      ],
    },
    counts,
  ],
  [
    'a failure inside of its choice',
    'chat-completions',
    {
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: long },
          finish_reason: 'error',
          error: { code: 429, message: 'Overheated' },
        },
      ],
    },
    { ...counts, failure: 'upstream_status', error: 'rate_limit' },
  ],
  [
    'a failure beside its items',
    'responses',
    { status: 'failed', error: { code: 'server_error', message: 'Overheated' } },
    { ...counts, failure: 'upstream_status', error: 'internal' },
  ],
]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(pairs)(
    'records the token counts of responses that ended early or failed: %s from %s',
    async (client, served) => {
      for (const frames of endings[served])
        for (const stream of [true, false]) {
          const records: UsageRecord[] = []
          const ask = await start(one((await upstream(sendStream(frames))).url, served), {
            onUsage: record => void records.push(record),
          })
          await (await ask(...asking(client, { stream }))).text()
          await until(() => records.length === 1)
          expect(records[0]?.usage, `${stream} ${frames.at(-1)}`).toMatchObject({
            input: 3,
            output: 2,
          })
        }
    },
  )

  test.each(pairs.filter(([client, served]) => served === 'chat-completions' && client !== served))(
    'a response that ends in the word error is a failure, complete or streamed: %s from %s',
    async (client, served) => {
      const response = {
        index: 0,
        message: { role: 'assistant', content: 'par' },
        finish_reason: 'error',
      }
      const whole = {
        id: 'c1',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [response],
      }
      const frames = [
        { id: 'c1', choices: [{ index: 0, delta: { content: 'par' }, finish_reason: null }] },
        { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'error' }] },
      ].map(chunk => `data: ${JSON.stringify(chunk)}\n\n`)
      for (const stream of [true, false]) {
        const records: UsageRecord[] = []
        const up = await upstream(
          stream ? sendStream([...frames, 'data: [DONE]\n\n']) : sendJson(200, whole),
        )
        const ask = await start(one(up.url, served), {
          onUsage: record => void records.push(record),
        })
        const responded = await ask(...asking(client, { stream }))
        expect(responded.status).toBe(stream ? 200 : 502)
        await responded.text()
        await until(() => records.length === 1)
        expect(records[0]).toMatchObject({ failure: 'upstream_invalid', error: 'internal' })
      }
    },
  )

  test.each(pairs)(
    'a complete response that came to its end is no failure: %s from %s',
    async (client, served) => {
      const records: UsageRecord[] = []
      const ask = await start(one((await upstream(sendJson(200, responses[served]))).url, served), {
        onUsage: record => void records.push(record),
      })
      expect((await ask(...asking(client))).status).toBe(200)
      await until(() => records.length === 1)
      expect(records[0]).not.toHaveProperty('failure')
    },
  )

  test.each(passedOn)(
    'a passed response of %s is recorded',
    async (_, served, change, reported) => {
      // Short ones are read, of long ones the outside is looked at.
      for (const space of ['', ' '.repeat(5000)]) {
        const records: UsageRecord[] = []
        const response = JSON.stringify({ ...responses[served], ...change }) + space
        const ask = await start(one((await upstream(sendJson(200, response))).url, served), {
          onUsage: record => void records.push(record),
        })
        expect(await (await ask(...asking(served))).text()).toBe(response)
        await until(() => records.length === 1)
        expect(records[0]).toMatchObject(reported)
        expect(Object.hasOwn(records[0] ?? {}, 'failure')).toBe('failure' in reported)
      }
    },
  )

  test.each(pairs)(
    'the counts of a truncated response, or of one that strict refuses, are recorded: %s from %s',
    async (client, served) => {
      const odd = { x_odd: 1, ...responses[served] }
      const rows: [
        what: string,
        stream: boolean,
        script: Parameters<typeof upstream>[0],
        usage: object | undefined,
      ][] = [
        ...[true, false].map(
          stream =>
            [
              'broken off',
              stream,
              sendStream(half(served), { cut: true }),
              earlyCounts[served],
            ] as (typeof rows)[number],
        ),
        ...(client === served
          ? []
          : [
              [
                'refused by strict',
                false,
                sendJson(200, odd),
                { input: 3, output: 2 },
              ] as (typeof rows)[number],
            ]),
      ]
      for (const [what, stream, script, usage] of rows) {
        const records: UsageRecord[] = []
        const strict = what === 'broken off' ? {} : { defaults: { strict: ['dropped' as const] } }
        const ask = await start(one((await upstream(script)).url, served, strict), {
          onUsage: record => void records.push(record),
        })
        await (await ask(...asking(client, { stream }))).text()
        await until(() => records.length === 1)
        expect(records[0]).toMatchObject({ failure: expect.any(String), ...(usage && { usage }) })
      }
    },
  )

  test.each(all)(
    'a complete response that says it failed is an error with a status: %s from responses',
    async client => {
      const failed = {
        ...responses.responses,
        status: 'failed',
        output: [],
        error: { code: 'server_error', message: 'Overheated' },
      }
      const records: UsageRecord[] = []
      const ask = await start(one((await upstream(sendJson(200, failed))).url, 'responses'), {
        onUsage: record => void records.push(record),
      })
      const response = await ask(...asking(client))
      const body = await response.json()
      await until(() => records.length === 1)
      expect(records[0]).toMatchObject({
        failure: expect.any(String),
        usage: { input: 3, output: 2 },
      })
      expect(JSON.stringify(body)).toContain('Overheated')
      // The one protocol in which that is a response.
      if (client === 'responses') return expect([response.status, body]).toEqual([200, failed])
      expect(response.status).toBeGreaterThanOrEqual(500)
      expect(strictOf(client).checkError(body)).toEqual([])
    },
  )

  // A stream of generate-content ends with its connection and no sooner.
  test.each(all.filter(name => name !== 'generate-content'))(
    'ends a messages stream with message_stop while the upstream keeps its connection open: %s',
    async served => {
      const up = await upstream(response => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(streams[served].join(''))
      })
      const ask = await start(one(up.url, served))
      const text = await (
        await ask(paths.messages, post({ ...requests.messages, stream: true }))
      ).text()
      expect(dataOf(text).at(-1)).toEqual({ type: 'message_stop' })
      expect(text).not.toContain('[DONE]')
    },
  )

  test.each(all.filter(name => name !== 'generate-content'))(
    'a stream that is gathered for one JSON is complete when it says so, and its connection serves again: %s',
    async served => {
      let close = () => {}
      const up = await upstream(response => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(streams[served].join(''))
        close = () => response.end()
      })
      const ask = await start(one(up.url, served))
      for (const client of all) {
        expect((await ask(...asking(client))).status).toBe(200)
        close()
        await wait(50)
      }
      expect([up.aborted, up.sockets.size]).toEqual([0, 1])
    },
  )

  test('clamps the temperature to the range of the target, and drops it where the model refuses it, each with a note', async () => {
    for (const [unsupported, expected] of [
      [[], { temperature: 1, top_p: 0.5 }],
      [['top_p'], { temperature: 1 }],
      [['temperature', 'top_p'], {}],
    ] as const) {
      const up = await upstream(sendJson(200, responses.messages))
      const ask = await start(one(up.url, 'messages', {}, { unsupported }))
      const response = await ask(
        paths['chat-completions'],
        post({ ...requests['chat-completions'], temperature: 1.7, top_p: 0.5 }),
      )
      const { temperature, top_p } = up.calls[0]?.json ?? {}
      expect({ temperature, top_p }).toEqual(expected)
      expect(response.headers.get('wireglot-notes')).toContain('/temperature')
      expect(strictOf('messages').checkRequest(up.calls[0]?.json)).toEqual([])
    }
  })

  test('accepts a request of 1.2 MB by default, and refuses one over the limit in the dialect of the caller', async () => {
    const large = (client: Protocol) => asking(client, saying(client, 'x'.repeat(1_200_000)))
    for (const client of all) {
      const ask = await start(
        one((await upstream(sendJson(200, responses.messages))).url, 'messages'),
      )
      expect((await ask(...large(client))).status).toBe(200)
      const strictly = await start(
        one('http://127.0.0.1:9', 'messages', { defaults: { bodyLimitBytes: 100_000 } }),
      )
      const refused = await strictly(...large(client))
      expect(refused.status).toBe(413)
      expect(strictOf(client).checkError(await refused.json())).toEqual([])
    }
  })

  test('reads only the beginning of an endless error body and closes its connection', async () => {
    let sent = 0
    const up = await upstream(response => {
      response.writeHead(400, { 'content-type': 'application/json' })
      const more = () => {
        while (!response.destroyed && sent < 200_000_000) {
          sent += 65_536
          if (!response.write('x'.repeat(65_536))) return void response.once('drain', more)
        }
      }
      more()
    })
    const ask = await start(one(up.url, 'messages'))
    for (const client of all) {
      const response = await ask(...asking(client))
      expect(response.status).toBe(400)
      expect((await response.text()).length).toBeLessThan(100_000)
    }
    expect(sent).toBeLessThan(100_000_000)
    await until(() => up.aborted === all.length)
  })

  test('still sends requests to an upstream that cannot count tokens', async () => {
    const up = await upstream((response, { path }) =>
      path.includes('count')
        ? sendJson(404, { error: { message: 'No' } })(response)
        : sendJson(200, responses.messages)(response),
    )
    const ask = await start(
      one(up.url, 'messages', {}, {}, { breaker: { failures: 1, restMs: 60_000 } }),
    )
    for (let i = 0; i < 5; i++)
      expect(
        (await ask('/v1/messages/count_tokens', post(requests.messages))).headers.get(
          'wireglot-estimate',
        ),
      ).toBe('true')
    expect((await ask(paths.messages, post(requests.messages))).status).toBe(200)
  })

  test('survives non-ASCII header values and invalid header names', async () => {
    const up = await upstream((response, { json }) => {
      response.setHeader('x-served-by', Buffer.from('小米').toString('latin1'))
      sendJson(200, { ...responses.messages, model: json['model'] })(response)
    })
    const ask = await start(
      one(
        up.url,
        'messages',
        {},
        { id: '小米', channels: [{ name: 'up', model: 'モデル' }] },
        { returnHeaders: ['*'] },
      ),
    )
    const response = await ask(
      paths['chat-completions'],
      post({ ...requests['chat-completions'], model: '小米', 奇: 1 }),
    )
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ model: '小米' })
    expect(JSON.parse(response.headers.get('wireglot-notes') ?? '')).toContainEqual(
      expect.objectContaining({ path: '/奇' }),
    )
  })

  test('fetches no images or files and forwards only their URLs', async () => {
    let visited = 0
    const elsewhere = await listen((_, response) => {
      visited++
      response.end()
    })
    const content = [
      { type: 'text', text: 'What?' },
      { type: 'image_url', image_url: { url: `${elsewhere}/a.png` } },
    ]
    for (const served of ['messages', 'responses'] as const) {
      const up = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(up.url, served))
      await ask(
        paths['chat-completions'],
        post({ model: 'm', messages: [{ role: 'user', content }] }),
      )
      expect(up.calls[0]?.text).toContain(`${elsewhere}/a.png`)
    }
    expect(visited).toBe(0)
  })

  test.each(pairs)(
    'changes no prototype through field names in requests, responses and streams: %s from %s',
    async (client, served) => {
      const words = [
        '"__proto__":{"polluted":1}',
        '"\\u005f_proto__":{"polluted":1}',
        '"constructor":{"prototype":{"polluted":1}}',
      ]
      for (const word of words) {
        const laced = (text: string) => text.replaceAll('{"', `{${word},"`)
        for (const stream of [false, true]) {
          const script = stream
            ? sendStream(streams[served].map(frame => laced(frame)))
            : sendJson(200, laced(JSON.stringify(responses[served])))
          const ask = await start(one((await upstream(script)).url, served))
          const [path, { body }] = asking(client, { stream })
          await (await ask(path, post(`${String(body).slice(0, -1)},${word}}`))).text()
        }
      }
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
      expect(([] as unknown as Record<string, unknown>)['polluted']).toBeUndefined()
    },
  )

  test('does not finish a tool call before its stream does', async () => {
    const chunk = (delta: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`
    const frames = [
      chunk({ role: 'assistant', content: '' }),
      chunk({
        tool_calls: [
          {
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'pay', arguments: '{"sum":1}' },
          },
        ],
      }),
    ]
    for (const client of all.filter(name => name !== 'chat-completions')) {
      const ask = await start(
        one((await upstream(sendStream([...frames, 50], { cut: true }))).url, 'chat-completions'),
      )
      const wires = framesOf(await (await ask(...asking(client, { stream: true }))).text()).map(
        ({ wire }) => wire,
      )
      expect(strictOf(client).outcome(wires)).not.toBe('success')
      expect(JSON.stringify(wires)).not.toMatch(
        /content_block_stop|function_call_arguments\.done|output_item\.done|functionCall/,
      )
    }
  })
})

/** What each sends before its end. */
const earlyCounts: Partial<Record<Protocol, object>> = {
  messages: { input: 3 },
  'generate-content': { input: 3 },
}

/** An early end with counts, then a failure with counts, where the wire has such. */
const endings: Record<Protocol, string[][]> = {
  'chat-completions': [
    [
      ...streams['chat-completions']
        .slice(0, -1)
        .map(frame => frame.replace('"finish_reason":"stop"', '"finish_reason":"length"')),
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })}\n\n`,
      'data: [DONE]\n\n',
    ],
  ],
  responses: ['incomplete', 'failed'].map(status => [
    ...half('responses'),
    `event: response.${status}\ndata: ${JSON.stringify({
      type: `response.${status}`,
      sequence_number: 9,
      response: {
        ...responses.responses,
        status,
        incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
        error: status === 'failed' ? { code: 'server_error', message: 'Overheated' } : null,
      },
    })}\n\n`,
  ]),
  messages: [
    streams.messages.map(frame => frame.replace('end_turn', 'max_tokens')),
    [
      ...streams.messages.slice(0, -1),
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overheated"}}\n\n',
    ],
  ],
  'generate-content': [
    streams['generate-content'].map(frame => frame.replace('STOP', 'MAX_TOKENS')),
    [
      ...streams['generate-content'].map(frame => frame.replace('"finishReason":"STOP",', '')),
      failures['generate-content'],
    ],
  ],
}

/** What the process says of itself until the test is over. */
function overhear(...events: string[]): unknown[] {
  const message: unknown[] = []
  const note = (what: unknown) => void message.push(what)
  for (const event of events) {
    process.on(event, note)
    after(() => process.off(event, note))
  }
  return message
}

/** What only bare sockets can do. */
describe('over bare sockets', () => {
  const body = JSON.stringify({ ...requests.messages, stream: true })
  const call = (more = '') =>
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n${body}`
  const served = async (url: string, channel = {}) => {
    const handler = mounted(one(url, 'messages', {}, {}, channel))
    return Number(new URL(await listen(handler)).port)
  }

  test('survives a client that disconnects during a write', async () => {
    const faults = overhear('unhandledRejection', 'uncaughtExceptionMonitor')
    const frames = Array.from({ length: 200 }, () => streams.messages[2] ?? '')
    const up = await upstream(
      sendStream([...streams.messages.slice(0, 2), ...frames, ...streams.messages.slice(3)]),
    )
    const port = await served(up.url)
    for (let i = 0; i < 20; i++)
      await new Promise<void>(resolve => {
        const socket = connect(port, '127.0.0.1', () => socket.write(call()))
        socket.on('error', () => {})
        socket.once('data', () => (i % 2 ? socket.resetAndDestroy() : socket.destroy()))
        socket.once('close', () => resolve())
      })
    await wait(100)
    expect(up.calls.length).toBe(20)
    expect(faults).toEqual([])
  })

  test('leaks no listeners after failures on one connection', async () => {
    const warnings = overhear('warning')
    const up = await upstream(sendJson(500, { error: { message: 'No' } }))
    const port = await served(up.url, { breaker: { failures: 0 } })
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', chunk => {
      received += String(chunk)
    })
    for (let i = 1; i <= 40; i++) {
      socket.write(call())
      await until(() => received.split('HTTP/1.1 500').length - 1 === i)
    }
    socket.destroy()
    await wait(20)
    expect(warnings.filter(warning => String(warning).startsWith('MaxListenersExceeded'))).toEqual(
      [],
    )
    expect(up.sockets.size).toBeLessThan(10)
  })

  test('drops connection headers of the client and sends one content-length', async () => {
    const up = await upstream(sendJson(200, responses.messages))
    const port = await served(up.url, { forwardHeaders: ['x-team', 'x-hop'] })
    const response = await new Promise<string>(resolve => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(
          call(
            'connection: close, X-Hop\r\nx-hop: planted\r\nx-team: blue\r\nte: trailers\r\naccept-encoding: gzip, br\r\nkeep-alive: timeout=9\r\nproxy-authorization: planted\r\n',
          ),
        ),
      )
      let received = ''
      socket.on('data', chunk => {
        received += String(chunk)
      })
      socket.on('close', () => resolve(received))
    })
    expect(response).toContain('HTTP/1.1 200')
    const [seen] = up.calls
    expect(JSON.stringify(seen?.headers)).not.toContain('planted')
    expect(seen?.headers).toMatchObject({
      'x-team': 'blue',
      'content-length': String(seen?.text.length),
    })
    for (const name of ['te', 'keep-alive', 'transfer-encoding', 'accept-encoding'])
      expect(seen?.headers).not.toHaveProperty(name)
  })
})
