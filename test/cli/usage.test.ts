import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { after, paths, post, requests } from '../gateway/support.ts'
import { wireglot, wireglotIn } from './support.ts'

const adminKey = 'admin-key-0123456789'

/** A gateway whose key `alice` has sent two requests to the demo model, and `=bob` one. */
async function used() {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const file = join(folder, 'r.db')
  const config = {
    keys: [
      { name: 'alice', key: 'client-secret-a', group: 'team' },
      { name: '=bob', key: 'client-secret-b' },
    ],
    groups: { team: {} },
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [
      { id: 'priced', channels: [{ name: 'demo' }] },
      { id: 'free', channels: [{ name: 'demo' }] },
    ],
    prices: { priced: { input: 1_000_000, output: 0 } },
    records: { file },
    adminKey,
  }
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const { url, close } = await serve(
    { host: '127.0.0.1', port: 0, log: 'off' },
    { out() {}, err() {}, folder, environment: {} },
  )
  after(close)
  const ask = async (key: string, model: string) => {
    const sent = post({ ...requests.messages, model })
    const init = { ...sent, headers: { ...sent.headers, 'x-api-key': key } }
    const response = await fetch(url + paths.messages, init)
    return ((await response.json()) as { usage: { input_tokens: number } }).usage.input_tokens
  }
  const input = await ask('client-secret-a', 'priced')
  await ask('client-secret-a', 'free')
  await ask('client-secret-b', 'priced')
  const headers = { authorization: `Bearer ${adminKey}` }
  await vi.waitFor(async () => {
    const response = await fetch(`${url}/admin/records`, { headers })
    expect(((await response.json()) as { records: unknown[] }).records).toHaveLength(3)
  })
  return { url, file, input, folder }
}

describe('wireglot usage', () => {
  test.each(['a running gateway', 'the database'])(
    'prints who spent what, from %s',
    async place => {
      const { url, file, input } = await used()
      const at = place === 'the database' ? ['--database', file] : ['--url', url]
      const run = (...args: string[]) =>
        wireglot(['usage', ...at, ...args], '', { WIREGLOT_ADMIN_KEY: adminKey })
      const { out, code } = await run()
      expect(code).toBe(0)
      const [since, heads, ...rows] = out.trimEnd().split('\n')
      expect(since).toMatch(/^since \d{4}-\d\d-01 00:00 UTC$/)
      expect(heads?.split(/ {2,}/)).toEqual([
        'key',
        'requests',
        'failed',
        'tokens in',
        'tokens out',
        'cost',
        'emulated',
      ])
      const cells = rows.map(row => row.split(/ {2,}/).map(cell => cell.trim()))
      expect(cells[0]).toEqual([
        'alice',
        '2',
        '0',
        String(2 * input),
        expect.any(String),
        `$${input.toFixed(2)}`,
        '0',
      ])
      expect(cells[1]?.slice(0, 2)).toEqual(['=bob', '1'])
      expect(cells[2]?.slice(0, 2)).toEqual(['all', '3'])
      expect(rows[3]).toBe('The cost lacks 1 requests whose price is not known.')
      const json = JSON.parse((await run('--by', 'model', '--json')).out) as object[]
      expect(json).toEqual([
        expect.objectContaining({ name: 'priced', requests: 2, failures: 0, cost: 2 * input }),
        expect.objectContaining({ name: 'free', requests: 1, cost: null, unpriced: 1 }),
      ])
      const csv = (await run('--csv', '--by', 'key')).out.split('\r\n')
      expect(csv[0]).toBe('key,requests,failures,input,output,cost,unpriced,emulated')
      expect(csv[2]).toMatch(/^"'=bob",1,0,/)
      expect((await run('--by', 'group', '--json')).out).toContain('"name": "team"')
      expect(JSON.parse((await run('--since', '2100-01-01', '--json')).out)).toEqual([])
    },
    60_000,
  )

  test('names a database that is not there, and a wrong word', async () => {
    const { err, code } = await wireglot(['usage', '--database', 'no.db'])
    expect([code, err]).toEqual([2, expect.stringContaining('there is no database no.db')])
    expect((await wireglot(['usage', '--by', 'keys'])).err).toContain('key')
    expect((await wireglot(['usage', '--since', 'yesterday'])).err).toContain('2030-01-01')
  })
})

test('wireglot keys create gives the default budget of the folder, and says where no price counts it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const config = {
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: 'demo', channels: [{ name: 'demo' }] }],
    newKeys: { dollarsPerDay: 5, tokensPerDay: 100 },
  }
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const created = await wireglotIn({ folder }, [
    'keys',
    'create',
    'ann',
    '--tokens-per-day',
    'none',
  ])
  expect(created.code).toBe(0)
  expect(created.err).toContain('{"dollarsPerDay":5}')
  const warning =
    'no price is known for demo: such requests cost nothing of the budget in dollars of ann'
  expect(created.err).toContain(`wireglot: ${warning}`)
  const warned: string[] = []
  const { close } = await serve(
    { host: '127.0.0.1', port: 0, log: 'off', records: true },
    { out() {}, err: line => warned.push(line), folder, environment: {} },
  )
  await close()
  expect(warned.join('\n')).toContain(warning)
}, 60_000)

test('wireglot serve says that the budget of a group needs records', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const config = {
    records: false,
    groups: { team: { tokensPerDay: 5 } },
    channels: [{ name: 'demo', embedded: 'demo' }],
  }
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const warned: string[] = []
  const { close } = await serve(
    { host: '127.0.0.1', port: 0, log: 'off' },
    { out() {}, err: line => warned.push(line), folder, environment: {} },
  )
  await close()
  expect(warned.join('\n')).toContain('the budget of the group team is not kept')
})
