import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type Redis, redisInstalled, redisTitle, startRedis } from './redis.ts'
import {
  hosts,
  hostsOf,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  upstream,
} from './support.ts'

const chat = (key: string) => post(requests['chat-completions'], { authorization: `Bearer ${key}` })
const path = paths['chat-completions']
const good = sendJson(200, responses['chat-completions'])

const teams = (url: string) => ({
  ...one(url, 'chat-completions'),
  auth: undefined,
  keys: [
    { name: 'slow', key: 'slow-key', requestsPerMinute: 2 },
    { name: 'free', key: 'free-key' },
    { name: 'one', key: 'one-key', group: 'team' },
    { name: 'two', key: 'two-key', group: 'team' },
  ],
  groups: { team: { requestsPerMinute: 3 } },
})

describe.each(hostsOf(import.meta.url))('through %s, in memory', (_, start) => {
  test('a key has a limit of its own', async () => {
    const ask = await start(config(await upstream(good)))
    expect([
      (await ask(path, chat('slow-key'))).status,
      (await ask(path, chat('slow-key'))).status,
    ]).toEqual([200, 200])
    const refused = await ask(path, chat('slow-key'))
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
    expect((await ask(path, chat('free-key'))).status).toBe(200)
  })

  test('the keys of a group share its limit', async () => {
    const ask = await start(config(await upstream(good)))
    const statuses: number[] = []
    for (const key of ['one-key', 'two-key', 'one-key', 'two-key'])
      statuses.push((await ask(path, chat(key))).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('does not forward requests that a limit refuses', async () => {
    const seen = await upstream(good)
    const ask = await start(config(seen))
    for (let i = 0; i < 5; i++) await ask(path, chat('slow-key'))
    expect(seen.calls.length).toBe(2)
  })

  test('does not count requests for a model that does not exist', async () => {
    const ask = await start(config(await upstream(good)))
    const asked = async (key: string, model: string) => {
      const body = { ...requests['chat-completions'], model }
      const { status, headers } = await ask(path, post(body, { authorization: `Bearer ${key}` }))
      return [status, headers.get('x-ratelimit-remaining-requests')]
    }
    expect(await asked('slow-key', 'm')).toEqual([200, '1'])
    expect(await asked('slow-key', 'other')).toEqual([404, '1'])
    expect(await asked('slow-key', 'm')).toEqual([200, '0'])
    expect(await asked('slow-key', 'm')).toEqual([429, '0'])
    // The limit of a group, too.
    for (let nth = 0; nth < 4; nth++) expect(await asked('one-key', 'other')).toEqual([404, '3'])
    expect(await asked('two-key', 'm')).toEqual([200, '2'])
  })

  test('does not count model listings', async () => {
    const ask = await start(config(await upstream(good)))
    for (let i = 0; i < 5; i++)
      expect(
        (await ask('/v1/models', { headers: { authorization: 'Bearer slow-key' } })).status,
      ).toBe(200)
  })
})

const config = ({ url }: { url: string }) => withoutAuth(teams(url))
const withoutAuth = ({ auth: _, ...rest }: ReturnType<typeof teams>) => rest

describe.skipIf(!redisInstalled)(redisTitle, () => {
  let redis: Redis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const shared = (url: string, database: number) => ({
    ...withoutAuth(teams(url)),
    limits: { redis: redis.url(database) },
  })
  const [[, start] = []] = hosts
  if (!start) throw new Error('no host')

  test('several processes share their limits', async () => {
    const seen = await upstream(good)
    const [here, there] = [await start(shared(seen.url, 1)), await start(shared(seen.url, 1))]
    const statuses: number[] = []
    for (const ask of [here, there, here, there])
      statuses.push((await ask(path, chat('slow-key'))).status)
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(seen.calls.length).toBe(2)
  })

  test('keeps a limit in Redis after the process ends', async () => {
    const seen = await upstream(good)
    const before = await start(shared(seen.url, 2))
    for (let i = 0; i < 2; i++) await before(path, chat('slow-key'))
    const after = await start(shared(seen.url, 2))
    expect((await after(path, chat('slow-key'))).status).toBe(429)
  })
})

test('counts per process while Redis is unreachable, and logs it without the password', async () => {
  const logged: unknown[] = []
  const log = (details: object, message: string) => logged.push(details, message)
  const [[, start] = []] = hosts
  if (!start) throw new Error('no host')
  const seen = await upstream(good)
  const ask = await start(
    {
      ...withoutAuth(teams(seen.url)),
      limits: { redis: `redis://user:planted-password@127.0.0.1:${await freePort()}` },
    },
    { logger: { info: log, warn: log, error: log } },
  )
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) statuses.push((await ask(path, chat('slow-key'))).status)
  expect(statuses).toEqual([200, 200, 429])
  expect(JSON.stringify(logged)).toContain('cannot be reached')
  expect(JSON.stringify(logged)).not.toContain('planted-password')
})
