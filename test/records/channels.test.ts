import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { openDatabase } from '../../src/records/database.ts'
import { type Location, openRecords, type RecordsOptions } from '../../src/records/index.ts'
import { after, paths, post, requests, sendJson, upstream } from '../gateway/support.ts'
import { newDatabase, postgresPrograms, startPostgres } from './postgres.ts'

const adminKey = 'admin-key-0123456789'
const encryptionKey = '0123456789abcdef0123456789abcdef'
const upstreamKey = 'sk-pasted-secret-of-the-upstream'

const listing = { data: [{ type: 'model', id: 'm-large', display_name: 'Large' }], has_more: false }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm-large',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}

/** The first upstream is of the configuration, the other one of nobody yet. */
async function upstreams() {
  const respond = () =>
    upstream((response, { method }) =>
      sendJson(200, method === 'GET' ? listing : message)(response),
    )
  return { first: await respond(), other: await respond() }
}

async function started({
  place,
  config,
  environment = { WIREGLOT_ENCRYPTION_KEY: encryptionKey },
}: {
  place: Location
  config: object
  environment?: Record<string, string>
}) {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const file = join(folder, 'wireglot.config.json')
  const settings = { records: place, adminKey, auth: 'none', ...config }
  await writeFile(file, JSON.stringify(settings))
  const lines: string[] = []
  const served = await serve(
    { host: '127.0.0.1', port: 0, log: 'json' },
    { out: line => lines.push(line), err: line => lines.push(line), folder, environment },
  )
  after(served.close)
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
  const admin = async (method: string, path: string, json?: unknown) => {
    const body = json === undefined ? {} : { body: JSON.stringify(json) }
    const response = await fetch(`${served.url}/admin/${path}`, { method, headers, ...body })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const secret = String((await admin('POST', 'keys', { name: `k${Date.now()}` })).body['secret'])
  const ask = async (model: string) => {
    const sent = post({ ...requests.messages, model })
    const asked = { ...sent, headers: { ...sent.headers, 'x-api-key': secret } }
    const response = await fetch(served.url + paths.messages, asked)
    await response.text()
    return response.status
  }
  const shown = async (name: string) =>
    ((await admin('GET', 'channels')).body['channels'] as { name: string }[]).find(
      one => one.name === name,
    )
  return { ...served, admin, ask, shown, lines, file, settings }
}

/** The database of a gateway, as another process opens it. */
async function opened(place: Location, options: RecordsOptions = {}) {
  const records = await openRecords(place, options)
  const database = await openDatabase(place)
  after(async () => {
    await records.close()
    await database.close()
  })
  return { records, database }
}

function setVariable(name: string, value: string) {
  vi.stubEnv(name, value)
  after(() => void vi.unstubAllEnvs())
}

let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
beforeAll(async () => {
  if (postgresPrograms) postgres = await startPostgres()
}, 60_000)
afterAll(() => postgres?.stop())

const places: [name: string, newPlace: () => Promise<Location>][] = [
  ['a file', async () => ({ file: join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'r.db') })],
]
if (postgresPrograms) places.push(['PostgreSQL', () => newDatabase(postgres?.url ?? '')])

/** All that a database holds about channels, as text. */
async function contentOf(place: Location): Promise<string> {
  if ('url' in place) {
    const { database } = await opened(place)
    return JSON.stringify(
      await (await database.ready()).selectFrom('channels').selectAll().execute(),
    )
  }
  const files = [place.file, `${place.file}-wal`].map(file => readFile(file, 'latin1'))
  return (await Promise.allSettled(files)).map(file => ('value' in file ? file.value : '')).join()
}

describe.each(places)('channels that are added to a running gateway, in %s', (_, newPlace) => {
  test('serve at once, with the key, which is stored encrypted and never shown', async () => {
    const { first, other } = await upstreams()
    const place = await newPlace()
    const config = {
      channels: [{ name: 'up', protocols: ['messages'], baseUrl: first.url }],
      models: [{ id: 'own', channels: [{ name: 'up' }] }],
    }
    const { admin, ask, shown, lines } = await started({ place, config })
    expect(await ask('fast')).toBe(404)
    const added = await admin('POST', 'channels', {
      name: 'added',
      protocols: ['messages'],
      baseUrl: other.url,
      apiKey: upstreamKey,
      models: [{ id: 'fast', model: 'm-large' }],
    })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({ name: 'added', from: 'console', key: 'encrypted' })
    expect(await ask('fast')).toBe(200)
    expect(other.calls.at(-1)).toMatchObject({
      json: { model: 'm-large' },
      headers: { 'x-api-key': upstreamKey },
    })
    expect(await ask('own')).toBe(200)
    expect(first.calls).toHaveLength(1)
    expect(await shown('up')).toMatchObject({ from: 'file', models: [{ id: 'own' }] })
    expect((await admin('GET', 'channels/added/models')).body).toEqual({ models: ['m-large'] })
    const verified = await admin('POST', 'channels/added/verify', { model: 'm-large' })
    expect(verified.body['checks']).toContainEqual(
      expect.objectContaining({ name: 'the model is listed', result: 'passed' }),
    )

    const everything = JSON.stringify([
      added,
      verified,
      await admin('GET', 'channels'),
      await admin('GET', 'models'),
      await admin('GET', 'records'),
      lines,
    ])
    expect(everything).not.toContain(upstreamKey)
    const content = await contentOf(place)
    expect(content).toContain('m-large')
    expect(content).not.toContain(upstreamKey)
  })

  test('are switched off and on, get other models and another key, and are deleted', async () => {
    const { first, other } = await upstreams()
    const config = { channels: [{ name: 'up', protocols: ['messages'], baseUrl: first.url }] }
    const { admin, ask, shown } = await started({ place: await newPlace(), config })
    expect(await shown('up')).toMatchObject({ models: [{ id: '*' }] })
    await admin('POST', 'channels', {
      name: 'added',
      protocols: ['messages'],
      baseUrl: other.url,
      models: [{ id: 'fast' }],
    })
    // Without models in the configuration, all other ids still go to its channels.
    expect([await ask('fast'), await ask('anything')]).toEqual([200, 200])
    expect([first.calls.length, other.calls.length]).toEqual([1, 1])
    expect(other.calls[0]?.headers['x-api-key']).toBeUndefined()

    expect((await admin('PATCH', 'channels/added', { disabled: true })).status).toBe(200)
    await ask('fast')
    expect([first.calls.length, other.calls.length]).toEqual([2, 1])

    const change = { disabled: false, apiKey: upstreamKey, models: [{ id: 'slow' }] }
    await admin('PATCH', 'channels/added', change)
    await ask('slow')
    expect(other.calls.at(-1)?.headers['x-api-key']).toBe(upstreamKey)

    expect((await admin('DELETE', 'channels/added')).body).toEqual({ deleted: true })
    await ask('slow')
    expect(other.calls).toHaveLength(2)
    expect((await admin('DELETE', 'channels/added')).status).toBe(404)
    expect((await admin('PATCH', 'channels/up', { disabled: true })).status).toBe(404)
  })

  test('outlive a restart, and are left out, with the reason, where their key cannot be opened', async () => {
    const { first, other } = await upstreams()
    const place = await newPlace()
    const config = { channels: [{ name: 'up', protocols: ['messages'], baseUrl: first.url }] }
    const before = await started({ place, config })
    await before.admin('POST', 'channels', {
      name: 'added',
      protocols: ['messages'],
      baseUrl: other.url,
      apiKey: upstreamKey,
      models: [{ id: 'fast' }],
    })
    await before.close()

    const again = await started({ place, config })
    expect(await again.ask('fast')).toBe(200)
    expect(other.calls).toHaveLength(1)
    await again.close()

    const without = await started({ place, config, environment: {} })
    expect(await without.shown('added')).toMatchObject({
      fault: 'its key is encrypted, and WIREGLOT_ENCRYPTION_KEY is not set',
    })
    await without.ask('fast')
    expect(other.calls).toHaveLength(1)
    await without.close()

    const otherKey = { WIREGLOT_ENCRYPTION_KEY: encryptionKey.replace('0', '1') }
    const changed = await started({ place, config, environment: otherKey })
    expect(await changed.shown('added')).toMatchObject({
      fault: expect.stringContaining('another WIREGLOT_ENCRYPTION_KEY'),
    })
  })

  test('are changed by another process within seconds', async () => {
    const { first, other } = await upstreams()
    const place = await newPlace()
    const config = {
      channels: [{ name: 'up', protocols: ['messages'], baseUrl: first.url }],
      models: [{ id: 'own', channels: [{ name: 'up' }] }],
    }
    const { ask } = await started({ place, config })
    const { records } = await opened(place)
    await records.channels.create({
      name: 'added',
      protocols: ['messages'],
      baseUrl: other.url,
      models: [{ id: 'fast' }],
    })
    await vi.waitFor(async () => expect(await ask('fast')).toBe(200), 8000)
  }, 15_000)

  test('stay when the file becomes invalid, and yield to it when it gets their names', async () => {
    const { first, other } = await upstreams()
    const config = {
      channels: [{ name: 'up', protocols: ['messages'], baseUrl: first.url }],
      models: [{ id: 'own', channels: [{ name: 'up' }] }],
    }
    const { admin, ask, shown, file, settings } = await started({
      place: await newPlace(),
      config,
    })
    const added = { protocols: ['messages'], baseUrl: other.url, models: [{ id: 'fast' }] }
    await admin('POST', 'channels', { name: 'added', ...added })
    await writeFile(file, '{')
    const change = await admin('PATCH', 'channels/added', { models: [{ id: 'new' }] })
    expect(change.body['fault']).toBeTruthy()
    expect(await ask('fast')).toBe(200)
    const model = { id: 'new', channels: [{ name: 'up' }] }
    await writeFile(file, JSON.stringify({ ...settings, models: [model] }))
    await vi.waitFor(
      async () =>
        expect(await shown('added')).toMatchObject({ fault: 'the configuration has new already' }),
      5000,
    )
    const seen = first.calls.length
    expect(await ask('new')).toBe(200)
    expect(first.calls).toHaveLength(seen + 1)
  }, 15_000)

  describe('are refused', () => {
    const address = { protocols: ['messages'], baseUrl: 'http://127.0.0.1:9' }
    test.each([
      ['a channel of the configuration', { name: 'up', ...address }, 400, 'has a channel up'],
      [
        'a model of the configuration',
        { name: 'new', ...address, models: [{ id: 'own' }] },
        400,
        'the configuration has own already',
      ],
      ['a channel that is there', { name: 'there', ...address }, 409, 'there is a channel'],
      ['no address', { name: 'new' }, 400, 'expected a URL'],
      ['an unknown vendor', { name: 'new', vendor: 'opnai' }, 400, 'openai'],
      ['an unknown field', { name: 'new', ...address, proxy: 'env' }, 400, 'proxy'],
      [
        'a model twice',
        { name: 'new', ...address, models: [{ id: 'a' }, { id: 'a' }] },
        400,
        'once',
      ],
      [
        'a variable where none may be',
        { name: 'new', ...address, models: [{ id: 'a', model: 'env:HOME' }] },
        400,
        'no reference',
      ],
      [
        'a secret of the process',
        { name: 'new', ...address, apiKey: 'env:WIREGLOT_ADMIN_KEY' },
        400,
        '_API_KEY',
      ],
      [
        'a variable that is not set',
        { name: 'new', ...address, apiKey: 'env:NO_SUCH_API_KEY' },
        400,
        'NO_SUCH_API_KEY to be set',
      ],
      [
        'another notation of a variable',
        { name: 'new', ...address, apiKey: '$OPENAI_API_KEY' },
        400,
        'env:OPENAI_API_KEY',
      ],
      ['a key with a line break', { name: 'new', ...address, apiKey: 'a\nb' }, 400, 'line breaks'],
      [
        'a key that cannot be encrypted',
        { name: 'new', ...address, apiKey: upstreamKey },
        409,
        'WIREGLOT_ENCRYPTION_KEY',
      ],
    ] as const)('with %s', async (_, wanted, status, words) => {
      const config = {
        channels: [{ name: 'up', protocols: ['messages'], baseUrl: 'http://127.0.0.1:9' }],
        models: [{ id: 'own', channels: [{ name: 'up' }] }],
      }
      const { admin } = await started({ place: await newPlace(), config, environment: {} })
      await admin('POST', 'channels', { name: 'there', ...address })
      const { status: got, body } = await admin('POST', 'channels', wanted)
      expect(JSON.stringify(body)).toContain(words)
      expect(got).toBe(status)
    })

    test('by a gateway whose encryption key is short', async () => {
      const config = { channels: [{ name: 'demo', embedded: 'demo' }] }
      const environment = { WIREGLOT_ENCRYPTION_KEY: 'short' }
      await expect(started({ place: await newPlace(), config, environment })).rejects.toThrow(
        'at least 32 are needed',
      )
    })
  })

  test('take their key from a variable', async () => {
    setVariable('OTHER_API_KEY', 'key-of-the-environment')
    const { first, other } = await upstreams()
    const config = { channels: [{ name: 'up', protocols: ['messages'], baseUrl: first.url }] }
    const { admin, ask } = await started({ place: await newPlace(), config, environment: {} })
    const { body } = await admin('POST', 'channels', {
      name: 'added',
      protocols: ['messages'],
      baseUrl: other.url,
      apiKey: 'env:OTHER_API_KEY',
      models: [{ id: 'fast' }],
    })
    expect(body['key']).toBe('env:OTHER_API_KEY')
    await ask('fast')
    expect(other.calls[0]?.headers['x-api-key']).toBe('key-of-the-environment')
  })

  test('do not keep their key when the database gives them another address', async () => {
    const place = await newPlace()
    const { records, database } = await opened(place, { encryptionKey })
    const address = { protocols: ['messages'], baseUrl: 'https://one.example' }
    await records.channels.create({ name: 'one', ...address, apiKey: upstreamKey })
    expect((await records.channels.open()).channels[0]?.apiKey).toBe(upstreamKey)
    await (await database.ready())
      .updateTable('channels')
      .set({ address: JSON.stringify({ ...address, baseUrl: 'https://other.example' }) })
      .execute()
    const [moved] = (await records.channels.open()).channels
    expect(moved?.apiKey).toBeUndefined()
    expect(moved?.fault).toContain('give the key again')
  })
})
