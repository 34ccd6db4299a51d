import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/index.ts'
import {
  asking,
  failureIn,
  hosts,
  hostsOf,
  one,
  type Protocol,
  pairs,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

const protocols = Object.keys(paths) as Protocol[]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(protocols)('refuses a body that is nested too deeply: %s', async protocol => {
    const seen = await upstream(sendJson(200, responses[protocol]))
    const ask = await start(one(seen.url, protocol))
    const text = JSON.stringify(requests[protocol])
    const deep = (levels: number) =>
      `${text.slice(0, -1)},"odd":${'['.repeat(levels)}${']'.repeat(levels)}}`
    const refused = await ask(paths[protocol], post(deep(100_000)))
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('levels deep')
    expect(seen.calls).toEqual([])
    expect((await ask(paths[protocol], post(deep(200)))).status).toBe(200)
  })

  test.each([
    ['values', JSON.stringify(Array.from({ length: 1_300_000 }, () => 0))],
    [
      'keys',
      JSON.stringify(Object.fromEntries(Array.from({ length: 300_001 }, (_, i) => [`k${i}`, 0]))),
    ],
  ])('refuses a body with too many %s, in the dialect of its client', async (what, odd) => {
    const ask = await start(one('http://127.0.0.1:9', 'chat-completions'))
    for (const client of protocols) {
      const text = JSON.stringify(requests[client])
      const refused = await ask(paths[client], post(`${text.slice(0, -1)},"odd":${odd}}`))
      expect(refused.status).toBe(413)
      expect(failureIn(await refused.text(), client)?.message).toMatch(
        new RegExp(`has more than \\d+ ${what}`),
      )
    }
  })

  test('does not count brackets inside strings as nesting', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'))
    const content = `${'[{'.repeat(5000)} \\" " \\\\`
    expect(
      (
        await ask(
          paths.messages,
          post({ ...requests.messages, messages: [{ role: 'user', content }] }),
        )
      ).status,
    ).toBe(200)
  })

  test('a model id that is too long is refused with its place', async () => {
    const ask = await start(one('http://127.0.0.1:9', 'messages'))
    const response = await ask(
      paths['chat-completions'],
      post({ ...requests['chat-completions'], model: 'm'.repeat(300) }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { param: expect.stringContaining('model') },
    })
  })

  test('refuses a key that is too long', async () => {
    const { auth: _auth, ...config } = one('http://127.0.0.1:9', 'messages')
    const ask = await start({ ...config, keys: [{ name: 'alice', key: 'k' }] })
    expect(
      (await ask(paths.messages, post(requests.messages, { 'x-api-key': 'k'.repeat(5000) })))
        .status,
    ).toBe(401)
  })

  test.each(pairs)(
    'fails a stream whose event exceeds the limit: %s from %s',
    async (client, served) => {
      const long = streams[served].map(frame =>
        frame
          .replace('"Hel"', `"${'x'.repeat(20_000)}"`)
          .replace('"lo"', `"${'x'.repeat(20_000)}"`),
      )
      const { url } = await upstream(sendStream(long))
      const ask = await start(one(url, served, { defaults: { eventLimit: 10_000 } }))
      const response = await ask(...asking(client, { stream: true }))
      const text = await response.text()
      expect(text).toContain('too long')
      const ends: Record<Protocol, string> = {
        'chat-completions': '[DONE]',
        responses: 'response.completed',
        messages: 'message_stop',
        'generate-content': 'finishReason',
      }
      if (client !== served) expect(text).not.toContain(ends[client])
    },
  )
})

test.each(protocols)(
  'does not delay a client when an upstream sends many lines without data: %s',
  async protocol => {
    const { url } = await upstream(sendStream(['\n'.repeat(16_000), ':\n\n'.repeat(5_000)]))
    const [[, start] = []] = hosts
    const ask = await start?.(one(url, protocol))
    const before = process.cpuUsage()
    await (await ask?.(...asking(protocol, { stream: true })))?.text()
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1_500)
  },
)

test('a listing of an upstream that does not end is given up, and ours fails when there is nothing else to list', async () => {
  let sent = 0
  const seen = await upstream(async response => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .write('{"data":[{"id":"gpt-9"},{"id":"')
    const part = 'x'.repeat(1024 * 1024)
    for (; sent < 200 && !response.destroyed; sent++) if (!response.write(part)) await wait(1)
    response.end('"}]}')
  })
  const [[, start] = []] = hosts
  const { models: _, ...config } = one(seen.url, 'chat-completions')
  const ask = await start?.(config)
  const response = await ask?.('/v1/models')
  expect([response?.status, await response?.json()]).toMatchObject([
    502,
    { error: { message: expect.stringContaining('up') } },
  ])
  await until(() => seen.aborted === 1)
  expect(sent).toBeLessThan(100)
})

test('headers that are too large are refused where the server lets them through', async () => {
  const [, [, start] = []] = hosts
  const ask = await start?.(one('http://127.0.0.1:9', 'messages'))
  expect(
    (await ask?.(paths.messages, post(requests.messages, { 'x-odd': 'x'.repeat(100_000) })))
      ?.status,
  ).toBe(431)
})

test('accepts a limit for events from callers of the library', () => {
  const translator = createStreamTranslator({
    from: 'chat-completions',
    to: 'messages',
    maxEventLength: 100,
  })
  const out = translator.push(`data: {"id":"${'x'.repeat(200)}"`) + translator.end()
  expect(out).toContain('too long')
  expect(translator.error).toMatchObject({ status: 502 })
})
