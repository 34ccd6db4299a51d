import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { newRequestId } from '../../src/gateway/ids.ts'
import { openDatabase } from '../../src/records/database.ts'
import { type Location, openRecords, type RecordsOptions } from '../../src/records/index.ts'
import { costOf } from '../../src/records/prices.ts'
import { findRecords, sumUsage } from '../../src/records/queries.ts'
import { createWriter } from '../../src/records/writer.ts'
import { runsAll } from '../support/sampled.ts'
import { newDatabase, postgresPrograms, startPostgres } from './postgres.ts'

const request = { method: 'POST', path: '/', headers: {}, raw: undefined }

function recordOf(number: number, more: Partial<UsageRecord> = {}): UsageRecord {
  return {
    time: new Date(Date.now() - number * 1000).toISOString(),
    requestId: `req_${number}`,
    key: 'alice',
    requestedModel: 'sonnet',
    modelServed: 'claude-sonnet',
    channel: 'up',
    protocolIn: 'messages',
    protocolOut: 'messages',
    stream: false,
    status: 200,
    usage: { input: 100, output: 50 },
    totalMs: 10,
    attempts: 1,
    notes: 0,
    ...more,
  }
}

let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
beforeAll(async () => {
  if (postgresPrograms) postgres = await startPostgres()
}, 60_000)
afterAll(() => postgres?.stop())

const places: [name: string, place: () => Promise<Location>][] = [
  [
    'a file',
    async () => ({ file: join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db') }),
  ],
]
if (postgresPrograms) places.push(['PostgreSQL', () => newDatabase(postgres?.url ?? '')])

test.skipIf(postgresPrograms !== undefined)(
  'PostgreSQL is not installed here, or not all tests run, so its tests are skipped',
  () => expect(postgresPrograms).toBeUndefined(),
)

// In a file alone: PostgreSQL may respond to a later list first.
test('refuses a disabled key as soon as the list shows it as disabled', async () => {
  const records = await openRecords({
    file: join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db'),
  })
  const { keys } = records
  const { secret } = await keys.create('alice', {})
  for (let round = 0; round < 20; round++) {
    expect((await keys.find(secret))?.disabled).toBe(false)
    const changing = keys.change('alice', { disabled: true })
    while (!(await keys.list())[0]?.disabled);
    expect((await keys.find(secret))?.disabled).toBe(true)
    await changing
    await keys.change('alice', { disabled: false })
  }
  await records.close()
})

describe.each(places)('records in %s', (_, place) => {
  async function opened(options: RecordsOptions = {}, at?: Location) {
    const location = at ?? (await place())
    const records = await openRecords(location, options)
    return { location, records }
  }

  test('are found newest first, page by page, and by filter', async () => {
    const { location, records } = await opened()
    for (let number = 0; number < 25; number++)
      records.hooks.onUsage(
        recordOf(number, number % 5 === 0 ? { failure: 'upstream_status', status: 500 } : {}),
        request,
      )
    await records.close()
    const database = await openDatabase(location)
    const first = await findRecords(database, {}, 10)
    const second = await findRecords(database, {}, 10, first.next)
    const third = await findRecords(database, {}, 10, second.next)
    expect([first, second, third].flatMap(page => page.records.map(({ id }) => id))).toEqual(
      Array.from({ length: 25 }, (_, number) => `req_${number}`),
    )
    expect(third.next).toBeUndefined()
    expect((await findRecords(database, { failed: true }, 100)).records).toHaveLength(5)
    expect((await findRecords(database, { key: 'unknown' }, 100)).records).toEqual([])
    expect((await findRecords(database, { model: "x' or 1=1 --" }, 100)).records).toEqual([])
    const { sums } = await sumUsage(database, { from: Date.now() - 86_400_000 }, 'model')
    expect(sums.reduce((all, { requests }) => all + requests, 0)).toBe(25)
    expect(sums[0]).toMatchObject({ name: 'sonnet' })
    await database.close()
  })

  test('of one millisecond are in the order of their requests, also across pages', async () => {
    const { location, records } = await opened()
    const time = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString()
    const ids = Array.from({ length: 40 }, newRequestId)
    for (const requestId of ids) records.hooks.onUsage(recordOf(0, { time, requestId }), request)
    await records.close()
    const database = await openDatabase(location)
    const found: string[] = []
    let next: string | undefined
    do {
      const page = await findRecords(database, {}, 7, next)
      found.push(...page.records.map(({ id }) => id))
      next = page.next
    } while (next !== undefined)
    expect(found).toEqual(ids.toReversed())
    await database.close()
  })

  test('are counted once when they are written twice', async () => {
    const { location, records } = await opened()
    const record = recordOf(1)
    records.hooks.onUsage(record, request)
    records.hooks.onUsage(record, request)
    await records.close()
    const database = await openDatabase(location)
    expect((await sumUsage(database, {})).sums).toMatchObject([
      { requests: 1, input: 100, output: 50 },
    ])
    await database.close()
  })

  test('wait for the next batch while others are written', async () => {
    const database = await openDatabase(await place())
    const sizes: number[] = []
    const writer = createWriter(
      {
        ...database,
        insertions(table, rows, ending) {
          if (table === 'records') {
            sizes.push(rows.length)
            writer.add(recordOf(100 + sizes.length))
          }
          return database.insertions(table, rows, ending)
        },
      },
      { prices: () => ({}), warn() {} },
    )
    for (let number = 0; number < 10; number++) writer.add(recordOf(number))
    await writer.flush()
    expect(sizes).toEqual([10])
    expect(writer.waiting()).toBe(1)
    await writer.flush()
    expect(sizes).toEqual([10, 1])
    await writer.close()
    await database.close()
  })

  test('create tables once, also from several processes at the same time', async () => {
    const location = await place()
    const first = await openDatabase(location)
    const others = await Promise.all([openDatabase(location), openDatabase(location)])
    for (const one of [first, ...others]) await one.close()
  })

  test('keys are created, found by their secret, rotated, disabled and deleted', async () => {
    const { records } = await opened()
    const { keys, hooks } = records
    const { secret, ...info } = await keys.create('alice', {
      group: 'team',
      models: ['gpt-*'],
      requestsPerMinute: 7,
      expiresAt: '2100-01-01T00:00:00.000Z',
    })
    expect(info).toMatchObject({
      name: 'alice',
      group: 'team',
      models: ['gpt-*'],
      requestsPerMinute: 7,
      disabled: false,
    })
    expect(await hooks.authenticate(secret, request)).toEqual({
      id: info.id,
      name: 'alice',
      group: 'team',
      models: ['gpt-*'],
      requestsPerMinute: 7,
    })
    await expect(keys.create('alice', {})).rejects.toThrow('there is a key "alice" already')
    const rotated = await keys.rotate('alice')
    expect(await hooks.authenticate(secret, request)).toBeUndefined()
    expect(await hooks.authenticate(rotated.secret, request)).toMatchObject({ name: 'alice' })
    await keys.change('alice', { disabled: true })
    await expect(hooks.authenticate(rotated.secret, request)).rejects.toMatchObject({
      error: { status: 401 },
    })
    await keys.change('alice', { disabled: false, expiresAt: '2001-01-01T00:00:00.000Z' })
    await expect(hooks.authenticate(rotated.secret, request)).rejects.toThrow('expired')
    expect(JSON.stringify(await keys.list())).not.toContain(rotated.secret)
    await keys.delete('alice')
    await expect(keys.delete('alice')).rejects.toThrow('there is no key "alice"')
    expect(await hooks.authenticate(rotated.secret, request)).toBeUndefined()
    await records.close()
  })

  test.each<[limit: string, limits: object, message: string]>([
    ['tokens of a minute', { tokensPerMinute: 300 }, 'this minute'],
    ['tokens of a day', { tokensPerDay: 300 }, 'this day'],
    ['tokens of a month', { tokensPerMonth: 300 }, 'this month'],
    ['money of a day', { dollarsPerDay: 0.0005 }, 'this day'],
    ['money of a month', { dollarsPerMonth: 0.0005 }, 'this month'],
  ])(
    'a key that has used its %s is refused, in another process too',
    async (_limit, limits, message) => {
      const prices = () => ({ 'claude-*': { input: 1, output: 3 } })
      const { location, records } = await opened({ prices })
      const { secret, id: keyId } = await records.keys.create('alice', limits)
      expect(await records.hooks.authenticate(secret, request)).not.toHaveProperty('refusal')
      for (const number of [1, 2])
        records.hooks.onUsage(recordOf(number, { time: new Date().toISOString(), keyId }), request)
      expect(await records.hooks.authenticate(secret, request)).toMatchObject({
        rejection: { message: expect.stringContaining(message) },
      })
      await records.close()
      const { records: other } = await opened({ prices }, location)
      expect(await other.hooks.authenticate(secret, request)).toMatchObject({
        name: 'alice',
        rejection: {
          error: { status: 429, kind: message === 'this minute' ? 'rate_limit' : 'quota' },
        },
      })
      await other.close()
    },
  )

  test('are written although another one has a name that the database refuses', async () => {
    const { location, records } = await opened()
    for (const [number, requestedModel] of [
      'nul\u0000',
      'x'.repeat(100_000),
      '\ud800',
      'sonnet',
    ].entries())
      records.hooks.onUsage(recordOf(number, { requestedModel }), request)
    await records.close()
    const database = await openDatabase(location)
    const { records: found } = await findRecords(database, {}, 10)
    expect(found.map(({ model }) => model.slice(0, 10))).toEqual([
      'nul\ufffd',
      'xxxxxxxxxx',
      '\ufffd',
      'sonnet',
    ])
    expect((await sumUsage(database, {})).sums).toMatchObject([{ requests: 4 }])
    await database.close()
  })

  test('counts that are none, and values that only the database refuses, keep no other record out', async () => {
    const { location, records } = await opened()
    const time = new Date().toISOString()
    for (const [number, input] of [1.5, Number.NaN, 1e300, -1, 7].entries())
      records.hooks.onUsage(recordOf(number, { time, usage: { input } }), request)
    records.hooks.onUsage(recordOf(5, { time, usage: { input: 7 }, channel: 'a\u0000' }), request)
    await records.close()
    const database = await openDatabase(location)
    const { records: found } = await findRecords(database, {}, 10)
    expect(found.filter(({ channel }) => channel === 'up').map(({ input }) => input)).toEqual([
      7,
      null,
      null,
      null,
      2,
    ])
    await database.close()
  })

  test('details of an exchange are kept: group, tokens by kind, note codes and the message', async () => {
    const { location, records } = await opened({
      prices: () => ({ 'claude-*': { input: 10, output: 20, cacheRead: 1, cacheWrite: 12 } }),
    })
    const usage = { input: 1000, output: 100, cacheRead: 500, cacheWrite: 200, reasoning: 30 }
    const more = {
      group: 'team',
      usage,
      noteCodes: ['a.b', 'c.d'],
      errorMessage: 'the upstream failed: 500 internal',
      upstreamRequestId: 'up_1',
    }
    records.hooks.onUsage(recordOf(1, more), request)
    await records.close()
    const database = await openDatabase(location)
    expect((await findRecords(database, {}, 1)).records).toMatchObject([
      {
        groupName: 'team',
        cacheRead: 500,
        cacheWrite: 200,
        reasoning: 30,
        noteCodes: 'a.b c.d',
        errorMessage: more.errorMessage,
        upstreamRequestId: 'up_1',
      },
    ])
    const [{ cost } = { cost: null }] = (await findRecords(database, {}, 1)).records
    expect(cost).toBeCloseTo((300 * 10 + 500 * 1 + 200 * 12 + 100 * 20) / 1e6, 10)
    await database.close()
  })

  test('an unknown cost is absent, and is not zero', async () => {
    const { location, records } = await opened({
      prices: () => ({ priced: { input: 1, output: 1 } }),
    })
    const time = new Date().toISOString()
    for (const [number, model] of ['free', 'free', 'priced'].entries())
      records.hooks.onUsage(
        recordOf(number, {
          time,
          requestedModel: model,
          modelServed: model,
          firstByteMs: 4,
          ...(number === 0 && { emulated: 3 }),
        }),
        request,
      )
    const { usage: _usage, ...failed } = recordOf(3, {
      time,
      requestedModel: 'free',
      modelServed: 'free',
      failure: 'client',
      status: 400,
    })
    records.hooks.onUsage(failed, request)
    await records.close()
    const database = await openDatabase(location)
    // By minute, hour and day.
    for (const hours of [1, 24, 200]) {
      const { sums } = await sumUsage(database, { from: Date.now() - hours * 3_600_000 }, 'model')
      const [free, priced] = sums.sort((a, b) => (a.name < b.name ? -1 : 1))
      expect(free).toMatchObject({
        name: 'free',
        requests: 3,
        failures: 1,
        unpriced: 2,
        totalMs: 30,
        firstByteMs: 8,
        firstBytes: 2,
        emulated: 1,
      })
      expect(free).not.toHaveProperty('cost')
      expect(priced).toMatchObject({
        name: 'priced',
        requests: 1,
        unpriced: 0,
        cost: 0.00015,
        emulated: 0,
      })
    }
    await database.close()
  })

  test('buckets are a minute, an hour or a day long', async () => {
    const { location, records } = await opened()
    records.hooks.onUsage(recordOf(1), request)
    await records.close()
    const database = await openDatabase(location)
    const now = Date.now()
    for (const [hours, bucketMs] of [
      [3, 60_000],
      [96, 3_600_000],
      [97, 86_400_000],
    ] as const) {
      const found = await sumUsage(database, { from: now - hours * 3_600_000, to: now })
      expect(found.bucketMs).toBe(bucketMs)
      expect(found.sums).toHaveLength(1)
      expect((found.sums[0]?.time ?? 1) % bucketMs).toBe(0)
    }
    await database.close()
  })

  test('a limit that is set to null is removed', async () => {
    const { records } = await opened()
    await records.keys.create('alice', {
      models: ['m'],
      tokensPerDay: 5,
      expiresAt: '2100-01-01T00:00:00.000Z',
    })
    expect(
      await records.keys.change('alice', { models: null, tokensPerDay: null, expiresAt: null }),
    ).toEqual({
      id: expect.any(String),
      name: 'alice',
      hint: expect.any(String),
      disabled: false,
      createdAt: expect.any(String),
    })
    await records.close()
  })

  test('a name with other characters than the admin API allows is refused everywhere', async () => {
    const { records } = await opened()
    await expect(records.keys.create('<b>', {})).rejects.toThrow('expected up to 100 letters')
    await expect(records.keys.rotate('a\u0000')).rejects.toThrow('there is no key')
    await records.close()
  })

  test('contain neither conversations nor secrets', async () => {
    const { location, records } = await opened()
    const { secret } = await records.keys.create('alice', {})
    records.hooks.onUsage(recordOf(1), request)
    await records.close()
    const database = await openDatabase(location)
    const everything = JSON.stringify([
      await (await database.ready()).selectFrom('records').selectAll().execute(),
      await (await database.ready()).selectFrom('keys').selectAll().execute(),
    ])
    expect(everything).not.toContain(secret)
    expect(everything).not.toContain(secret.slice(8))
    await database.close()
  })
})

// Of 51,000 records, which take five seconds.
test.runIf(runsAll())(
  'a failing database delays no client: records wait, are written later, and are dropped when they are too many',
  async () => {
    const warnings: string[] = []
    const location = { file: join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db') }
    const records = await openRecords(location, {
      logger: { warn: (_, message) => warnings.push(message) },
    })
    const breaking = await openDatabase(location)
    await (await breaking.ready()).schema.alterTable('records').renameTo('away').execute()
    for (let number = 0; number < 51_000; number++) records.hooks.onUsage(recordOf(number), request)
    await vi.waitFor(
      () => {
        expect(warnings).toContain(
          'the records cannot be written: requests are served all the same',
        )
        expect(warnings).toContain('records are dropped: the database is away for too long')
        expect(records.state()).toEqual({ database: 'unreachable', waiting: 50_000, dropped: 1000 })
      },
      { timeout: 30_000, interval: 50 },
    )
    await (await breaking.ready()).schema.alterTable('away').renameTo('records').execute()
    await records.close()
    expect(
      (await sumUsage(breaking, {})).sums.reduce((all, { requests }) => all + requests, 0),
    ).toBe(50_000)
    await breaking.close()
  },
)

test.skipIf(!postgresPrograms)(
  'writes records to PostgreSQL when it becomes reachable after the start',
  async () => {
    const server = await startPostgres()
    await server.stop()
    const warnings: string[] = []
    const records = await openRecords(
      { url: server.url },
      { logger: { warn: (_, message) => warnings.push(message) } },
    )
    expect(warnings).toEqual([
      'the database of records cannot be reached: requests are served all the same',
    ])
    expect(records.state().database).toBe('unreachable')
    records.hooks.onUsage(recordOf(1), request)
    await expect(records.hooks.authenticate('wg-some', request)).rejects.toMatchObject({
      error: { status: 503 },
    })
    await server.start()
    await records.close()
    const database = await openDatabase({ url: server.url })
    expect((await findRecords(database, {}, 10)).records).toHaveLength(1)
    await database.close()
    await server.stop()
    await expect(
      openRecords({ url: 'postgres://unknown:wrong@no-such-host.invalid/x' }),
    ).rejects.toThrow()
  },
  60_000,
)

test('old records are deleted, some at a time, and their sums stay', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const location = { file: join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db') }
  const records = await openRecords(location, { keepDays: 7 })
  const day = 86_400_000
  for (let number = 0; number < 20; number++)
    records.hooks.onUsage(
      recordOf(number, { time: new Date(Date.now() - number * day).toISOString() }),
      request,
    )
  vi.advanceTimersByTime(1000)
  const database = await openDatabase(location)
  const count = async () => (await findRecords(database, {}, 100)).records.length
  await vi.waitFor(async () => expect(await count()).toBe(20))
  vi.advanceTimersByTime(10_000)
  await vi.waitFor(async () => expect(await count()).toBe(7))
  expect((await sumUsage(database, {})).sums).toHaveLength(20)
  const left = await (await database.ready()).selectFrom('minutes').select('start').execute()
  expect(left).toHaveLength(2)
  vi.useRealTimers()
  await records.close()
  await database.close()
})

test.skipIf(!postgresPrograms)(
  'accepts keys that were used before while the database hangs or is unreachable',
  async () => {
    const server = await startPostgres()
    const { default: pg } = await import('pg')
    const records = await openRecords({ url: server.url })
    const { secret } = await records.keys.create('alice', { tokensPerDay: 1000 })
    expect(await records.hooks.authenticate(secret, request)).toMatchObject({ name: 'alice' })
    const blocker = new pg.Client({ connectionString: server.url })
    blocker.on('error', () => {})
    await blocker.connect()
    await blocker.query('begin; lock table keys, records, hours in access exclusive mode')
    records.hooks.onUsage(recordOf(1), request)
    const received = async () => {
      await new Promise(resolve => setTimeout(resolve, 2100))
      const since = Date.now()
      const identity = await records.hooks.authenticate(secret, request)
      return { name: identity?.name, seconds: Math.round((Date.now() - since) / 1000) }
    }
    const hanging = await received()
    expect(hanging.name).toBe('alice')
    expect(hanging.seconds).toBeLessThan(5)
    await expect(records.hooks.authenticate('wg-never-seen', request)).rejects.toMatchObject({
      error: { status: 503 },
    })
    await server.stop()
    expect(await received()).toMatchObject({ name: 'alice' })
    await records.close()
  },
  60_000,
)

test.each<[driver: string, location: Location]>([
  ['libsql', { file: 'records.db' }],
  ['pg', { url: 'postgres://127.0.0.1:1/x' }],
])('says at once which packages are missing, kysely and %s', async (driver, location) => {
  vi.doMock('kysely', () => {
    throw new Error('not installed')
  })
  await expect(openDatabase(location)).rejects.toThrow(`npm install kysely ${driver}`)
  vi.doUnmock('kysely')
})

test('costs follow the longest matching price, and are unknown without one', () => {
  const prices = {
    'gpt-*': { input: 1, output: 2 },
    'gpt-5*': { input: 10, output: 20, cacheRead: 1 },
  }
  expect(costOf('gpt-4', { input: 1_000_000, output: 1_000_000 }, prices)).toBe(3)
  expect(costOf('gpt-5.6', { input: 1_000_000, output: 0, cacheRead: 500_000 }, prices)).toBe(5.5)
  expect(costOf('other', { input: 1, output: 1 }, prices)).toBeUndefined()
  expect(costOf('gpt-4', {}, prices)).toBeUndefined()
  // Embeddings have no output.
  expect(costOf('gpt-4', { input: 1_000_000 }, prices)).toBe(1)
})
