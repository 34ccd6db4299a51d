import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type ServeOptions, serve } from '../../src/cli/serve.ts'
import { openRecords } from '../../src/records/index.ts'
import { after } from '../gateway/support.ts'
import { wireglotIn } from './support.ts'

afterEach(() => {
  vi.doUnmock('kysely')
})

const newFolder = () => mkdtemp(join(tmpdir(), 'wireglot-'))

/** The lines of `wireglot serve` in a folder. */
async function started(folder: string, options: Partial<ServeOptions> = {}): Promise<string> {
  const lines: string[] = []
  const { close } = await serve(
    { host: '127.0.0.1', port: 0, log: 'off', records: true, ...options },
    { out: line => lines.push(line), err() {}, folder, environment: {} },
  )
  after(close)
  return lines.join('\n')
}

async function folderWithKey(): Promise<string> {
  const folder = await newFolder()
  const records = await openRecords({ file: join(folder, 'wireglot.db') })
  await records.keys.create('alice', {})
  await records.close()
  return folder
}

/** Overwrites all but the beginning, as a fault of the disk does. */
async function damage(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (name !== 'wireglot.db') await rm(join(folder, name))
  const file = join(folder, 'wireglot.db')
  const { size } = await stat(file)
  await writeFile(file, 'SQLite format 3\0'.padEnd(size, 'x'))
}

describe('wireglot serve does not start without the keys of a database', () => {
  test.each<[what: string, breaking: (folder: string) => Promise<unknown>, reason: string]>([
    [
      'that is no database',
      folder => writeFile(join(folder, 'wireglot.db'), 'not a database'),
      'it is not a database',
    ],
    ['that is damaged', damage, 'cannot be used: it is '],
    [
      'that is a folder',
      async folder => {
        await rm(join(folder, 'wireglot.db'))
        await mkdir(join(folder, 'wireglot.db'))
      },
      'it is a folder',
    ],
  ])('%s', async (_, breaking, reason) => {
    const folder = await folderWithKey()
    for (const name of await readdir(folder))
      if (/-(wal|shm)$/.test(name)) await rm(join(folder, name))
    await breaking(folder)
    await expect(started(folder)).rejects.toThrow(
      new RegExp(`^\\S+wireglot\\.db may have keys of clients, .*--no-records.*: .*${reason}`),
    )
    expect(await started(folder, { records: false })).toContain('records: off')
  })

  test('whose packages are missing', async () => {
    const folder = await folderWithKey()
    vi.doMock('kysely', () => {
      throw new Error('not installed')
    })
    await expect(started(folder)).rejects.toThrow('npm install kysely libsql')
  })
})

test('wireglot serve starts without records when packages are missing and there is no database', async () => {
  vi.doMock('kysely', () => {
    throw new Error('not installed')
  })
  const folder = await newFolder()
  await writeFile(
    join(folder, 'wireglot.config.json'),
    JSON.stringify({ channels: [{ name: 'demo', embedded: 'demo' }] }),
  )
  expect(await started(folder)).toContain(
    'records: off (records and keys of clients need the packages kysely and libsql',
  )
  expect(await readdir(folder)).toEqual(['wireglot.config.json'])
})

test('wireglot serve says that a database is new, and makes it for its owner alone', async () => {
  const folder = await newFolder()
  await writeFile(
    join(folder, 'wireglot.config.json'),
    JSON.stringify({ channels: [{ name: 'demo', embedded: 'demo' }] }),
  )
  expect(await started(folder)).toMatch(/^records: \S+wireglot\.db \(new\)$/m)
  const files = (await readdir(folder)).filter(name => name.startsWith('wireglot.db'))
  expect(files).toContain('wireglot.db-wal')
  for (const name of files) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
})

test('wireglot keys says in one sentence why a file is no database', async () => {
  const folder = await newFolder()
  await writeFile(join(folder, 'wireglot.db'), 'not a database')
  const { code, err } = await wireglotIn({ folder }, ['keys', 'list'])
  expect(code).toBe(2)
  expect(err.trim()).toMatch(/the database wireglot\.db cannot be used: it is not a database$/)
})
