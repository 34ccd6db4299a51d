import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type Redis, redisInstalled, redisTitle, startRedis } from '../gateway/redis.ts'
import {
  after,
  asking,
  half,
  isStreaming,
  type Protocol,
  responses,
  streams,
  type Upstream,
  until,
  upstream,
} from '../gateway/support.ts'
import { covered } from '../support/covered.ts'
import { freePort } from '../support/free-port.ts'
import { ask } from './asking.ts'

/** Processes that are stopped or killed while official SDKs receive responses. */

const timeoutMs = 60_000
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

type Started = {
  child: ChildProcess
  url: string
  exit: Promise<{ code: number | null; at: number }>
}

function run(args: string[], env: Record<string, string>): Pick<Started, 'child' | 'exit'> {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<{ code: number | null; at: number }>(resolve =>
    child.once('exit', code => resolve({ code, at: Date.now() })),
  )
  after(async () => {
    child.kill('SIGKILL')
    await exit
  })
  return { child, exit }
}

async function serving(config: GatewayConfig, graceSeconds: number): Promise<Started> {
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  await writeFile(file, JSON.stringify(config))
  const started = run(
    [
      fileOf('../../src/cli/main.ts'),
      'serve',
      '--config',
      file,
      '--port',
      '0',
      '--grace',
      String(graceSeconds),
    ],
    {},
  )
  const url = await new Promise<string>((resolve, reject) => {
    let out = ''
    started.child.stdout?.on('data', chunk => {
      out += String(chunk)
      const [, found] = /^listening on (\S+)$/m.exec(out) ?? []
      if (found) resolve(found)
    })
    void started.exit.then(({ code }) => reject(new Error(`ended with ${code}: ${out}`)))
  })
  return { ...started, url }
}

/** An upstream that sends half of each response, and the rest on demand. */
async function holding(served: Protocol): Promise<Upstream & { release(): void }> {
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const seen = await upstream(async (response, call) => {
    const stream = isStreaming(served, call)
    const frames = streams[served]
    const all = stream ? frames.join('') : JSON.stringify(responses[served])
    const begin = stream ? half(served).join('') : all.slice(0, 20)
    response
      .writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
      .write(begin)
    await released
    response.end(all.slice(begin.length))
  })
  return Object.assign(seen, { release })
}

async function allHolding() {
  const upstreams = await Promise.all(
    covered.map(async name => [name, await holding(name)] as const),
  )
  const config: GatewayConfig = {
    auth: 'none',
    channels: upstreams.map(([name, { url }]) => ({ name, protocols: [name], baseUrl: url })),
    models: upstreams.map(([name]) => ({ id: `m-${name}`, channels: [{ name }] })),
    defaults: { retries: 0 },
  }
  return { upstreams: upstreams.map(([, one]) => one), config }
}

const cells = covered.flatMap(client =>
  covered.flatMap(served => [true, false].map(stream => ({ client, served, stream }))),
)
const calls = (upstreams: readonly Upstream[]) =>
  upstreams.reduce((sum, one) => sum + one.calls.length, 0)

describe('wireglot serve on a stop signal', () => {
  test('finishes responses in progress, lets new clients of every protocol retry, and ends', async () => {
    const { upstreams, config } = await allHolding()
    const { child, url, exit } = await serving(config, 60)
    const running = cells.map(({ client, served, stream }) =>
      ask[client](url, { stream, model: `m-${served}`, retries: 0 }),
    )
    await until(() => calls(upstreams) === cells.length, timeoutMs)
    child.kill('SIGTERM')
    // Nothing shows when the signal has arrived.
    while ((await fetch(`${url}/v1/models`)).status === 200);
    for (const client of covered) {
      const [path, init] = asking(client, { model: 'm-messages' })
      const refused = await fetch(url + path, init)
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(refused.headers.get('connection')).toBe('close')
      expect(strictOf(client).checkError(await refused.json())).toEqual([])
    }
    for (const one of upstreams) one.release()
    expect(await Promise.all(running)).toEqual(cells.map(() => 'Hello'))
    expect((await exit).code).toBe(0)
  })

  test('sends an error to every open stream when the grace time is over', async () => {
    const { upstreams, config } = await allHolding()
    const { child, url, exit } = await serving(config, 1)
    const running = cells.map(({ client, served, stream }) =>
      ask[client](url, { stream, model: `m-${served}`, retries: 0 }),
    )
    const ends = Promise.allSettled(running)
    await until(() => calls(upstreams) === cells.length, timeoutMs)
    const { port } = new URL(url)
    const [path, { body }] = asking('messages', { model: 'm-messages', stream: true })
    // One does not read its response, and one has not sent its whole request.
    for (const sent of [String(body), String(body).slice(0, 20)]) {
      const socket = connect(Number(port), '127.0.0.1').pause()
      socket.on('error', () => {})
      after(() => socket.destroy())
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${String(body).length}\r\n\r\n${sent}`,
      )
    }
    await until(() => calls(upstreams) === cells.length + 1, timeoutMs)
    const reported = Date.now()
    child.kill('SIGTERM')
    expect((await ends).map(({ status }) => status)).toEqual(cells.map(() => 'rejected'))
    const { code, at } = await exit
    expect(code).toBe(0)
    // The grace time, the close timeout, and a busy machine.
    expect(at - reported).toBeLessThan(1_000 + 1_000 + 10_000)
    await until(
      () => upstreams.every(({ aborted, calls: list }) => aborted === list.length),
      timeoutMs,
    )
  })
})

describe.skipIf(!redisInstalled)(`several processes behind one port, ${redisTitle}`, () => {
  let redis: Redis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  type Received = { servedBy: string; text: Promise<string> }

  async function startCluster(database: number, perMinute = 10_000) {
    const seen = await holding('messages')
    const port = await freePort()
    const { child, exit } = run([fileOf('../examples/cluster.ts')], {
      PROCESSES: '2',
      PORT: String(port),
      PER_MINUTE: String(perMinute),
      REDIS_URL: redis.url(database),
      ALICE_KEY: 'client-secret',
      ANTHROPIC_API_KEY: 'upstream-secret',
      ANTHROPIC_BASE_URL: seen.url,
    })
    const url = `http://127.0.0.1:${port}`
    const pids = new Set<string>()
    /** Both listen: each has refused somebody without a key. */
    const ready = async (wanted: number) => {
      for (
        const end = Date.now() + timeoutMs;
        pids.size < wanted;
        await new Promise(resolve => setTimeout(resolve, 50))
      ) {
        if (Date.now() > end) throw new Error(`${pids.size} processes listen`)
        // Many at once, or the first process that wakes takes them all.
        const responses = Array.from({ length: 20 }, () =>
          fetch(`${url}/v1/models`, { headers: { connection: 'close' } }).catch(() => undefined),
        )
        for (const response of await Promise.all(responses)) {
          const pid = response?.headers.get('x-served-by')
          if (pid) pids.add(pid)
        }
      }
    }
    await ready(2)
    return { seen, url, pids, ready, child, exit }
  }

  /** A stream under way, and the process that it comes from. */
  async function opened(client: Protocol, url: string): Promise<Received> {
    let report = (_: string) => {}
    const servedBy = new Promise<string>(resolve => {
      report = resolve
    })
    const spied: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      report(response.headers.get('x-served-by') ?? '')
      return response
    }
    const text = ask[client](url, {
      stream: true,
      model: 'sonnet',
      key: 'client-secret',
      retries: 0,
      fetch: spied,
    })
    text.catch(() => {})
    return { servedBy: await servedBy, text }
  }

  test('loses only its own open streams when it is killed, and is replaced', async () => {
    const { seen, url, pids, ready } = await startCluster(1)
    const streams: Received[] = []
    const serving = () => new Set(streams.map(({ servedBy }) => servedBy))
    for (let round = 0; round < 3 || (serving().size < 2 && round < 20); round++)
      streams.push(
        ...(await Promise.all([...covered, ...covered].map(client => opened(client, url)))),
      )
    expect(serving()).toEqual(pids)
    const [victim = ''] = pids
    const lost = streams.filter(({ servedBy }) => servedBy === victim)
    process.kill(Number(victim), 'SIGKILL')
    const recovered = covered.map(client =>
      ask[client](url, { stream: true, model: 'sonnet', key: 'client-secret', retries: 8 }),
    )
    for (const { text } of lost) await expect(text).rejects.toThrow()
    seen.release()
    for (const { servedBy, text } of streams)
      if (servedBy !== victim) expect(await text).toBe('Hello')
    expect(await Promise.all(recovered)).toEqual(covered.map(() => 'Hello'))
    await ready(3)
  })

  test('finishes the streams of a stopped process, and serves new clients from the other', async () => {
    const { seen, url, pids } = await startCluster(2)
    const streams = await Promise.all(
      Array.from({ length: 3 }, () => covered).flatMap(names =>
        names.map(client => opened(client, url)),
      ),
    )
    process.kill(Number([...pids][0]), 'SIGTERM')
    const newcomers = covered.map(client =>
      ask[client](url, { stream: false, model: 'sonnet', key: 'client-secret', retries: 8 }),
    )
    seen.release()
    for (const { text } of streams) expect(await text).toBe('Hello')
    expect(await Promise.all(newcomers)).toEqual(covered.map(() => 'Hello'))
  })

  test('share one rate limit', async () => {
    const { seen, url } = await startCluster(3, 20)
    seen.release()
    const served = new Set<string | null>()
    const [path, init] = asking(
      'messages',
      { model: 'sonnet' },
      { 'x-api-key': 'client-secret', connection: 'close' },
    )
    let good = 0
    for (let round = 0; round < 3 || (served.size < 2 && round < 50); round++) {
      const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(url + path, init)))
      for (const { headers } of responses) served.add(headers.get('x-served-by'))
      good += responses.filter(({ status }) => status === 200).length
      expect(responses.filter(({ status }) => status !== 200 && status !== 429)).toEqual([])
    }
    expect(served.size).toBe(2)
    expect(good).toBe(20)
  })

  test('end together when the first process gets a stop signal', async () => {
    const { child, exit, pids } = await startCluster(4)
    child.kill('SIGTERM')
    expect((await exit).code).toBe(0)
    for (const pid of pids) expect(() => process.kill(Number(pid), 0)).toThrow()
  })
})
