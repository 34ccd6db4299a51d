import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Server } from 'node:http'
import { connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { explodeResponse, translateRequest, translateResponse } from '../../src/index.ts'
import { relay } from './stream.ts'

const response = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi!' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 3 },
}

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

// Its tests are tests of this file, too.
describe('cassettes.ts', async () => {
  await import('./cassettes.ts')
})

describe('pure functions', () => {
  test('translate.ts prints what it says', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    await import('./translate.ts')
    const printed = log.mock.calls.map(args =>
      args.map(arg => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' '),
    )
    expect(printed[0]).toContain('"max_tokens":32000')
    expect(printed.some(line => line.startsWith('dropped /seed'))).toBe(true)
    expect(printed.some(line => line.startsWith('synthesized /max_tokens'))).toBe(true)
    expect(printed.at(-1)).toContain('"content":"Hi!"')
  })

  test('stream.ts relays a stream', async () => {
    let out = ''
    async function* upstream() {
      yield new TextEncoder().encode(explodeResponse(response, { protocol: 'messages' }))
    }
    await relay(upstream(), text => {
      out += text
    })
    expect(out).toContain('"content":"Hi!"')
    expect(out.trimEnd().endsWith('data: [DONE]')).toBe(true)
  })

  test('normalize.ts prints the same for one response in every protocol', async () => {
    const { context } = translateRequest(
      { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
      { from: 'messages', to: 'messages' },
    )
    const others = (['chat-completions', 'responses', 'generate-content'] as const).map(
      to => translateResponse(response, { from: 'messages', to, context }).body,
    )
    const lines = await printedBy(
      'normalize.ts',
      [response, ...others].map(body => JSON.stringify(body)).join('\n'),
    )
    expect(lines.map(line => (JSON.parse(line) as { protocol: string }).protocol)).toEqual([
      'messages',
      'chat-completions',
      'responses',
      'generate-content',
    ])
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({
        text: 'Hi!',
        calls: [],
        finish: 'stop',
        usage: { input: 8, output: 3 },
      })
  })
})

describe('SDKs in the process of the gateway', () => {
  test.each([
    ['in-process-openai.ts', () => import('./in-process-openai.ts')],
    ['in-process-anthropic.ts', () => import('./in-process-anthropic.ts')],
    ['in-process-google.ts', () => import('./in-process-google.ts')],
    ['in-process-ai-sdk.ts', () => import('./in-process-ai-sdk.ts')],
    ['in-process-langchain.ts', () => import('./in-process-langchain.ts')],
  ])('%s prints a response and a stream', async (_, start) => {
    // The demo model responds, also where a key is set.
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    let printed = ''
    const print = (text: unknown) => {
      printed += String(text)
      return true
    }
    vi.spyOn(console, 'log').mockImplementation(text => void print(`${text}\n`))
    vi.spyOn(process.stdout, 'write').mockImplementation(print)
    await start()
    vi.restoreAllMocks()
    expect(printed).toBe('Hello! You said: Hello\nHello! You said: Hello\n')
  })
})

describe('servers', () => {
  test.each([
    ['express.ts', '', () => import('./express.ts')],
    ['express-4.ts', '/llm', () => import('./express-4.ts')],
    ['connect.ts', '', () => import('./connect.ts')],
    ['http.ts', '', () => import('./http.ts')],
  ])('%s serves', async (name, mount, start) => {
    vi.stubEnv('PORT', '0')
    // The demo model responds, also where a key is set.
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    const listen = vi.spyOn(Server.prototype, 'listen')
    const signals = process.listeners('SIGTERM')
    await start()
    const server = listen.mock.contexts[0] as Server
    try {
      await vi.waitUntil(() => server.listening)
      const { port } = server.address() as AddressInfo
      await responses(`http://127.0.0.1:${port}${mount}`, fetch)
      if (!name.startsWith('express')) await responseOverHttp2(`http://127.0.0.1:${port}`)
    } finally {
      for (const listener of process.listeners('SIGTERM').filter(one => !signals.includes(one)))
        process.off('SIGTERM', listener)
      server.closeAllConnections()
      server.close()
    }
  })

  test('hono.ts handles requests next to the routes of the application', async () => {
    const { default: app } = await import('./hono.ts')
    await responses('http://hono.test/llm', async (url, init) => app.fetch(new Request(url, init)))
    expect(await (await app.fetch(new Request('http://hono.test/'))).text()).toBe('the application')
  })

  test('next.ts handles requests', async () => {
    const { POST, GET } = await import('./next.ts')
    await responses('http://next.test/llm', (url, init) =>
      (init?.method === 'POST' ? POST : GET)(new Request(url, init)),
    )
  })
})

async function responses(
  base: string,
  send: (url: string, init?: RequestInit) => Promise<Response>,
): Promise<void> {
  const body = JSON.stringify({
    model: 'demo',
    messages: [{ role: 'user', content: 'Hello there' }],
  })
  const response = await send(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(await response.json()).toMatchObject({
    choices: [
      { message: { content: expect.stringContaining('Hello there') }, finish_reason: 'stop' },
    ],
  })
  expect((await send(`${base}/v1/models`)).status).toBe(200)
}

async function responseOverHttp2(url: string): Promise<void> {
  const client = connect(url)
  const stream = client.request({ ':path': '/v1/models' })
  const [headers] = (await once(stream, 'response')) as [
    IncomingHttpHeaders & IncomingHttpStatusHeader,
  ]
  expect(headers[':status']).toBe(200)
  client.destroy()
}

async function printedBy(file: string, input: string): Promise<string[]> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL(file, import.meta.url))],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  child.stdin.end(input)
  let out = ''
  for await (const chunk of child.stdout) out += chunk
  return out.trim().split('\n')
}
