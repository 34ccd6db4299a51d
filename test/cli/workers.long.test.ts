import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import {
  after,
  one,
  paths,
  requests,
  responses,
  sendJson,
  streams,
  upstream,
} from '../gateway/support.ts'
import { freePort } from '../support/free-port.ts'
import { start, wireglotIn } from './support.ts'

/** `wireglot serve --workers 2`, in processes of its own. */

const isLinux = process.platform === 'linux'
const chat = 'chat-completions'

async function serving(config: object, more: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const file = join(folder, 'wireglot.config.json')
  const configure = (next: object) => writeFile(file, JSON.stringify({ records: false, ...next }))
  await configure(config)
  const options = ['--workers', '2', '--port', '0', '--log', 'json', ...more]
  const child = await start(['serve', ...options], { folder })
  const ended = once(child, 'close')
  after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const written = { out: '', err: '' }
  child.stdout?.on('data', chunk => {
    written.out += chunk
  })
  child.stderr?.on('data', chunk => {
    written.err += chunk
  })
  const isListening = () => /listening on (\S+)/.exec(written.out)?.[1]
  await expect.poll(isListening, { timeout: 30_000 }).toBeDefined()
  const url = isListening() ?? ''
  /** By a connection of its own: each one goes to the next worker. */
  const begin = (path: string, body?: object, headers: Record<string, string> = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const method = body ? 'POST' : 'GET'
      const type = { 'content-type': 'application/json' }
      request(url + path, { method, agent: false, headers: { ...type, ...headers } }, resolve)
        .on('error', reject)
        .end(body && JSON.stringify(body))
    })
  const ask = async (...asked: Parameters<typeof begin>) => {
    const response = await begin(...asked)
    return { status: response.statusCode, text: await text(response) }
  }
  const pids = async () => {
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    return children.trim().split(' ').map(Number)
  }
  return { folder, child, ended, written, configure, begin, ask, pids }
}

const limited = (url: string) => ({
  ...one(url, chat),
  auth: undefined,
  keys: [{ name: 'slow', key: 'slow-key-0123456789', requestsPerMinute: 4 }],
})
const slow = { authorization: 'Bearer slow-key-0123456789' }

test('share a limit, and their metrics are added up', async () => {
  const seen = await upstream(sendJson(200, responses[chat]))
  const { ask, written } = await serving(limited(seen.url))
  expect(written.out).toMatch(/^workers: 2$/m)
  expect(written.out.match(/listening on/g)).toHaveLength(1)
  const statuses: unknown[] = []
  for (let i = 0; i < 6; i++) statuses.push((await ask(paths[chat], requests[chat], slow)).status)
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
  for (let i = 0; i < 2; i++) {
    const { text } = await ask('/metrics')
    expect(text).toMatch(/^wireglot_requests_total\{[^}]*status="200"\} 4$/m)
    expect(text).toMatch(/^wireglot_requests_total\{[^}]*status="429"\} 2$/m)
  }
  await expect.poll(() => written.out.match(/"status":(200|429)/g)).toHaveLength(6)
})

test('share breakers', async () => {
  const seen = await upstream(sendJson(500, { error: { message: 'broken' } }))
  const breaker = { failures: 2, restMs: 60_000 }
  const { ask } = await serving(one(seen.url, chat, {}, {}, { breaker }))
  const states = async () => {
    const all = [await ask('/ready'), await ask('/ready')]
    return all.map(({ text }) => JSON.parse(text).channels[0].breaker)
  }
  await ask(paths[chat], requests[chat])
  expect(await states()).toEqual(['closed', 'closed'])
  await ask(paths[chat], requests[chat])
  await expect.poll(states).toEqual(['open', 'open'])
})

test('read a new configuration on SIGHUP', async () => {
  const { child, configure, ask } = await serving(one('http://127.0.0.1:1', chat))
  const models = async () => {
    const all = [await ask('/v1/models'), await ask('/v1/models')]
    return all.map(({ text }) => JSON.parse(text).data.map(({ id }: { id: string }) => id))
  }
  expect(await models()).toEqual([['m'], ['m']])
  await configure(one('http://127.0.0.1:1', chat, {}, { id: 'other' }))
  child.kill('SIGHUP')
  // The file is looked at once in a second.
  await expect.poll(models, { timeout: 900 }).toEqual([['other'], ['other']])
})

/** An upstream whose streams stop after their start until `go` is called. */
async function held() {
  const waiting: (() => void)[] = []
  const seen = await upstream(async response => {
    const [first = '', second = '', ...rest] = streams[chat]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(first + second)
    await new Promise<void>(resolve => waiting.push(resolve))
    response.end(rest.join(''))
  })
  const go = () => {
    for (const resolve of waiting) resolve()
  }
  after(go)
  return { seen, go }
}

const streamed = { ...requests[chat], stream: true }

/** The text of a stream, or what broke it. */
const textOf = (response: IncomingMessage) =>
  text(response).catch((error: Error) => `broken: ${error.message}`)

test.skipIf(!isLinux)('one that is killed loses its own streams, and is replaced', async () => {
  const { seen, go } = await held()
  const { begin, ask, pids, written } = await serving(one(seen.url, chat))
  const before = await pids()
  const texts = [await begin(paths[chat], streamed), await begin(paths[chat], streamed)].map(textOf)
  const [killed = 0] = before
  process.kill(killed, 'SIGKILL')
  // By whom, depends on when its end is noticed.
  await expect.poll(async () => (await ask('/health').catch(() => undefined))?.status).toBe(200)
  go()
  const ends = (await Promise.all(texts)).map(one => one.includes('[DONE]'))
  expect(ends.sort()).toEqual([false, true])
  await expect.poll(async () => (await pids()).length, { timeout: 10_000 }).toBe(2)
  expect(await pids()).not.toContain(killed)
  expect(written.err).toContain('a worker has ended and is replaced')
  await expect
    .poll(async () => (await ask('/metrics')).text, { timeout: 10_000 })
    .toMatch(/^wireglot_requests_total\{[^}]*status="200"\} 1$/m)
})

test.skipIf(!isLinux)(
  'those that are replaced ask for no key, where the first ones asked for none',
  async () => {
    const seen = await upstream(sendJson(200, responses[chat]))
    // Any free port would be another one once nobody listens.
    const port = ['--port', String(await freePort())]
    const config = { ...one(seen.url, chat), auth: undefined, records: { file: 'r.db' } }
    const { ask, pids, folder } = await serving(config, port)
    const status = async () => (await ask(paths[chat], requests[chat])).status
    expect(await status()).toBe(200)
    const made = await wireglotIn({ folder }, ['keys', 'create', 'ann', '--database', 'r.db'])
    expect(made.code).toBe(0)
    for (const pid of await pids()) process.kill(pid, 'SIGKILL')
    await expect.poll(() => status().catch(() => undefined), { timeout: 60_000 }).toBeDefined()
    expect(await status()).toBe(200)
  },
)

test.skipIf(!isLinux)(
  'one that is killed leaves no client waiting whose connection it has not accepted',
  async () => {
    const { ask, pids } = await serving(one('http://127.0.0.1:1', chat))
    const [hanging = 0] = await pids()
    process.kill(hanging, 'SIGSTOP')
    const asked = Array.from({ length: 4 }, () =>
      ask('/health').then(
        ({ status }) => status,
        () => 'closed',
      ),
    )
    await new Promise(resolve => setTimeout(resolve, 300))
    process.kill(hanging, 'SIGKILL')
    const ends = await Promise.all(asked)
    expect(ends).toContain('closed')
    expect(ends).toContain(200)
  },
)

test.skipIf(!isLinux)(
  'all finish their streams after SIGTERM, and take no new requests',
  async () => {
    const { seen, go } = await held()
    const { child, ended, begin, ask, written } = await serving(one(seen.url, chat))
    const texts = [await begin(paths[chat], streamed), await begin(paths[chat], streamed)].map(
      textOf,
    )
    child.kill('SIGTERM')
    const statuses = async () => [(await ask('/ready')).status, (await ask('/ready')).status]
    await expect.poll(statuses).toEqual([503, 503])
    go()
    for (const one of await Promise.all(texts)) expect(one).toContain('[DONE]')
    expect(await ended).toEqual([0, null])
    expect(written.err).not.toContain('is replaced')
  },
)

test('a configuration that is refused is said once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const config: GatewayConfig = { auth: 'none', channels: [] }
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const child = await start(['serve', '--workers', '2', '--port', '0'], { folder })
  const err = await text(child.stderr as NodeJS.ReadableStream)
  expect(err.match(/configuration at channels/g)).toHaveLength(1)
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(2)
})
