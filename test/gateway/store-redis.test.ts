import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type Redis, redisInstalled, redisTitle, startRedis } from './redis.ts'
import { hostsOf, one, post, requests, responses, sendJson, upstream } from './support.ts'

const path = '/v1/responses'
const good = sendJson(200, responses.messages)
const idOf = async (response: Response) => ((await response.json()) as { id: string }).id
const next = (previous: string) =>
  post({ model: 'm', input: 'And now?', previous_response_id: previous })

describe.skipIf(!redisInstalled)(redisTitle, () => {
  let redis: Redis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  describe.each(hostsOf(import.meta.url))('through %s', (name, start) => {
    const shared = (url: string, more: object = {}) =>
      one(url, 'messages', { store: { redis: redis.url(name === 'fetch' ? 2 : 1), ...more } })

    test('several processes share the same responses', async () => {
      const seen = await upstream(good)
      const [here, there] = [await start(shared(seen.url)), await start(shared(seen.url))]
      const id = await idOf(await here(path, post(requests.responses)))
      expect(await idOf(await there(`${path}/${id}`))).toBe(id)
      expect((await there(path, next(id))).status).toBe(200)
      expect(seen.calls[1]?.json['messages']).toMatchObject([
        { role: 'user' },
        { role: 'assistant' },
        { role: 'user' },
      ])
      expect((await there(`${path}/${id}`, { method: 'DELETE' })).status).toBe(200)
      expect((await here(`${path}/${id}`)).status).toBe(404)
    })

    test('treats a damaged response as unknown', async () => {
      const ask = await start(shared((await upstream(good)).url))
      const id = await idOf(await ask(path, post(requests.responses)))
      const client = createClient({ url: redis.url(name === 'fetch' ? 2 : 1) })
      await client.connect()
      expect(await client.append(`wireglot:response:["${id}"]`, '}')).toBeGreaterThan(10)
      client.destroy()
      expect((await ask(`${path}/${id}`)).status).toBe(404)
      expect((await ask(path, next(id))).status).toBe(400)
    })

    test('expires a response', async () => {
      const ask = await start(shared((await upstream(good)).url, { ttlMs: 1 }))
      const id = await idOf(await ask(path, post(requests.responses)))
      await new Promise(resolve => setTimeout(resolve, 50))
      expect((await ask(`${path}/${id}`)).status).toBe(404)
    })
  })
})

describe.each(hostsOf(import.meta.url))('while Redis cannot be reached, through %s', (_, start) => {
  test('returns responses, calls none unknown, and logs it without the password', async () => {
    const logged: unknown[] = []
    const log = (details: object, message: string) => logged.push(details, message)
    const config = one((await upstream(good)).url, 'messages', {
      store: { redis: `redis://user:planted-password@127.0.0.1:${await freePort()}` },
    })
    const ask = await start(config, { logger: { info: log, warn: log, error: log } })
    const first = await ask(path, post(requests.responses))
    expect(first.status).toBe(200)
    const id = await idOf(first)
    expect((await ask(path, next(id))).status).toBe(503)
    expect((await ask(`${path}/${id}`)).status).toBe(503)
    expect((await ask(path, post(requests.responses))).status).toBe(200)
    expect(JSON.stringify(logged)).toContain('response store cannot be reached')
  })
})
