import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { KeyError, openRecords, type RecordsOptions } from '../../src/records/index.ts'
import {
  after,
  hostsOf,
  one,
  post,
  requests,
  responses,
  sendJson,
  upstream,
} from '../gateway/support.ts'
import { postgresPrograms, startPostgres } from './postgres.ts'

const [[, start] = []] = hostsOf(import.meta.url)
if (!start) throw new Error('no host')

const request = { method: 'POST', path: '/', headers: {}, raw: undefined }

const newFile = async () => join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db')

async function opened(options: RecordsOptions = {}) {
  const records = await openRecords({ file: await newFile() }, options)
  after(() => records.close())
  return records
}

const recordOf = (more: Partial<UsageRecord>): UsageRecord => ({
  time: new Date().toISOString(),
  requestId: `req_${Math.random()}`,
  key: 'alice',
  channel: 'up',
  requestedModel: 'm',
  protocolIn: 'messages',
  stream: false,
  status: 200,
  usage: { input: 90, output: 10 },
  totalMs: 1,
  attempts: 1,
  notes: 0,
  ...more,
})

test('a key that is deleted and made again with its name is another one, with its own budget and records', async () => {
  const { keys, hooks, find, sum } = await opened()
  const limits = { tokensPerDay: 100, tokensPerMinute: 100 }
  const former = await keys.create('alice', limits)
  await hooks.authenticate(former.secret, request)
  hooks.onUsage(recordOf({ keyId: former.id }), request)
  expect((await hooks.authenticate(former.secret, request))?.rejection).toBeDefined()
  await keys.delete('alice')

  const now = await keys.create('alice', limits)
  expect(now.id).not.toBe(former.id)
  expect(await hooks.authenticate(now.secret, request)).toEqual({ id: now.id, name: 'alice' })
  const countOf = async (keyId: string) => ({
    records: (await find({ key: 'alice', keyId }, 10)).records.length,
    sums: (await sum({ key: 'alice', keyId })).sums.length,
  })
  expect(await countOf(former.id)).toEqual({ records: 1, sums: 1 })
  expect(await countOf(now.id)).toEqual({ records: 0, sums: 0 })
  // The operator sees both under the name.
  expect((await find({ key: 'alice' }, 10)).records).toHaveLength(1)
})

test('a new secret is one of the same key', async () => {
  const { keys } = await opened()
  const { id } = await keys.create('alice', {})
  expect((await keys.rotate('alice')).id).toBe(id)
})

test('responses that a key stored are not found by another key with its name', async () => {
  const records = await opened()
  const seen = await upstream(sendJson(200, responses.messages))
  const { auth: _, ...config } = one(seen.url, 'messages', { store: { memory: true } })
  const ask = await start(config, records.hooks)
  const as = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const former = await records.keys.create('sam', {})
  const response = await ask('/v1/responses', post(requests.responses, as(former.secret)))
  const { id } = (await response.json()) as { id: string }
  const statusFor = async (secret: string) =>
    (await ask(`/v1/responses/${id}`, { headers: as(secret) })).status
  expect(await statusFor(former.secret)).toBe(200)
  const rotated = await records.keys.rotate('sam')
  expect(await statusFor(rotated.secret)).toBe(200)
  await records.keys.delete('sam')
  const now = await records.keys.create('sam', {})
  expect(await statusFor(now.secret)).toBe(404)
})

test('a key that is made again has a new limit of requests', async () => {
  const records = await opened()
  const seen = await upstream(sendJson(200, responses.messages))
  const { auth: _, ...config } = one(seen.url, 'messages')
  const ask = await start(config, records.hooks)
  const statusFor = async (secret: string) =>
    (await ask('/v1/responses', post(requests.responses, { authorization: `Bearer ${secret}` })))
      .status
  const former = await records.keys.create('sam', { requestsPerMinute: 1 })
  expect(await statusFor(former.secret)).toBe(200)
  expect(await statusFor(former.secret)).toBe(429)
  await records.keys.delete('sam')
  const now = await records.keys.create('sam', { requestsPerMinute: 1 })
  expect(await statusFor(now.secret)).toBe(200)
})

test('a key of the database cannot have the name of a key in the configuration', async () => {
  const configured: string[] = []
  const { keys, hooks } = await opened({ configuredNames: () => configured })
  const { secret } = await keys.create('alice', {})
  configured.push('alice', 'bob')
  const error: unknown = await keys.create('bob', {}).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(KeyError)
  expect(error).toMatchObject({
    reason: 'configured',
    message: 'the configuration has a key "bob" already',
  })
  await expect(hooks.authenticate(secret, request)).rejects.toMatchObject({
    error: { status: 401, message: expect.stringContaining('name of a key in the configuration') },
  })
})

/**
 * The tables of the version before keys had ids, with a key and its records, and those of a key
 * that was deleted.
 */
const former = [
  'create table migrations (version integer primary key)',
  'insert into migrations (version) values (0), (1), (2)',
  `create table records (time bigint not null, id text not null, key text, group_name text, model text not null, model_served text, channel text,
    provider text, protocol_in text not null, protocol_out text, stream integer not null, status integer not null, failure text, error text, error_message text,
    input bigint, output bigint, cache_read bigint, cache_write bigint, reasoning bigint, cost double precision, first_byte_ms bigint,
    total_ms bigint not null, attempts integer not null, notes integer not null, note_codes text, upstream_request_id text, primary key (time, id))`,
  'create table details (id text primary key, time bigint not null, detail text not null)',
  `create table keys (name text primary key, hash text not null unique, hint text not null, group_name text, models text, requests_per_minute bigint,
    tokens_per_minute bigint, tokens_per_day bigint, tokens_per_month bigint, dollars_per_day double precision, dollars_per_month double precision,
    expires_at bigint, disabled integer not null, created_at bigint not null)`,
  `insert into keys (name, hash, hint, tokens_per_day, disabled, created_at) values ('alice', 'HASH', 'wg-some', 100, 0, 1)`,
  ...['minutes', 'hours', 'days'].flatMap(period => [
    `create table ${period} (start bigint not null, key text not null, model text not null, channel text not null, requests bigint not null,
      failures bigint not null, input bigint not null, output bigint not null, cost double precision not null, priced bigint not null, unpriced bigint not null,
      total_ms bigint not null, first_byte_ms bigint not null, first_bytes bigint not null, primary key (start, key, model, channel))`,
    `create index ${period}_key on ${period} (key, start)`,
    ...['alice', 'gone'].map(
      key =>
        `insert into ${period} values (TODAY, '${key}', 'm', 'up', 1, 0, 90, 10, 0, 0, 1, 5, 0, 0)`,
    ),
  ]),
  ...['alice', 'gone'].map(
    key =>
      `insert into records (time, id, key, model, channel, protocol_in, stream, status, input, output, total_ms, attempts, notes)
       values (NOW, 'req_${key}', '${key}', 'm', 'up', 'messages', 0, 200, 90, 10, 5, 1, 0)`,
  ),
]
const secret = 'wg-some-secret-of-the-version-before'
const formerTables = async () => {
  const { createHash } = await import('node:crypto')
  const now = Date.now()
  return former.map(text =>
    text
      .replace('HASH', createHash('sha256').update(secret).digest('hex'))
      .replace('TODAY', String(now - (now % 86_400_000)))
      .replace('NOW', String(now)),
  )
}

async function formerFile() {
  const file = await newFile()
  // Its types are not those of its CommonJS module.
  const Libsql = createRequire(import.meta.url)('libsql') as new (
    file: string,
  ) => { exec(sql: string): void; close(): void }
  const database = new Libsql(file)
  for (const text of await formerTables()) database.exec(text)
  database.close()
  return { file }
}

async function formerPostgres() {
  const server = await startPostgres()
  after(() => server.stop())
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  for (const text of await formerTables()) await client.query(text)
  await client.end()
  return { url: server.url }
}

test.each([
  ['a file', formerFile],
  ...(postgresPrograms ? [['PostgreSQL', formerPostgres] as const] : []),
] as const)(
  'keys of an older version get an id, and keep what they have used and recorded: %s',
  async (_, place) => {
    const location = await place()
    const records = await openRecords(location)
    after(() => records.close())
    const [key] = await records.keys.list()
    expect(key).toMatchObject({ name: 'alice', id: expect.stringMatching(/^[0-9a-f]{24}$/) })
    const identity = await records.hooks.authenticate(secret, request)
    expect(identity).toMatchObject({
      id: key?.id,
      name: 'alice',
      rejection: { error: { kind: 'quota' } },
    })
    const ids = async (filter: object) =>
      (await records.find(filter, 10)).records.map(({ id }) => id)
    expect(await ids({ key: 'alice', keyId: key?.id })).toEqual(['req_alice'])
    expect(await ids({ key: 'gone', keyId: '' })).toEqual(['req_gone'])
    // Sums by day.
    const from = Date.now() - 5 * 86_400_000
    expect((await records.sum({ keyId: key?.id ?? '', from })).sums).toMatchObject([
      { requests: 1, input: 90 },
    ])
    expect((await records.sum({ from })).sums).toMatchObject([{ requests: 2 }])
    // What comes later is added to it.
    records.hooks.onUsage(recordOf({ keyId: key?.id ?? '' }), request)
    expect((await records.sum({ keyId: key?.id ?? '', from })).sums).toMatchObject([
      { requests: 2, input: 180 },
    ])
    const again = await openRecords(location)
    expect((await again.keys.list())[0]?.id).toBe(key?.id)
    await again.close()
  },
  60_000,
)
