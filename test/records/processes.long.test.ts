import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/records/database.ts'
import { findRecords } from '../../src/records/queries.ts'
import { redisInstalled, startRedis } from '../gateway/redis.ts'
import { after, paths, post, requests, sendJson, upstream } from '../gateway/support.ts'
import { freePort } from '../support/free-port.ts'
import { postgresPrograms, startPostgres } from './postgres.ts'

const adminKey = 'admin-key-0123456789'
const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const canRun = postgresPrograms !== undefined && redisInstalled

let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
let redis: Awaited<ReturnType<typeof startRedis>>
beforeAll(async () => {
  if (!canRun) return
  postgres = await startPostgres()
  redis = await startRedis()
}, 60_000)
afterAll(async () => {
  redis?.stop()
  await postgres?.stop()
})

test.skipIf(canRun)(
  'PostgreSQL or Redis is not installed here, so the tests of several processes are skipped',
  () => expect(canRun).toBe(false),
)

/** `wireglot serve` in a process of its own. `mostKilobytes`: of a file that it writes. */
async function started(
  config: object,
  options: readonly string[] = [],
  mostKilobytes?: number,
): Promise<{ url: string; child: ChildProcess; ended: Promise<unknown> }> {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const port = await freePort()
  const command = [
    process.execPath,
    '--import',
    'tsx',
    main,
    'serve',
    '--port',
    String(port),
    '--log',
    'off',
    '--config',
    join(folder, 'wireglot.config.json'),
  ]
  const limited =
    mostKilobytes === undefined ? [] : ['bash', '-c', `ulimit -f ${mostKilobytes}; exec "$0" "$@"`]
  const [program = '', ...args] = [...limited, ...command, ...options]
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    // Not the databases and keys of whoever runs the tests.
    env: { PATH: process.env['PATH'], ...(postgres && { DATABASE_URL: postgres.url }) },
  })
  const ended = new Promise(resolve => child.once('exit', resolve))
  after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`it ended with ${code}`)))
    child.stdout?.on('data', text => String(text).includes('listening on') && resolve())
  })
  return { url: `http://127.0.0.1:${port}`, child, ended }
}

describe.skipIf(!canRun)('two processes on one PostgreSQL and one Redis', () => {
  test('share keys, limits and budgets, and lose no record when one is killed', async () => {
    const result = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 50 },
    }
    const seen = await upstream(sendJson(200, result))
    const config = {
      channels: [{ name: 'up', protocols: ['messages'], baseUrl: seen.url }],
      models: [{ id: '*', channels: [{ name: 'up' }] }],
      limits: { redis: redis.url(0) },
      adminKey,
    }
    const [first, second] = await Promise.all([started(config), started(config)])
    const admin = async (url: string, path: string, json?: object) => {
      const body = json && { method: 'POST', body: JSON.stringify(json) }
      const response = await fetch(`${url}/admin/${path}`, {
        ...body,
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      })
      return (await response.json()) as {
        secret: string
        records: { id: string }[]
        sums: { requests: number }[]
      }
    }
    const ask = async (url: string, key: string) => {
      const sent = post({ ...requests.messages, model: 'm' })
      const response = await fetch(url + paths.messages, {
        ...sent,
        headers: { ...sent.headers, 'x-api-key': key },
      })
      await response.text()
      return { status: response.status, id: response.headers.get('request-id') ?? '' }
    }
    const countOf = async (url: string) =>
      (await admin(url, 'usage')).sums.reduce((all, { requests: number }) => all + number, 0)

    // Keys and rate limits.
    const { secret } = await admin(first.url, 'keys', { name: 'limited', requestsPerMinute: 4 })
    const statuses = []
    for (let call = 0; call < 3; call++)
      for (const { url } of [first, second]) statuses.push((await ask(url, secret)).status)
    expect(statuses.filter(status => status === 200)).toHaveLength(4)
    expect(statuses.filter(status => status === 429)).toHaveLength(2)

    // Budgets: what one process has used counts in the other within a second or two.
    const { secret: spender } = await admin(second.url, 'keys', {
      name: 'spender',
      tokensPerDay: 300,
    })
    expect([
      (await ask(first.url, spender)).status,
      (await ask(first.url, spender)).status,
    ]).toEqual([200, 200])
    for (let tries = 0; (await ask(second.url, spender)).status !== 429; tries++) {
      if (tries > 3) throw new Error('the second process does not see what the first one spent')
      await new Promise(resolve => setTimeout(resolve, 1500))
    }

    // SIGTERM writes what is left; SIGKILL loses nothing that was committed.
    const { secret: free } = await admin(first.url, 'keys', { name: 'free' })
    const before = await countOf(second.url)
    const received = await Promise.all(Array.from({ length: 20 }, () => ask(first.url, free)))
    first.child.kill('SIGTERM')
    await first.ended
    expect(await countOf(second.url)).toBe(before + 20)
    const { records } = await admin(second.url, 'records?key=free&limit=100')
    expect(records.map(({ id }) => id).sort()).toEqual(received.map(({ id }) => id).sort())

    const third = await started(config)
    const committed = await countOf(third.url)
    second.child.kill('SIGKILL')
    await second.ended
    expect(await countOf(third.url)).toBe(committed)
    expect((await ask(third.url, free)).status).toBe(200)
  }, 120_000)
})

describe('one process with a file', () => {
  test('SIGTERM in the middle of a stream writes its record, too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    const file = join(folder, 'r.db')
    const seen = await upstream(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}\n\n',
      )
    })
    const config = {
      auth: 'none',
      channels: [{ name: 'up', protocols: ['messages'], baseUrl: seen.url }],
      records: { file },
    }
    const { url, child, ended } = await started(config, ['--grace', '1'])
    const response = await fetch(
      url + paths.messages,
      post({ ...requests.messages, model: 'm', stream: true }),
    )
    const reader = response.body?.getReader()
    await reader?.read()
    child.kill('SIGTERM')
    await ended
    await reader?.cancel().catch(() => {})
    const database = await openDatabase({ file })
    const { records } = await findRecords(database, {}, 10)
    expect(records).toMatchObject([{ model: 'm', channel: 'up', stream: 1, failure: 'gateway' }])
    await database.close()
  }, 60_000)

  test('a full disk stops no request: records are dropped, and this is reported', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    const body = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    }
    const seen = await upstream(sendJson(200, body))
    const config = {
      auth: 'none',
      channels: [{ name: 'up', protocols: ['messages'], baseUrl: seen.url }],
      records: { file: join(folder, 'r.db') },
      adminKey,
    }
    // No file of the process may be longer than 160 KB, which holds the empty tables.
    const { url } = await started(config, [], 160)
    let last = 0
    for (let round = 0; round < 30; round++) {
      const requested = Array.from({ length: 20 }, () =>
        fetch(url + paths.messages, post({ ...requests.messages, model: `m-${round}` })),
      )
      for (const response of await Promise.all(requested)) {
        last = response.status
        await response.arrayBuffer()
      }
    }
    expect(last).toBe(200)
    const response = await fetch(`${url}/ready`)
    expect(response.status).toBe(200)
    expect(JSON.stringify(await response.json())).toContain('unreachable')
  }, 60_000)
})
