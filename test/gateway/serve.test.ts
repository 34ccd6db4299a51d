import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type ServeOptions, serve } from '../../src/cli/serve.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import {
  after,
  dataOf,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  until,
  upstream,
} from './support.ts'

const shell = (line: string) => promisify(execFile)('/bin/sh', ['-c', line])

/** Without the configuration and the keys of whoever runs the tests. */
async function started(
  options: Partial<ServeOptions> = {},
  environment: Record<string, string> = {},
) {
  const lines: string[] = []
  const reported: string[] = []
  const served = await serve(
    { host: '127.0.0.1', port: 0, ...options },
    {
      out: line => lines.push(line),
      err: line => reported.push(line),
      folder: await mkdtemp(join(tmpdir(), 'wireglot-')),
      environment,
    },
  )
  after(served.close)
  return { ...served, lines, reported }
}

test('prints the address in the last line', async () => {
  const { lines, port } = await started()
  expect(lines.at(-1)).toBe(`listening on http://127.0.0.1:${port}`)
  expect(lines).toContain(`base URL: http://127.0.0.1:${port}`)
})

test('says in at most 12 lines what to open, what to try and how to point a client here', async () => {
  const key = { name: 'alice', key: 'client-secret-a' }
  const config = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'c.json')
  const channels = [{ name: 'demo', embedded: 'demo' }]
  const models = [{ id: 'demo', channels: [{ name: 'demo' }] }]
  await writeFile(config, JSON.stringify({ keys: [key], channels, models }))
  const env = { OPENAI_API_KEY: 'secret' }
  for (const { lines, url } of [await started(), await started({ config, records: true }, env)]) {
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(12)
    const all = lines.join('\n')
    expect(all).toContain(`console: ${url}/console`)
    expect(lines.filter(line => line.startsWith('curl '))).toHaveLength(1)
    expect(all).toContain(`npx wireglot client-config claude-code --base ${url} --model demo`)
    expect(all).toContain('--examples')
  }
})

test('prints commands that work unchanged, with and without streaming', async () => {
  const { lines } = await started({ examples: true })
  const commands = lines.filter(line => line.startsWith('curl '))
  expect(commands.length).toBe(protocolNames.length)
  for (const command of commands) {
    // A stream of binary frames is nothing for a terminal.
    if (!command.includes('/converse'))
      expect(dataOf((await shell(`${command} -sS --fail`)).stdout).length).toBeGreaterThan(3)
    const whole = await shell(
      `${command.replace(/,?"stream":true/, '').replace(':streamGenerateContent?alt=sse', ':generateContent')} -sS --fail`,
    )
    expect(JSON.stringify(JSON.parse(whole.stdout))).toContain('Hello there')
  }
})

test('forwards every model to one upstream', async () => {
  const seen = await upstream(sendJson(200, responses.messages))
  process.env['TEST_UPSTREAM_KEY'] = 'from-the-environment'
  const { url } = await started({
    upstream: seen.url,
    upstreamProtocol: 'messages',
    upstreamKeyEnv: 'TEST_UPSTREAM_KEY',
  })
  expect(
    (await fetch(url + paths.responses, post({ ...requests.responses, model: 'whatever' }))).status,
  ).toBe(200)
  expect(seen.calls).toMatchObject([
    { headers: { 'x-api-key': 'from-the-environment' }, json: { model: 'whatever' } },
  ])
})

test('problems are logged as one JSON object per line, and successes are not', async () => {
  const seen = await upstream(
    sendJson(200, responses.messages),
    sendJson(200, 'no response at all'),
  )
  const { url, reported } = await started({ upstream: seen.url, upstreamProtocol: 'messages' })
  const ask = () => fetch(url + paths.responses, post({ ...requests.responses, model: 'whatever' }))
  await ask()
  expect(reported).toEqual([])
  const requestId = (await ask()).headers.get('request-id')
  expect(reported.map(line => JSON.parse(line))).toMatchObject([
    {
      level: 'error',
      requestId,
      channel: 'upstream',
      message: expect.stringContaining('upstream'),
      error: expect.any(String),
    },
  ])
})

test.each<[what: string, options: Partial<ServeOptions>, message: RegExp]>([
  ['an upstream without a protocol', { upstream: 'http://a.test' }, /--upstream-protocol/],
  ['a protocol without upstream', { upstreamProtocol: 'messages' }, /belong to --upstream/],
  ['the whole network without keys', { host: '0.0.0.0' }, /without keys/],
  [
    'a key that is not in the environment',
    { upstream: 'http://a.test', upstreamProtocol: 'messages', upstreamKeyEnv: 'NOT_SET_AT_ALL' },
    /NOT_SET_AT_ALL/,
  ],
  [
    'a configuration that is not there',
    { config: '/nonexistent/config.json' },
    /^\/nonexistent\/config\.json cannot be read: no such file$/,
  ],
])('%s is refused before it listens', async (_, options, message) => {
  await expect(started(options)).rejects.toThrow(message)
})

test('a configuration is read from its file, and its faults are named', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  await writeFile(
    file,
    JSON.stringify({
      channels: [{ name: 'd', embedded: 'demo' }],
      models: [{ id: 'm', channels: [{ name: 'd' }] }],
    }),
  )
  const { url, lines } = await started({ config: file })
  expect((await fetch(url + paths.messages, post(requests.messages))).status).toBe(200)
  expect(lines.join('\n')).toContain('"model":"m"')
  await writeFile(file, '{"channels": 1}')
  await expect(started({ config: file })).rejects.toThrow('configuration at channels')
  await writeFile(file, '{')
  await expect(started({ config: file })).rejects.toThrow('is not JSON')
})

test.each([
  ['without its quotes', '{"channels": [{\n  "apiKey": planted-key }]}', 'line 2, column 13'],
  [
    'before a comma too many',
    '{"keys": [{ "name": "a", "key": "planted-key" },]}',
    'line 1, column 49',
  ],
  ['alone', 'planted-key', 'line 1, column 1'],
])(
  'a key %s of a configuration is not printed: the error has its path',
  async (_what, text, place) => {
    const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
    await writeFile(file, text)
    await expect(started({ config: file })).rejects.toThrow(
      new Error(`${file} is not JSON: ${place}`),
    )
  },
)

test('reports a port that is in use', async () => {
  const { port } = await started()
  await expect(started({ port })).rejects.toThrow(/EADDRINUSE.*--port/)
})

test.each(['null', '[]', '"demo"', '7'])('refuses a configuration that is %s', async text => {
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  await writeFile(file, text)
  await expect(started({ config: file })).rejects.toThrow(
    /^configuration: expected an object with auth/,
  )
})

test('responds over HTTP/2 as over HTTP/1.1: the gateway, health checks, metrics, the console and the admin API', async () => {
  const seen = await upstream(
    sendStream([...streams.messages.slice(0, 3), 300, ...streams.messages.slice(3)]),
  )
  const environment = { TEST_ADMIN_KEY: 'an-admin-key-for-this-test' }
  Object.assign(process.env, environment)
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  const channels = [{ name: 'up', protocols: ['messages'], baseUrl: seen.url }]
  const records = { file: join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db') }
  await writeFile(
    file,
    JSON.stringify({
      auth: 'none',
      channels,
      models: [{ id: 'm', channels: [{ name: 'up' }] }],
      adminKey: 'env:TEST_ADMIN_KEY',
      records,
    }),
  )
  const { url, lines, close } = await started({ config: file, log: 'json', grace: 5 }, environment)
  const client = connect(url)
  after(() => client.destroy())
  type Head = IncomingHttpHeaders & IncomingHttpStatusHeader
  const open = (path: string, { method = 'GET', headers, body }: RequestInit = {}) => {
    const stream = client.request({
      ':path': path,
      ':method': method,
      ...(headers as Record<string, string>),
    })
    stream.end(body as string | undefined)
    const read = async () => {
      const [head] = (await once(stream, 'response')) as [Head]
      let text = ''
      for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
      return { status: head[':status'], type: head['content-type'], text }
    }
    return read()
  }
  const admin = { headers: { authorization: 'Bearer an-admin-key-for-this-test' } }
  const page = { headers: { accept: 'text/html' } }
  for (const [path, init] of [
    ['/health'],
    ['/ready'],
    ['/metrics'],
    ['/console', page],
    ['/admin/keys', admin],
    ['/admin/keys'],
    ['/v1/models'],
    ['/nothing'],
  ] as const) {
    const older = await fetch(url + path, init)
    const { status, type, text } = await open(path, init)
    expect([path, status, type]).toEqual([path, older.status, older.headers.get('content-type')])
    expect(text.slice(0, 20)).toBe((await older.text()).slice(0, 20))
  }
  const response = open(paths.messages, post({ ...requests.messages, stream: true }))
  await until(() => seen.calls.length === 1)
  const warnings: string[] = []
  const warn = ({ message }: Error) => void warnings.push(message)
  process.on('warning', warn)
  after(() => process.off('warning', warn))
  let isLeaving = false
  client.on('goaway', () => {
    isLeaving = true
  })
  const closed = close()
  const refused = await open(paths.messages, post(requests.messages))
  expect(refused.status).toBe(503)
  // HTTP/2 has no header `connection`, and Node warns of it.
  expect(warnings).toEqual([])
  await until(() => isLeaving)
  expect((await response).text).toContain('message_stop')
  await closed
  await until(() => client.destroyed)
  const logged = lines.flatMap(line =>
    line.startsWith('{') ? [JSON.parse(line) as { path?: string; status?: number }] : [],
  )
  expect(logged.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 503]))
})
