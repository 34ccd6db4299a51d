import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { configFor, sharedIn, vendorsIn } from '../../src/cli/environment.ts'
import { configText } from '../../src/cli/init.ts'
import { type ServeOptions, serve } from '../../src/cli/serve.ts'
import { parseConfig } from '../../src/gateway/options.ts'
import { createPassPaths } from '../../src/gateway/passing/paths.ts'
import { gateway } from '../../src/hosts/connect.ts'
import { createOperations } from '../../src/operations/index.ts'
import { linesTo } from '../../src/operations/lines.ts'
import { createMetrics } from '../../src/operations/metrics.ts'
import { openRecords } from '../../src/records/index.ts'
import { type Vendor, vendors } from '../../src/vendors/index.ts'
import {
  after,
  listen,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  upstream,
} from '../gateway/support.ts'
import { freePort } from '../support/free-port.ts'

const folderWith = async (files: Record<string, string> = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

async function started(
  options: Partial<ServeOptions> = {},
  {
    files = {},
    environment = {},
    folder: given,
  }: {
    files?: Record<string, string>
    environment?: Record<string, string>
    folder?: string
  } = {},
) {
  const folder = given ?? (await folderWith(files))
  const lines: string[] = []
  const errors: string[] = []
  const surroundings = {
    out: (line: string) => void lines.push(line),
    err: (line: string) => void errors.push(line),
    folder,
    environment,
  }
  const served = await serve({ host: '127.0.0.1', port: 0, log: 'off', ...options }, surroundings)
  after(served.close)
  return { ...served, lines, errors, folder }
}

const channelOf = (url: string) => ({
  name: 'up',
  protocols: ['messages' as const],
  baseUrl: url,
  apiKey: 'upstream-key-0123456789',
})

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await condition()) return
    await new Promise(resolve => setTimeout(resolve, 25))
  }
  throw new Error('the condition never held')
}

test('removes its signal listeners when it closes', async () => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const listening = () => signals.map(signal => process.listenerCount(signal))
  const before = listening()
  const { close } = await started()
  expect(listening()).toEqual(before.map(count => count + 1))
  await close()
  expect(listening()).toEqual(before)
})

describe('configuration files', () => {
  const demo = {
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: 'found', channels: [{ name: 'demo' }] }],
  }
  test.each<[name: string, text: string]>([
    ['wireglot.config.json', JSON.stringify(demo)],
    ['wireglot.config.jsonc', `// comment\n${JSON.stringify(demo).replace(/}$/, ',}')}`],
    [
      'wireglot.config.yaml',
      'channels:\n  - name: demo\n    embedded: demo\nmodels:\n  - id: found\n    channels: [{ name: demo }]\n',
    ],
    ['wireglot.config.js', `module.exports = ${JSON.stringify(demo)}`],
    ['wireglot.config.ts', `const config: object = ${JSON.stringify(demo)}\nexport default config`],
  ])('finds %s in the folder and prints its path', async (name, text) => {
    const { url, lines, folder } = await started({}, { files: { [name]: text } })
    expect(lines).toContain(`configuration: ${join(folder, name)}`)
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['found'])
  })

  const setKeys = {
    OPENAI_API_KEY: 'openai-key-0123456789',
    DEEPSEEK_API_KEY: 'deepseek-key-0123456789',
  }
  const using = (apiKey: string) =>
    JSON.stringify({ ...demo, channels: [...demo.channels, { vendor: 'openai', apiKey }] })
  test.each<[title: string, text: string, unused: string[]]>([
    ['none of them is used', JSON.stringify(demo), ['DEEPSEEK_API_KEY', 'OPENAI_API_KEY']],
    ['one is used by name', using('env:OPENAI_API_KEY'), ['DEEPSEEK_API_KEY']],
    [
      'one is used by its value, as modules do',
      using(setKeys.OPENAI_API_KEY),
      ['DEEPSEEK_API_KEY'],
    ],
  ])('names the vendor keys that a found file does not use: %s', async (_, text, unused) => {
    vi.stubEnv('OPENAI_API_KEY', setKeys.OPENAI_API_KEY)
    after(() => vi.unstubAllEnvs())
    const { lines } = await started(
      {},
      { files: { 'wireglot.config.json': text }, environment: setKeys },
    )
    expect(lines).toContain(`set, but not used by this configuration: ${unused.join(', ')}`)
    for (const key of Object.values(setKeys)) expect(lines.join('\n')).not.toContain(key)
  })

  test('does not mention other keys when a file is given', async () => {
    const folder = await folderWith({ 'mine.json': JSON.stringify(demo) })
    const { lines } = await started({ config: join(folder, 'mine.json') }, { environment: setKeys })
    expect(lines.join('\n')).not.toContain('OPENAI_API_KEY')
  })

  test.each<[name: string, text: string, message: RegExp]>([
    ['wireglot.config.json', '{ "channels": [secret-text', /is not JSON: line 1, column 16$/],
    ['wireglot.config.yaml', 'channels:\n  - "secret-text', /is not YAML: line 2/],
    ['wireglot.config.js', 'module.exports = undefined', /it has no default export/],
  ])('refuses a broken %s with its position, without its text', async (name, text, message) => {
    const failed = await started({}, { files: { [name]: text } }).catch((error: Error) => error)
    expect(String(failed)).toMatch(message)
    expect(String(failed)).not.toContain('secret-text')
  })

  test('wireglot init writes a valid one', async () => {
    for (const needsKeys of [true, false]) {
      const text = configText({ vendors: [vendors.openai, vendors.deepseek], needsKeys })
      const { url, lines } = await started(
        {},
        { files: { 'wireglot.config.jsonc': text.replaceAll(/env:\w+/g, 'key-0123456789') } },
      )
      expect(lines.join()).toContain('wireglot.config.jsonc')
      expect((await fetch(`${url}/health`)).status).toBe(200)
    }
  })

  const models = async (url: string) =>
    ((await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] }).data.map(
      ({ id }) => id,
    )

  test('wireglot init without keys writes one that lists the demo model', async () => {
    const { url } = await started(
      {},
      { files: { 'wireglot.config.jsonc': configText({ vendors: [], needsKeys: false }) } },
    )
    expect(await models(url)).toEqual(['demo'])
  })

  test('wireglot init for several vendors sends no model to a vendor that the client did not choose', async () => {
    const text = configText({
      vendors: [vendors.deepseek, vendors.openai],
      needsKeys: false,
    }).replaceAll(/env:\w+/g, 'key-0123456789')
    const { url } = await started({}, { files: { 'wireglot.config.jsonc': text } })
    const response = await fetch(
      `${url}/v1/chat/completions`,
      post({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
    )
    expect(response.status).toBe(404)
    expect(text).toContain('{ "id": "openai/*", "channels": [{ "name": "openai", "model": "*" }] }')
  })

  test.each([
    ['no vendor', []],
    ['one vendor', [vendors.openai]],
    ['several vendors', [vendors.openai, vendors.deepseek]],
  ])(
    'the lines that wireglot init comments out work when they are uncommented: %s',
    async (_, wanted) => {
      const text = configText({ vendors: wanted, needsKeys: false }).replaceAll(
        /env:\w+/g,
        'key-0123456789',
      )
      const entry = /\{ "id": "my-model".*?\}\] \}/.exec(text)?.[0] ?? ''
      const uncommented =
        wanted.length === 1
          ? text.replace('// "models"', '"models"')
          : text.replace('"models": [', `"models": [${entry},`)
      const { url } = await started({}, { files: { 'wireglot.config.jsonc': uncommented } })
      expect(await models(url)).toContain('my-model')
    },
  )
})

describe('keys that were created before', () => {
  test.each<[name: string, options: Partial<ServeOptions>, status: number]>([
    ['the demo model', { records: true }, 401],
    ['the demo model with --no-records', { records: false }, 200],
  ])('are needed by clients of a gateway with %s', async (_, options, status) => {
    const folder = await folderWith()
    const records = await openRecords({ file: join(folder, 'wireglot.db') })
    const { secret } = await records.keys.create('carol', {})
    await records.close()
    const { url, lines } = await started(options, { folder })
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/v1/models`, { headers }).then(response => response.status)
    expect(await ask({})).toBe(status)
    expect(await ask({ authorization: `Bearer ${secret}` })).toBe(200)
    // The printed commands send a key only where one is needed.
    expect(lines.join('\n').includes('wireglot keys create NAME')).toBe(status === 401)
    expect(lines.some(line => line.includes('curl') && line.includes('$WIREGLOT_KEY'))).toBe(
      status === 401,
    )
  })

  test('are not kept for the demo model alone', async () => {
    const { lines } = await started({ records: true })
    expect(lines).toContain(
      'records: off for the demo model; keys create and a restart turn them and keys on',
    )
  })
})

describe('the admin key', () => {
  test.each<[where: string, files: Record<string, string>, environment: Record<string, string>]>([
    ['of the environment', {}, { WIREGLOT_ADMIN_KEY: 'short' }],
    [
      'of the configuration',
      {
        'wireglot.config.json': JSON.stringify({
          adminKey: 'short',
          channels: [{ name: 'demo', embedded: 'demo' }],
        }),
      },
      {},
    ],
    [
      'of a variable',
      {
        'wireglot.config.json':
          '{"adminKey":"env:MINE","channels":[{"name":"demo","embedded":"demo"}]}',
      },
      { MINE: 'short' },
    ],
  ])('%s is refused when it is short, and not shown', async (_, files, environment) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    after(() => vi.unstubAllEnvs())
    const failed = await started({}, { files, environment }).catch((error: Error) => error)
    expect(String(failed)).toMatch(/at least 16/)
    expect(String(failed)).not.toContain('short')
  })

  test('that is empty counts as absent', async () => {
    const { lines } = await started({}, { environment: { WIREGLOT_ADMIN_KEY: '' } })
    expect(lines.join('\n')).not.toContain('/admin/')
  })
})

describe('vendors whose keys are in the environment', () => {
  test('include only vendors whose key suffices', () => {
    const names = vendorsIn({
      OPENAI_API_KEY: 'a',
      DEEPSEEK_API_KEY: 'b',
      ANTHROPIC_API_KEY: '',
      AZURE_OPENAI_API_KEY: 'c',
    }).map(({ name }) => name)
    expect(names.sort()).toEqual(['deepseek', 'openai'])
  })

  test('serve listed names, names with the vendor prefix, and any other name in turn', async () => {
    const lists: Record<string, string[]> = {
      openai: ['gpt-5', 'shared'],
      deepseek: ['deepseek-chat', 'shared'],
    }
    const config = await configFor(
      vendorsIn({ OPENAI_API_KEY: 'a', DEEPSEEK_API_KEY: 'b' }),
      () => {},
      async ({ name = '' }) => lists[name] ?? [],
    )
    const { models } = parseConfig(config, { OPENAI_API_KEY: 'key-a', DEEPSEEK_API_KEY: 'key-b' })
    const channelsOf = (id: string) =>
      models.find(model => model.id === id)?.channels.map(({ name }) => name)
    expect(channelsOf('gpt-5')).toEqual(['openai'])
    expect(channelsOf('deepseek-chat')).toEqual(['deepseek'])
    expect(channelsOf('shared')?.sort()).toEqual(['deepseek', 'openai'])
    expect(models.find(({ id }) => id === 'openai/*')?.channels).toMatchObject([
      { name: 'openai', model: '*' },
    ])
    expect(channelsOf('*')).toHaveLength(2)
  })

  test('serve further endpoints of their vendors', async () => {
    const environment = { OPENAI_API_KEY: 'key-a', DEEPSEEK_API_KEY: 'key-b' }
    const config = await configFor(
      vendorsIn(environment),
      () => {},
      async () => [],
    )
    const listed = createPassPaths(parseConfig(config, environment).channels)
    expect(
      ['/v1/embeddings', '/v1/audio/speech', '/v1/images/generations', '/v1/rerank'].map(path =>
        listed(path),
      ),
    ).toEqual(['/v1/embeddings', '/v1/audio/*', '/v1/images/*', undefined])
    for (const { passThrough } of Object.values<Vendor>(vendors))
      expect(() =>
        parseConfig(
          { channels: [{ name: 'c', embedded: 'demo', passThrough: [...(passThrough ?? [])] }] },
          {},
        ),
      ).not.toThrow()
  })

  test('share limits and responses in Redis when REDIS_URL is set', () => {
    const channels = [{ name: 'demo', embedded: 'demo' as const }]
    const parsed = (environment: Record<string, string>) =>
      parseConfig({ channels, ...sharedIn(environment) }, environment)
    expect(parsed({ REDIS_URL: 'redis://redis:6379' })).toMatchObject({
      limits: { redis: 'redis://redis:6379' },
      store: { redis: 'redis://redis:6379' },
    })
    expect(parsed({}).store).toBeUndefined()
  })

  test('are served with a warning when their model lists fail', async () => {
    const warnings: string[] = []
    const config = await configFor(
      vendorsIn({ OPENAI_API_KEY: 'a' }),
      message => warnings.push(message),
      () => Promise.reject(new Error('no connection')),
    )
    expect(warnings).toEqual(['openai: no connection'])
    expect(config.models?.map(({ id }) => id)).toEqual(['openai/*', '*'])
  })

  test('are replaced by the demo model when there are none', async () => {
    const { url, lines } = await started()
    expect(lines[0]).toMatch(/demo model/)
    expect(
      (await fetch(url + paths.messages, post({ ...requests.messages, model: 'demo' }))).status,
    ).toBe(200)
  })
})

describe('a changed configuration', () => {
  const named = (id: string) =>
    JSON.stringify({
      channels: [{ name: 'demo', embedded: 'demo' }],
      models: [{ id, channels: [{ name: 'demo' }] }],
    })
  const modelsAt = async (url: string) =>
    ((await (await fetch(`${url}/v1/models`)).json()) as { data?: { id: string }[] }).data?.map(
      ({ id }) => id,
    ) ?? []

  test('is applied after SIGHUP and after the file changed, unless it is broken', async () => {
    const { url, errors, folder } = await started(
      {},
      { files: { 'wireglot.config.json': named('one') } },
    )
    const file = join(folder, 'wireglot.config.json')
    expect(await modelsAt(url)).toEqual(['one'])
    await writeFile(file, named('two'))
    process.emit('SIGHUP')
    await until(async () => (await modelsAt(url))[0] === 'two')
    await writeFile(file, '{ broken')
    await until(() =>
      errors.some(line => line.includes('the new configuration is invalid: the old one stays')),
    )
    expect(await modelsAt(url)).toEqual(['two'])
    expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({
      status: 'ready',
      reload: expect.stringContaining('is not JSON'),
    })
    await writeFile(file, named('three'))
    await until(async () => (await modelsAt(url))[0] === 'three')
    expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({ reload: 'ok' })
  })

  test('keeps the limits of keys, and the breakers of channels that it does not change', async () => {
    const seen = await upstream(sendJson(500, { error: { message: 'broken' } }))
    const breaker = { failures: 1, restMs: 60_000 }
    const channel = { protocols: ['messages'], baseUrl: seen.url, breaker }
    const text = (id: string, moved: object) =>
      JSON.stringify({
        keys: [{ name: 'slow', key: 'slow-key-0123456789', requestsPerMinute: 3 }],
        channels: [
          { name: 'stays', ...channel },
          { name: 'moves', ...channel, ...moved },
        ],
        models: ['stays', 'moves', id].map(id => ({
          id,
          channels: [{ name: id === 'moves' ? 'moves' : 'stays' }],
        })),
        defaults: { retries: 0 },
      })
    const { url, folder } = await started({}, { files: { 'wireglot.config.json': text('a', {}) } })
    const headers = { 'x-api-key': 'slow-key-0123456789' }
    const ask = async (model: string) =>
      (await fetch(url + paths.messages, post({ ...requests.messages, model }, headers))).status
    const breakers = async () =>
      (
        (await (await fetch(`${url}/ready`)).json()) as { channels: { breaker: string }[] }
      ).channels.map(one => one.breaker)
    await ask('stays')
    await ask('moves')
    expect(await breakers()).toEqual(['open', 'open'])
    await writeFile(join(folder, 'wireglot.config.json'), text('b', { headers: { a: 'b' } }))
    await until(async () => (await breakers())[1] === 'closed')
    expect(await breakers()).toEqual(['open', 'closed'])
    await ask('moves')
    expect(await ask('moves')).toBe(429)
  })

  /** An upstream whose stream for messages stays open until `finish` is called. */
  async function openStream(options: Partial<ServeOptions> = {}) {
    let finish = () => {}
    const seen = await upstream((response, { method }) => {
      if (method === 'GET') return sendJson(404, {})(response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const frame = (event: { type: string }) =>
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      const message = { ...responses.messages, content: [], stop_reason: null }
      frame({ type: 'message_start', message } as { type: string })
      finish = () => {
        frame({
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: { output_tokens: 1 },
        } as { type: string })
        frame({ type: 'message_stop' })
        response.end()
      }
    })
    const served = await started(options, {
      files: { 'wireglot.config.json': JSON.stringify({ channels: [channelOf(seen.url)] }) },
    })
    const response = await fetch(
      served.url + paths.messages,
      post({ ...requests.messages, model: 'm', stream: true }),
    )
    await writeFile(join(served.folder, 'wireglot.config.json'), named('new'))
    process.emit('SIGHUP')
    await until(async () => (await modelsAt(served.url))[0] === 'new')
    return { ...served, response, finish: () => finish() }
  }

  test('does not cut a stream that is open', async () => {
    const { response, finish } = await openStream()
    finish()
    expect(await response.text()).toContain('message_stop')
  })

  test('leaves its open streams counted, and a shutdown waits for them', async () => {
    const { url, close, response, finish } = await openStream()
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'wireglot_requests_in_progress 1',
    )
    const closed = close()
    await until(async () => (await fetch(`${url}/ready`)).status === 503)
    finish()
    expect(await response.text()).toContain('message_stop')
    await closed
  })

  test('lets a shutdown end open streams with an error after the grace time', async () => {
    const { close, response } = await openStream({ grace: 0.2 })
    const closed = close()
    let text = ''
    // After the error the connection is cut.
    const read = (async () => {
      for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk)
    })()
    await Promise.all([closed, read.catch(() => {})])
    expect(text).toContain('event: error')
  })
})

describe('operations', () => {
  test('buffers log lines, and writes the rest when the process exits', async () => {
    const before = process.listeners('exit')
    const texts: string[] = []
    const line = linesTo({ write: text => texts.push(text) })
    const [atExit] = process.listeners('exit').filter(listener => !before.includes(listener))
    after(() => void process.off('exit', atExit as never))
    for (const name of ['first', 'second']) line(name)
    expect(texts).toEqual([])
    await until(() => texts.length > 0)
    line('third')
    atExit?.(0)
    expect(texts).toEqual(['first\nsecond\n', 'third\n'])
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(texts).toHaveLength(2)
  })

  test('/health, /ready and /metrics report the process, its channels and its requests', async () => {
    const seen = await upstream(
      sendJson(200, responses.messages),
      sendJson(500, { type: 'error', error: { type: 'api_error', message: 'planted words' } }),
    )
    const breaker = { failures: 1, restMs: 60_000 }
    const config = { channels: [{ ...channelOf(seen.url), breaker }], defaults: { retries: 0 } }
    const { url } = await started({}, { files: { 'wireglot.config.json': JSON.stringify(config) } })
    const ask = () => fetch(url + paths.messages, post({ ...requests.messages, model: 'a-model' }))
    expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({
      status: 'ready',
      channels: [{ name: 'up', breaker: 'closed' }],
    })
    await (await ask()).text()
    await (await ask()).text()
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' })
    const ready = await fetch(`${url}/ready`)
    // The process is well: another one would find the same upstream.
    expect(ready.status).toBe(200)
    const text = await ready.text()
    expect(text).toContain('"breaker":"open","lastError":"the upstream failed: 500 internal"')
    expect(text).not.toContain('planted words')
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain(
      'wireglot_requests_total{protocol="messages",channel="up",model="a-model",status="200"} 1',
    )
    expect(metrics).toContain('wireglot_failures_total{channel="up",kind="upstream_status"} 1')
    expect(metrics).toContain('wireglot_channel_up{channel="up"} 0')
    expect(metrics).toMatch(
      /wireglot_tokens_total\{channel="up",model="a-model",type="input"\} \d+/,
    )
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
    // A model that a client invents makes no series.
    await fetch(url + paths.messages, post({ model: 'x'.repeat(300), messages: [] }))
    expect(await (await fetch(`${url}/metrics`)).text()).not.toContain('xxx')
  })

  test('/ready and /metrics refuse a web page whose name resolves to this machine', async () => {
    const { url } = await started({})
    const status = (path: string, headers: Record<string, string>) =>
      new Promise(resolve =>
        get(url + path, { headers }, response => resolve(response.resume().statusCode)),
      )
    for (const path of ['/ready', '/metrics']) {
      expect(await status(path, { host: 'rebound.test' })).toBe(403)
      expect(await status(path, { host: 'gateway.test', 'x-forwarded-for': '192.0.2.1' })).toBe(200)
      expect(await status(path, { host: 'localhost:4000' })).toBe(200)
    }
    expect(await status('/health', { host: 'rebound.test' })).toBe(200)
  })

  test('/ready reports the store of responses', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const store = { redis: `redis://127.0.0.1:${await freePort()}` }
    const readyWith = async (config: object) => {
      const { url } = await started(
        {},
        {
          files: {
            'wireglot.config.json': JSON.stringify({ ...config, channels: [channelOf(seen.url)] }),
          },
        },
      )
      await (
        await fetch(url + paths.responses, post({ ...requests.responses, model: 'm', store: true }))
      ).text()
      return (await fetch(`${url}/ready`)).json()
    }
    expect(await readyWith({})).toMatchObject({ status: 'ready', store: 'none' })
    expect(await readyWith({ store: { memory: true } })).toMatchObject({
      status: 'ready',
      store: 'ok',
    })
    expect(await readyWith({ store })).toMatchObject({ status: 'ready', store: 'unreachable' })
  }, 20_000)

  test('/ready reports the database of records', async () => {
    const file = join(await folderWith(), 'records.db')
    const config = { channels: [{ name: 'demo', embedded: 'demo' }], records: { file } }
    const { url } = await started({}, { files: { 'wireglot.config.json': JSON.stringify(config) } })
    expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({
      records: { database: 'ok', waiting: 0, dropped: 0 },
    })
  })

  test('an invalid configuration creates no database', async () => {
    const file = join(await folderWith(), 'records.db')
    const config = { channels: [{ name: 'demo', embeded: 'demo' }], records: { file } }
    await expect(
      started({}, { files: { 'wireglot.config.json': JSON.stringify(config) } }),
    ).rejects.toThrow(/embeded/)
    expect(existsSync(file)).toBe(false)
  })

  test('/ready reports when an open breaker may be tried again', async () => {
    const seen = await upstream(
      sendJson(500, { type: 'error', error: { type: 'api_error', message: 'down' } }),
    )
    const config = {
      channels: [{ ...channelOf(seen.url), breaker: { failures: 1, restMs: 300 } }],
      defaults: { retries: 0 },
    }
    const { url } = await started({}, { files: { 'wireglot.config.json': JSON.stringify(config) } })
    await (await fetch(url + paths.messages, post({ ...requests.messages, model: 'm' }))).text()
    const breaker = async () =>
      ((await (await fetch(`${url}/ready`)).json()) as { channels: { breaker: string }[] })
        .channels[0]?.breaker
    expect(await breaker()).toBe('open')
    await until(async () => (await breaker()) === 'probing')
  })

  test('/ready is 503 while the process shuts down', async () => {
    const seen = await upstream(sendStream([...streams.messages.slice(0, 2), 60_000]))
    const operations = createOperations({ log: 'off', state: () => handler.state(), err: () => {} })
    const handler = gateway(
      { auth: 'none', channels: [channelOf(seen.url)] },
      { logger: operations.logger },
    )
    const url = await listen(
      (request, response) =>
        void (operations.handle(request, response) || handler(request, response)),
    )
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    const open = await fetch(
      url + paths.messages,
      post({ ...requests.messages, model: 'm', stream: true }),
    )
    const closed = handler.close(300)
    const ready = await fetch(`${url}/ready`)
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { status: 'shutting down', channels: [{ name: 'up', breaker: 'closed' }] },
    ])
    await open.text().catch(() => {})
    await closed
  })

  test('bounds the number of metric series for invented model names', async () => {
    const metrics = createMetrics(() => ({
      isClosing: false,
      inProgress: 0,
      webSocket: false,
      channels: [],
    }))
    const record = {
      time: '',
      requestId: '',
      protocolIn: 'messages',
      stream: false,
      totalMs: 1,
      attempts: 1,
      notes: 0,
      channel: 'up',
      usage: { input: 1 },
    }
    for (let nth = 0; nth < 500; nth++) {
      metrics.count({
        ...record,
        status: 404,
        failure: 'upstream_status',
        modelServed: `refused-${nth}`,
      })
      metrics.count({ ...record, status: 200, modelServed: `served-${nth}` })
    }
    const { body } = await metrics.text()
    expect(body).not.toContain('refused-')
    expect(new Set(body.match(/served-\d+/g)).size).toBe(200)
    expect(body).toContain(
      'wireglot_requests_total{protocol="messages",channel="up",model="other",status="200"} 300',
    )
    expect(body).toContain(
      'wireglot_requests_total{protocol="messages",channel="up",model="other",status="404"} 500',
    )
  })

  test('leaves invalid counts out of the metrics, and continues sums from scrape to scrape', async () => {
    const metrics = createMetrics(() => ({
      isClosing: false,
      inProgress: 0,
      webSocket: false,
      channels: [],
    }))
    const record = {
      time: '',
      requestId: '',
      protocolIn: 'messages',
      stream: false,
      status: 200,
      totalMs: 1,
      attempts: 1,
      notes: 0,
      channel: 'up',
    }
    const line = async () =>
      /wireglot_tokens_total\{.*type="input"\} (.*)/.exec((await metrics.text()).body)?.[1]
    for (const input of [2, -3, Number.NaN, Infinity, 3])
      metrics.count({ ...record, modelServed: 'm', usage: { input } })
    expect(await line()).toBe('5')
    expect(await line()).toBe('5')
    metrics.count({ ...record, modelServed: 'm', usage: { input: 4 } })
    expect(await line()).toBe('9')
  })

  test.each(['json', 'pretty'] as const)(
    'the access log has one line per request as %s',
    async log => {
      const seen = await upstream(sendJson(200, responses.messages))
      const config = {
        keys: [{ name: 'alice', key: 'client-key-0123456789' }],
        channels: [channelOf(seen.url)],
      }
      const { url, lines } = await started(
        { log },
        { files: { 'wireglot.config.json': JSON.stringify(config) } },
      )
      const from = lines.length
      const sent = post({ ...requests.responses, model: 'm' })
      await (
        await fetch(url + paths.responses, {
          ...sent,
          headers: { ...sent.headers, authorization: 'Bearer client-key-0123456789' },
        })
      ).text()
      const [line = '', ...others] = lines.slice(from)
      expect(others).toEqual([])
      if (log === 'json')
        expect(JSON.parse(line)).toMatchObject({
          key: 'alice',
          protocolIn: 'responses',
          protocolOut: 'messages',
          model: 'm',
          channel: 'up',
          status: 200,
          totalMs: expect.any(Number),
        })
      else
        expect(line).toMatch(
          /^\d\d:\d\d:\d\d {2}200 {2}POST \/v1\/responses {2}alice {2}responses→messages {2}m@up {2}\d+→\d+ tokens {2}\d+ ms$/,
        )
      expect(line).not.toContain('0123456789')
    },
  )
})
