import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { adminSources } from '../../src/cli/admin-sources.ts'
import { serve } from '../../src/cli/serve.ts'
import { createLearned } from '../../src/gateway/upstream/learned.ts'
import { after } from '../gateway/support.ts'
import { connectSdk, refusedHandshake } from './connect.ts'

/** `wireglot serve` with WebSocket, from a configuration file. */

async function started(config: object) {
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  await writeFile(file, JSON.stringify({ records: false, ...config }))
  const lines: string[] = []
  const served = await serve(
    { host: '127.0.0.1', port: 0, config: file, log: 'json', grace: 1 },
    { out: line => void lines.push(line), err: () => {} },
  )
  after(served.close)
  return { ...served, lines }
}

const demo = {
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: [{ id: 'demo', channels: [{ name: 'demo' }] }],
}

afterEach(() => {
  vi.doUnmock('ws')
})

test('serves the official client over WebSocket, and logs each message as a request', async () => {
  const { url, lines } = await started({ webSocket: true, ...demo })
  const { ask, events } = await connectSdk(url)
  const first = await ask({ model: 'demo', store: false, input: 'Hi' })
  expect(first.type).toBe('response.completed')
  const { id } = first['response'] as { id: string }
  expect(
    (await ask({ model: 'demo', store: false, input: 'More', previous_response_id: id })).type,
  ).toBe('response.completed')
  expect(events.filter(({ type }) => type === 'response.output_text.delta').length).toBeGreaterThan(
    1,
  )
  expect(
    lines.filter(line => line.includes('"model":"demo"') && line.startsWith('{')),
  ).toHaveLength(2)
})

test('sends requests of one gateway over WebSocket to another one', async () => {
  const provider = await started({ webSocket: true, ...demo })
  const { url } = await started({
    channels: [
      { name: 'up', protocols: ['responses'], baseUrl: provider.url, transport: 'websocket' },
    ],
    models: [{ id: 'demo', channels: [{ name: 'up' }] }],
  })
  for (const stream of [true, false]) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', stream, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining(stream ? '[DONE]' : '"finish_reason":"stop"'),
    ])
  }
})

test('verifies a channel over WebSocket, as the gateway uses it', async () => {
  const provider = await started({ webSocket: true, ...demo })
  const { verify } = adminSources({
    state: () => ({ isClosing: false, inProgress: 0, webSocket: false, channels: [] }),
    config: () => ({
      channels: [
        { name: 'up', protocols: ['responses'], baseUrl: provider.url, transport: 'websocket' },
      ],
    }),
    environment: {},
    current: () => ({ learned: createLearned }),
  })
  expect(await verify?.('up', 'demo')).toMatchObject({ ok: true })
  const calls = provider.lines.filter(line => line.includes('"model":"demo"'))
  expect(calls.length).toBeGreaterThan(1)
})

test.each([true, false])(
  'writes settings for Codex that use WebSocket only if the gateway accepts it (%s)',
  async webSocket => {
    const { url } = await started({ webSocket, ...demo })
    const response = await fetch(`${url}/client-config?client=codex`, {
      headers: { accept: 'text/plain' },
    })
    expect((await response.text()).split('\n').includes('supports_websockets = true')).toBe(
      webSocket,
    )
  },
)

test('responds to the upgrade as without WebSocket when the configuration does not ask for it', async () => {
  const { url } = await started(demo)
  expect((await refusedHandshake(url)).status).toBe(426)
})

test('responds with 404 to an upgrade at a path that is none of the gateway', async () => {
  const { url } = await started({ webSocket: true, ...demo })
  expect((await refusedHandshake(url, {}, '/chat')).status).toBe(404)
})

test.each([
  ['clients', { webSocket: true, ...demo }],
  [
    'upstreams',
    {
      channels: [
        {
          name: 'up',
          protocols: ['responses'],
          baseUrl: 'http://127.0.0.1:1',
          transport: 'websocket',
        },
      ],
    },
  ],
])('does not start without the package ws when %s need it', async (_, config) => {
  vi.resetModules()
  vi.doMock('ws', () => {
    throw new Error('not installed')
  })
  const { serve: fresh } = await import('../../src/cli/serve.ts')
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  await writeFile(file, JSON.stringify({ records: false, ...config }))
  await expect(
    fresh({ host: '127.0.0.1', port: 0, config: file }, { out: () => {}, err: () => {} }),
  ).rejects.toThrow('npm install ws')
})
