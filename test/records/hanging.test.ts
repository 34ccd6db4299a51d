import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/records/database.ts'
import { openRecords, type Records } from '../../src/records/index.ts'
import { after, listen } from '../gateway/support.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { postgresPrograms, startPostgres } from './postgres.ts'

const request = { method: 'POST', path: '/', headers: {}, raw: undefined }
const adminKey = 'admin-key-0123456789'

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T | Error }> {
  const since = performance.now()
  const result = await work().catch((error: Error) => error)
  return { ms: performance.now() - since, result }
}

/** The status of a call of the admin API. */
async function adminCall(records: Records, path: string): Promise<number> {
  const admin = records.admin(adminKey, { state: () => ({}) as never })
  const url = await listen((received, response) => void admin(received, response))
  const { status } = await fetch(`${url}/admin/${path}`, { headers: { 'x-admin-key': adminKey } })
  return status
}

test('a PostgreSQL that accepts connections and never answers stops neither the start nor requests', async () => {
  const { port, stop } = await startSilentServer()
  after(stop)
  const warnings: string[] = []
  const opening = await timed(() =>
    openRecords(
      { url: `postgres://wireglot@127.0.0.1:${port}/x` },
      { logger: { warn: (_, message) => warnings.push(message) } },
    ),
  )
  expect(opening.ms).toBeLessThan(15_000)
  expect(warnings.join()).toContain('cannot be reached')
  const records = opening.result as Records
  const ask = () => timed(async () => records.hooks.authenticate('wg-unknown', request))
  const [first, second] = [await ask(), await ask()]
  for (const { result } of [first, second]) expect(result).toMatchObject({ error: { status: 503 } })
  expect(first.ms).toBeLessThan(8_000)
  expect(second.ms).toBeLessThan(1_000)
  const listing = await timed(() => adminCall(records, 'records'))
  expect(listing.result).toBe(503)
  expect(listing.ms).toBeLessThan(15_000)
  expect((await timed(() => records.close())).ms).toBeLessThan(20_000)
})

describe('a database that fails', () => {
  /** A key that has used 90 of its 100 tokens, and the records then cannot be written or read. */
  async function failing(onFailure: 'open' | 'closed') {
    const location = { file: join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db') }
    const records = await openRecords(location, { onFailure })
    const { secret, id: keyId } = await records.keys.create('alice', { tokensPerDay: 100 })
    const spend = (input: number) =>
      records.hooks.onUsage(
        {
          time: new Date().toISOString(),
          requestId: `req_${Math.random()}`,
          key: 'alice',
          keyId,
          protocolIn: 'messages',
          stream: false,
          status: 200,
          usage: { input, output: 0 },
          totalMs: 1,
          attempts: 1,
          notes: 0,
        },
        request,
      )
    spend(90)
    await records.find({}, 1)
    const rejection = async () => (await records.hooks.authenticate(secret, request))?.rejection
    const breaking = await openDatabase(location)
    after(async () => {
      await records.close()
      await breaking.close()
    })
    const rename = async (from: 'hours' | 'days', to: string) =>
      (await breaking.ready()).schema.alterTable(from).renameTo(to).execute()
    return { spend, rejection, rename }
  }

  test('does not stop budgets: what a process has used counts, also where it cannot be written', async () => {
    const { spend, rejection, rename } = await failing('open')
    expect(await rejection()).toBeUndefined()
    // As with a full disk, reading works and writing does not.
    await rename('hours', 'away')
    spend(20)
    await new Promise(resolve => setTimeout(resolve, 2_000))
    expect(await rejection()).toMatchObject({ error: { kind: 'quota' } })
  })

  test('makes keys with a budget refused when `onFailure` is `closed`', async () => {
    const { rejection, rename } = await failing('closed')
    expect(await rejection()).toBeUndefined()
    await rename('days', 'away')
    await new Promise(resolve => setTimeout(resolve, 2_000))
    expect(await rejection()).toMatchObject({ error: { status: 503 } })
  })
})

test.skipIf(!postgresPrograms)(
  'known keys do not wait for a PostgreSQL whose tables are locked, and calls of the admin API end',
  async () => {
    const server = await startPostgres()
    after(() => server.stop())
    const { default: pg } = await import('pg')
    const records = await openRecords({ url: server.url })
    after(() => records.close())
    const { secret } = await records.keys.create('alice', { tokensPerDay: 1000 })
    expect(await records.hooks.authenticate(secret, request)).toMatchObject({ name: 'alice' })
    const blocker = new pg.Client({ connectionString: server.url })
    blocker.on('error', () => {})
    await blocker.connect()
    await blocker.query('begin; lock table keys, records, hours, days in access exclusive mode')
    const slowest: number[] = []
    for (let i = 0; i < 40; i++) {
      await new Promise(resolve => setTimeout(resolve, 200))
      const { ms, result } = await timed(async () => records.hooks.authenticate(secret, request))
      expect(result).toMatchObject({ name: 'alice' })
      slowest.push(ms)
    }
    slowest.sort((a, b) => b - a)
    // One look at the key and one at its budget may be waited for, and no other.
    expect(slowest[0]).toBeLessThan(4_000)
    expect(slowest[2]).toBeLessThan(1_000)
    const listing = await timed(() => adminCall(records, 'records'))
    expect(listing.result).toBe(503)
    expect(listing.ms).toBeLessThan(15_000)
    await blocker.end()
    await expect.poll(() => adminCall(records, 'records'), { timeout: 15_000 }).toBe(200)
    const { ms } = await timed(() => records.keys.list())
    expect(ms).toBeLessThan(3_000)
  },
  120_000,
)
