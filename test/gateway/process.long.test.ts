import { spawn } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { translateRequest, translateResponse } from '../../src/index.ts'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { freePort } from '../support/free-port.ts'
import { after, paths, post, responses, sendJson, upstream } from './support.ts'

/** What a client may do to the process, which has a heap of its own. */

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** `wireglot serve` with a heap of so many megabytes. */
async function serving(config: object, heap = 1_000) {
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'wireglot.config.json')
  await writeFile(file, JSON.stringify({ auth: 'none', records: false, ...config }))
  const port = await freePort()
  const options = ['--port', String(port), '--log', 'off', '--config', file]
  const command = [`--max-old-space-size=${heap}`, '--import', 'tsx', main, 'serve', ...options]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] })
  after(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const health = () => fetch(`${url}/health`).then(response => response.status === 200)
  for (let isUp = false; !isUp; ) isUp = await health().catch(() => false)
  return { url, child, health }
}

const channel = (url: string, protocol: ProtocolName) => ({
  name: protocol,
  protocols: [protocol],
  baseUrl: url,
})
const config = (url: string, protocol: ProtocolName, more: object = {}) => ({
  channels: [channel(url, protocol)],
  models: [{ id: 'm', channels: [{ name: protocol }] }],
  defaults: { retries: 0 },
  ...more,
})
const megabytes = (count: number) => 'x'.repeat(count * 1_000_000)

test('serves others while 30 WebSocket connections keep 30 MB each', async () => {
  const seen = await upstream(sendJson(200, responses.responses))
  const { url, child, health } = await serving(config(seen.url, 'responses', { webSocket: true }))
  const input = megabytes(30)
  const message = { type: 'response.create', model: 'm', generate: false, input }
  const text = JSON.stringify(message)
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`)
      after(() => socket.terminate())
      return new Promise<string>(resolve => {
        socket.on('open', () => socket.send(text))
        socket.on('message', data => {
          const { type, status } = JSON.parse(String(data))
          if (type === 'response.completed') resolve('kept')
          if (type === 'error') resolve(`error ${status}`)
        })
        socket.on('error', () => {})
        socket.on('close', code => resolve(`closed ${code}`))
      })
    }),
  )
  const kept = outcomes.filter(outcome => outcome === 'kept').length
  const others = new Set(outcomes.filter(outcome => outcome !== 'kept'))
  console.log(`${kept} of 30 kept, others: ${[...others].join(', ')}`)
  expect(kept).toBeGreaterThan(3)
  expect(kept).toBeLessThan(30)
  expect(child.exitCode).toBeNull()
  expect(await health()).toBe(true)
  const asked = await fetch(url + paths.responses, post({ model: 'm', input: 'Hi' }))
  expect(asked.status).toBe(200)
})

/** In megabytes. */
const memoryOf = async (pid: number | undefined) =>
  Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(process.platform !== 'linux')(
  'takes no more memory for 100 compressed bodies at once than its limit allows',
  async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const limits = { memoryBytes: 200_000_000 }
    const { url, child, health } = await serving(config(seen.url, 'messages', { limits }))
    const before = await memoryOf(child.pid)
    const bomb = gzipSync(JSON.stringify({ model: 'unknown', messages: [megabytes(31)] }))
    expect(bomb.length).toBeLessThan(40_000)
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
        return (await fetch(url + paths.messages, { method: 'POST', headers, body: bomb })).status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([404, 503]))
    // The whole is there beside its pieces for a moment.
    expect((await memoryOf(child.pid)) - before).toBeLessThan(600)
    expect(await health()).toBe(true)
  },
)

const code = 'function add(a, b) {\n  return a + b // "sum"\n}\n'.repeat(150)

/** The history of an agent with about so many bytes. */
function historyOf(length: number) {
  const messages: object[] = []
  for (let i = 0; i * 7_800 < length; i++) {
    const called = { name: 'read_file', arguments: `{"path":"/src/file${i}.ts"}` }
    const call = { id: `call_${i}`, type: 'function', function: called }
    messages.push(
      { role: 'user', content: `Go on ${i}` },
      { role: 'assistant', content: 'I read the file.', tool_calls: [call] },
      { role: 'tool', tool_call_id: `call_${i}`, content: code + i },
    )
  }
  return { model: 'm', max_completion_tokens: 100, messages }
}

/** Other bodies with about so many bytes. */
const shapes: Record<string, (length: number) => object> = {
  'one long text': length => saying([{ role: 'user', content: 'é"\n'.repeat(length / 6) }]),
  'many short messages': length =>
    saying(
      Array.from({ length: Math.min(length / 70, 49_000) }, (_, i) => ({
        role: i % 2 ? ('assistant' as const) : ('user' as const),
        content: `Go on ${i} ${'x'.repeat(i % 200)}`,
      })),
    ),
  'an image': length => {
    const url = `data:image/png;base64,${'iVBORw0KGgo='.slice(0, 8).repeat(length / 8)}`
    return saying([{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }])
  },
  'arguments with many values': length => {
    const list = `[${'1234567890,'.repeat(Math.min(length / 15, 400_000))}1]`
    const called = { name: 'f', arguments: `{"list":${list}}` }
    return saying([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: called }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
    ])
  },
}

const saying = (messages: object[]) => ({ model: 'm', messages })

/** The processor time of the main thread, in milliseconds: other programs do not count. */
async function workOf(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8'))
    .split(') ')[1]
    ?.split(' ')
  return (Number(fields?.[11]) + Number(fields?.[12])) * 10
}

/** The path of a protocol, and what its body says of the model. */
const calling = (from: ProtocolName, model: string): [path: string, named: object] => {
  if (from === 'converse') return [`/model/${model}/converse`, {}]
  if (from === 'generate-content') return [`/v1beta/models/${model}:generateContent`, {}]
  return [paths[from], { model }]
}

const whole = (to: ProtocolName) =>
  translateResponse(responses.messages, { from: 'messages', to } as never).body as object

test.skipIf(process.platform !== 'linux')(
  'responds to /health while it translates 32 MB between all pairs',
  { timeout: 600_000 },
  async () => {
    const ups = await Promise.all(protocolNames.map(to => upstream(sendJson(200, whole(to)))))
    const { url, child, health } = await serving(
      {
        channels: protocolNames.map((to, i) => channel(ups[i]?.url ?? '', to)),
        models: protocolNames.map(name => ({ id: name, channels: [{ name }] })),
        defaults: { retries: 0 },
      },
      2_000,
    )
    /** The longest work between a question and its answer. */
    async function longest(path: string, body: object): Promise<number> {
      let isDone = false
      const asked = fetch(url + path, post(body)).then(async response => {
        const text = await response.text()
        isDone = true
        expect([response.status, text]).toEqual([200, expect.anything()])
      })
      let most = 0
      while (!isDone) {
        const before = await workOf(child.pid)
        expect(await health()).toBe(true)
        most = Math.max(most, (await workOf(child.pid)) - before)
      }
      await asked
      return most
    }
    const found: string[] = []
    for (const [name, make] of Object.entries({ 'a history': historyOf, ...shapes }))
      for (const from of protocolNames)
        for (const to of protocolNames) {
          if (from === to) continue
          for (const length of [300_000, 31_000_000]) {
            const made = translateRequest(
              make(length) as never,
              { from: 'chat-completions', to: from } as never,
            )
            const [path, named] = calling(from, to)
            const ms = await longest(path, { ...(made.body as object), ...named })
            // At most 200 on an idle machine; others share the caches of the processor.
            if (ms > 400) found.push(`${name}, ${from} → ${to}: ${ms} ms`)
          }
        }
    expect(found).toEqual([])
  },
)
