import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { protocols } from '../../src/protocols/index.ts'
import { covered } from '../support/covered.ts'
import {
  after,
  asking,
  failures,
  half,
  hostsOf,
  one,
  type Protocol,
  pairs,
  pathOf,
  post,
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

/**
 * Text of users and models and every key stay out of logs, records, notes, headers and errors. The
 * support checks all of that in every test of this folder; here it gets a lot to check.
 */
const prompt = 'planted-prompt'
const bodies: Record<Protocol, object> = {
  'chat-completions': {
    ...requests['chat-completions'],
    messages: [{ role: 'system', content: prompt }, { role: 'user', name: prompt, content: prompt }],
    tools: [{ type: 'function', function: { name: 'planted_tool', description: prompt, parameters: { type: 'object' }, odd: prompt } }],
    logit_bias: { 1: 1 }, seed: 1, user: prompt, metadata: { planted: prompt },
  },
  responses: { ...requests.responses, instructions: prompt, input: [{ role: 'developer', content: prompt }, { role: 'user', content: prompt }], user: prompt, top_logprobs: 2 },
  messages: { ...requests.messages, system: prompt, messages: [{ role: 'user', content: [{ type: 'text', text: prompt, odd: prompt }] }], top_k: 3, metadata: { user_id: prompt } },
  'generate-content': { systemInstruction: { parts: [{ text: prompt, odd: prompt }] }, contents: [{ role: 'user', parts: [{ text: prompt }] }], labels: { planted: prompt }, generationConfig: { topK: 3, odd: prompt } },
} // biome-ignore format: one body a line

/** Cut between any two letters. */
const letters = (text: string): string[] => [...text]
const responded = (text: string) => text.replaceAll('Hel', 'planted-text ')
type Script = Parameters<typeof upstream>[number]
const endings: [string, (served: Protocol, stream: boolean) => Script][] = [
  [
    'responds',
    (served, stream) =>
      stream
        ? sendStream(streams[served].map(responded))
        : sendJson(200, responded(JSON.stringify(responses[served]))),
  ],
  ['refuses', () => sendJson(400, { error: { type: 'invalid_request_error', message: 'No' } })],
  [
    'is overloaded',
    () => sendJson(529, { type: 'error', error: { type: 'overloaded_error', message: 'Later' } }),
  ],
  [
    'sends a page',
    () => response =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>planted-text</html>'),
  ],
  [
    'sends no JSON',
    () => response =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"planted-text"'),
  ],
  [
    'sends another shape',
    () =>
      sendJson(200, {
        odd: 'planted-text',
        content: 7,
        choices: 'planted-text',
        output: 'planted-text',
      }),
  ],
  [
    'breaks off',
    (served, stream) =>
      stream
        ? sendStream(streams[served].slice(0, 3).map(responded), { cut: true })
        : response => response.destroy(),
  ],
  ['says its key', () => sendJson(401, { error: { message: 'invalid key upstream-secret' } })],
  [
    'sends its key in something that is no response',
    () => sendJson(200, { error: { message: 'invalid key upstream-secret' } }),
  ],
  [
    'says its key inside the stream',
    served =>
      sendStream([
        ...half(served),
        ...letters(failures[served].replace('Overheated', 'invalid key upstream-secret')),
      ]),
  ],
  [
    'says its key in headers',
    () =>
      sendJson(
        429,
        { error: { message: 'No' } },
        {
          'x-ratelimit-key': 'upstream-secret',
          'x-request-id': 'upstream-secret',
          'request-id': 'upstream-secret',
        },
      ),
  ],
]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(covered)(
    'an upstream that repeats text of the user is shown to the client, and not logged: %s',
    async served => {
      const words = 'as the user wrote'
      for (const script of [
        sendJson(500, { error: { message: words, type: words, code: words } }),
        sendJson(200, { error: { message: words } }),
        (response: ServerResponse) =>
          response.writeHead(503, { 'content-type': 'text/plain' }).end(words),
        sendStream([...half(served), failures[served].replace('Overheated', words)]),
      ])
        for (const stream of [false, true]) {
          const { url } = await upstream(script as Script)
          const logged: unknown[] = []
          const log = (details: object, message: string) => logged.push(details, message)
          const ask = await start(one(url, served), {
            logger: { info: log, warn: log, error: log },
          })
          const result = await (
            await ask(...asking(served, { ...requests[served], stream }))
          ).text()
          // The last output of each exchange.
          await until(() => logged.includes('exchange'))
          expect(result).toContain(words)
          expect(logged.length).toBeGreaterThan(1)
          expect(inspect(logged, { depth: 9 })).not.toContain(words)
        }
    },
  )

  test.each([
    ['the first line', 'what it sent\r\n\r\n'],
    [
      'a chunk',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\nwhat it sent\r\n',
    ],
  ])('does not log a response that is not HTTP from %s on', async (_what, response) => {
    const server = createServer(socket => socket.once('data', () => socket.end(response)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const logged: unknown[] = []
    const log = (details: object, message: string) => logged.push(details, message)
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ask = await start(one(url, 'messages'), { logger: { info: log, warn: log, error: log } })
    expect((await ask(...asking('messages'))).status).toBe(502)
    await until(() => logged.includes('exchange'))
    expect(logged.length).toBeGreaterThan(2)
    expect(inspect(logged, { depth: 9 })).not.toContain('what it sent')
  })

  test.each(pairs)(
    'keeps prompts and responses out of logs, records and errors: %s from %s',
    async (client, served) => {
      const seen: Upstream[] = []
      const received = (stream: boolean, headers: Record<string, string>) =>
        asking(client, { ...bodies[client], stream }, headers)
      const keyed = async (script: Script) => {
        const up = await upstream(script)
        seen.push(up)
        const { auth: _auth, ...config } = one(up.url, served)
        return start({ ...config, keys: [{ name: 'alice', key: 'planted-key' }] })
      }
      for (const stream of [false, true]) {
        for (const [, script] of endings) {
          const ask = await keyed(script(served, stream))
          await (
            await ask(
              ...received(stream, {
                authorization: 'Bearer planted-key',
                'x-odd': 'planted-header',
              }),
            )
          ).text()
        }
        const ask = await keyed(sendJson(200, {}))
        await (await ask(...received(stream, { authorization: 'Bearer planted-wrong-key' }))).text()
        await (
          await ask(
            pathOf(client, { stream }),
            post('{"planted-broken', { authorization: 'Bearer planted-key' }),
          )
        ).text()
        for (const name of protocols[client].address.keyPlaces.headers)
          await (await ask(...received(stream, { [name]: 'planted-wrong-key' }))).text()
        const [path, init] = received(stream, {})
        await (
          await ask(`${path}${path.includes('?') ? '&' : '?'}key=planted-wrong-key`, init)
        ).text()
        expect(seen.pop()?.calls).toEqual([])
      }
      await wait(20)
      // The upstream did hear it.
      expect(seen.every(({ calls }) => calls.length === 1 && calls[0]?.text.includes(prompt))).toBe(
        true,
      )
    },
  )
})
