import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  asking,
  half,
  hosts,
  one,
  type Protocol,
  pairs,
  post,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  upstream,
} from './support.ts'

/**
 * What upstreams do wrong, and what their clients get instead: an error in their own dialect, never
 * an invalid response.
 */

type Script = (response: ServerResponse) => unknown
const send =
  (
    status: number,
    type: string | undefined,
    body: string | Uint8Array,
    more: Record<string, string> = {},
  ) =>
  (response: ServerResponse) => {
    response.writeHead(status, { ...(type !== undefined && { 'content-type': type }), ...more })
    response.end(body)
  }

const json = 'application/json'
const sse = 'text/event-stream'
const page = '<!doctype html><html><body>planted-page</body></html>'
const error = { message: 'No more credit', type: 'insufficient_quota', code: 429 }

/** Before any output: a status, streamed or not. */
const faults: [what: string, status: number | 'some', script: (served: Protocol) => Script][] = [
  ['a web page with status 200', 502, () => send(200, 'text/html', page)],
  ['a web page that says it is JSON', 502, () => send(200, json, page)],
  ['a web page that says it is a stream', 502, () => send(200, sse, page)],
  ['a web page with status 404', 404, () => send(404, 'text/html', page)],
  ['a web page with status 405', 405, () => send(405, 'text/html', page)],
  ['a web page with status 502', 502, () => send(502, 'text/html', page)],
  ['nothing', 502, () => send(200, undefined, '')],
  ['nothing, as JSON', 502, () => send(200, json, '')],
  ['nothing, as a stream', 502, () => send(200, sse, '')],
  ['nothing but a status', 500, () => send(500, undefined, '')],
  ['no content', 502, () => send(204, undefined, '')],
  ['no JSON', 502, () => send(200, json, '{"id": planted')],
  [
    'half of a JSON',
    502,
    served => send(200, json, JSON.stringify(responses[served]).slice(0, -20)),
  ],
  ['a JSON that is no object', 502, () => send(200, json, '[]')],
  ['null', 502, () => send(200, json, 'null')],
  ['an error with status 200', 'some', () => send(200, json, JSON.stringify({ error }))],
  [
    'an error with status 200, in a list',
    'some',
    () => send(200, json, JSON.stringify([{ error }])),
  ],
  [
    'an error with status 200, as a stream',
    'some',
    () => send(200, sse, `data: ${JSON.stringify({ error })}\n\n`),
  ],
  [
    'an error in a list',
    429,
    () =>
      send(
        429,
        json,
        JSON.stringify([
          { error: { code: 429, message: 'No more credit', status: 'RESOURCE_EXHAUSTED' } },
        ]),
      ),
  ],
  [
    'an error that is a text',
    400,
    () => send(400, json, JSON.stringify({ error: 'No more credit' })),
  ],
  [
    'an error in FastAPI words',
    422,
    () =>
      send(
        422,
        json,
        JSON.stringify({
          detail: [{ loc: ['body', 'x'], msg: 'No more credit', type: 'missing' }],
        }),
      ),
  ],
  [
    'a compressed error',
    400,
    () =>
      send(
        400,
        json,
        gzipSync(
          JSON.stringify({
            error: { message: 'No more credit', type: 'x', param: null, code: null },
          }),
        ),
        { 'content-encoding': 'gzip' },
      ),
  ],
  [
    'bytes that only say they are compressed',
    502,
    served => send(200, json, JSON.stringify(responses[served]), { 'content-encoding': 'gzip' }),
  ],
  [
    'half of a compressed response',
    502,
    served =>
      send(200, json, gzipSync(JSON.stringify(responses[served])).subarray(0, -12), {
        'content-encoding': 'gzip',
      }),
  ],
  ['a stream that ends before it began', 502, () => send(200, sse, ': hello\n\n')],
  ['a redirect', 502, () => send(302, undefined, '', { location: '/login' })],
]

/** A response all the same. */
const oddities: [what: string, script: (served: Protocol) => Script][] = [
  [
    'a JSON that says it is text',
    served => send(200, 'text/plain', JSON.stringify(responses[served])),
  ],
  ['a JSON without a type', served => send(200, undefined, JSON.stringify(responses[served]))],
  ['a stream that says it is text', served => send(200, 'text/plain', streams[served].join(''))],
  ['a stream without a type', served => send(200, undefined, streams[served].join(''))],
  [
    'a compressed JSON',
    served =>
      send(200, json, gzipSync(JSON.stringify(responses[served])), { 'content-encoding': 'gzip' }),
  ],
  [
    'a compressed stream',
    served => send(200, sse, gzipSync(streams[served].join('')), { 'content-encoding': 'gzip' }),
  ],
  [
    'a JSON after white space',
    served => send(200, json, `\n\n  ${JSON.stringify(responses[served])}\n`),
  ],
  [
    'a stream with CRLF and a byte order mark',
    served => send(200, sse, `\ufeff${streams[served].join('').replaceAll('\n', '\r\n')}`),
  ],
]

describe.each(hosts)('through %s', (_, start) => {
  describe.each(pairs)('%s from %s', (client, served) => {
    test.each(faults)('%s is an error: %s', async (what, status, script) => {
      for (const stream of [false, true]) {
        const ask = await start(one((await upstream(script(served))).url, served))
        const response = await ask(...asking(client, { stream }))
        const text = await response.text()
        if (status === 'some') expect(response.status).toBeGreaterThanOrEqual(400)
        else expect(response.status).toBe(status)
        expect(response.headers.get('content-type')).toBe(json)
        expect(text).not.toContain('planted')
        if (/credit|error/.test(what) && !/nothing|page/.test(what))
          expect(text).toContain('No more credit')
        // An error body of the same protocol is not touched, however odd.
        if (client !== served || !/^an error|^a compressed error/.test(what))
          expect(strictOf(client).checkError(JSON.parse(text))).toEqual([])
      }
    })

    test.each(oddities)('%s is read', async (_what, script) => {
      for (const stream of [false, true]) {
        const ask = await start(one((await upstream(script(served))).url, served))
        const response = await ask(...asking(client, { stream }))
        expect(response.status).toBe(200)
        expect(response.headers.get('content-encoding')).toBeNull()
        expect(response.headers.get('content-type')).toContain(stream ? sse : json)
        const text = await response.text()
        if (stream) expect(await sent(text, client)).toBe('Hello')
        else expect(text).toContain('Hello')
      }
    })

    test('half of a stream is emitted up to there, and ends as an error', async () => {
      for (const cut of [false, true]) {
        const ask = await start(
          one((await upstream(sendStream([...half(served), 20], { cut }))).url, served),
        )
        const whole = await ask(...asking(client))
        expect(whole.status).toBe(502)
        expect(strictOf(client).checkError(await whole.json())).toEqual([])
        const wires = framesOf(await (await ask(...asking(client, { stream: true }))).text()).map(
          ({ wire }) => wire,
        )
        expect(JSON.stringify(wires)).toContain('Hel')
        expect(strictOf(client).outcome(wires)).not.toBe('success')
      }
    })

    test('a response without any content is an error, also where it would be passed through', async () => {
      const bare = Object.fromEntries(
        Object.entries(responses[served]).filter(
          ([key]) => !['choices', 'output', 'status', 'content', 'candidates'].includes(key),
        ),
      )
      const ask = await start(one((await upstream(sendJson(200, bare))).url, served))
      const response = await ask(...asking(client))
      expect([response.status, strictOf(client).checkError(await response.json())]).toEqual([
        502,
        [],
      ])
    })
  })
})

/** How each provider says that a conversation is too long for its model. */
const overflows: Record<Protocol, [number, object]> = {
  'chat-completions': [
    400,
    {
      error: {
        message:
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  ],
  responses: [
    400,
    {
      error: {
        message: 'Your input exceeds the context window of this model.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  ],
  messages: [
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 9000 tokens > 8192 maximum',
      },
    },
  ],
  'generate-content': [
    400,
    {
      error: {
        code: 400,
        message:
          'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
}

/** What clients look for before they make a conversation shorter. */
const recognized: Record<Protocol, RegExp> = {
  'chat-completions': /"code":"context_length_exceeded"/,
  responses: /"code":"context_length_exceeded"/,
  messages: /prompt is too long/,
  'generate-content': /input token count.*exceeds the maximum/,
}

describe.each(hosts)('through %s', (_, start) => {
  test.each(pairs)(
    'a conversation that is too long gets an error that %s recognizes: %s',
    async (client, served) => {
      const [status, body] = overflows[served]
      for (const stream of [false, true]) {
        const ask = await start(one((await upstream(sendJson(status, body))).url, served))
        const response = await ask(...asking(client, { stream }))
        expect(response.status).toBe(400)
        expect(await response.text()).toMatch(recognized[client])
      }
    },
  )

  test.each<[string, string, Protocol, string]>([
    ['POST', '/v1/v1/messages', 'messages', '/v1/messages'],
    ['POST', '/v1/v1/chat/completions', 'chat-completions', '/v1/chat/completions'],
    ['POST', '/responses', 'responses', '/v1/responses'],
    ['POST', '/v1/responses/v1/responses', 'responses', '/v1/responses'],
    ['POST', '/v1/messages/messages', 'messages', '/v1/messages'],
    [
      'POST',
      '/v1beta/v1beta/models/m:generateContent',
      'generate-content',
      '/v1beta/models/m:generateContent',
    ],
    [
      'POST',
      '/v1/v1beta/models/m:streamGenerateContent',
      'generate-content',
      '/v1beta/models/m:streamGenerateContent',
    ],
    ['POST', '/models/m:countTokens', 'generate-content', '/v1/models/m:countTokens'],
  ])(
    '%s %s is 404 in the dialect that was meant, with the right URL in one sentence',
    async (method, path, protocol, right) => {
      const ask = await start()
      const response = await ask(path, { ...post({}), method })
      const text = await response.text()
      expect(response.status).toBe(404)
      expect(strictOf(protocol).checkError(JSON.parse(text))).toEqual([])
      expect(text).toMatch(new RegExp(`The right URL is http[^ "]*${right}["\\s]`))
    },
  )

  test.each<[string, Protocol]>([
    ['/v1/messages', 'messages'],
    ['/v1/chat/completions', 'chat-completions'],
    ['/v1/responses', 'responses'],
    ['/v1beta/models/m:generateContent', 'generate-content'],
    ['/v1/models/m:streamGenerateContent', 'generate-content'],
  ])('a GET of %s is 405 in its dialect, and names the method', async (path, protocol) => {
    const ask = await start()
    const response = await ask(path)
    const text = await response.text()
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    expect(strictOf(protocol).checkError(JSON.parse(text))).toEqual([])
    expect(text).toContain('use POST')
  })
})
