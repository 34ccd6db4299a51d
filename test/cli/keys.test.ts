import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { after, paths, post, requests } from '../gateway/support.ts'
import { sampled } from '../support/sampled.ts'
import { wireglot, wireglotIn } from './support.ts'

const adminKey = 'admin-key-0123456789'

/** A gateway with the demo model, and the options that lead `wireglot keys` to its keys. */
async function places() {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const file = join(folder, 'keys.db')
  const config = {
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: 'demo', channels: [{ name: 'demo' }] }],
    records: { file },
    adminKey,
  }
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const { url, close } = await serve(
    { host: '127.0.0.1', port: 0, log: 'off' },
    { out() {}, err() {}, folder, environment: {} },
  )
  after(close)
  return { url, 'the database': ['--database', file], 'a running gateway': ['--url', url] }
}

describe.each(sampled(['a running gateway', 'the database'] as const))(
  'wireglot keys with %s',
  place => {
    test('creates, lists, rotates, disables and deletes a key that the gateway accepts', async () => {
      const { url, [place]: at } = await places()
      const run = (...args: string[]) =>
        wireglot(['keys', ...args, ...at], '', { WIREGLOT_ADMIN_KEY: adminKey })
      const ask = async (key: string) => {
        const sent = post({ ...requests.messages, model: 'demo' })
        return (
          await fetch(url + paths.messages, {
            ...sent,
            headers: { ...sent.headers, 'x-api-key': key },
          })
        ).status
      }
      const created = await run(
        'create',
        'alice',
        '--models',
        'demo,gpt-*',
        '--tokens-per-day',
        '1000',
        '--expires',
        '2100-01-01',
      )
      expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^wg-\S+\n$/) })
      const secret = created.out.trim()
      expect(created.err).toContain(
        '"models":["demo","gpt-*"],"tokensPerDay":1000,"expiresAt":"2100-01-01T00:00:00.000Z"',
      )
      expect(await ask(secret)).toBe(200)
      const listed = await run('list')
      expect(listed.out).toContain('alice')
      expect(listed.out).not.toContain(secret)
      const rotated = await run('rotate', 'alice')
      expect(rotated.err).toContain('alice')
      expect(await ask(rotated.out.trim())).toBe(200)
      expect((await run('disable', 'alice')).out).toContain('disabled')
      expect(await run('delete', 'alice')).toMatchObject({ code: 0, out: 'deleted alice\n' })
      expect((await run('list')).out).toBe('')
      const again = await run('delete', 'alice')
      expect(again.code).toBe(2)
      expect(again.err).toContain('there is no key "alice"')
    }, 60_000)
  },
)

describe('wireglot keys create warns about names that the configuration of the folder does not have', () => {
  const models = [
    { id: 'gpt-5-mini', aliases: ['small'], channels: [{ name: 'demo' }] },
    { id: 'claude-*', channels: [{ name: 'demo' }] },
  ]
  test.each<[args: string, config: object, warnings: string[]]>([
    ['--models gpt-5*,small,claude-opus --group team', { models, groups: { team: {} } }, []],
    [
      '--models gpt-5-mimi,demo --group teem',
      { models, groups: { team: {} } },
      [
        'has no group teem; did you mean team?',
        'has no model gpt-5-mimi; did you mean gpt-5-mini?',
        'has no model demo',
      ],
    ],
    ['--models any --group team', {}, ['has no group team']],
    ['', { models }, []],
  ])('%s', async (args, config, warnings) => {
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
    const words = args.split(' ').filter(Boolean)
    const { code, out, err } = await wireglotIn({ folder }, ['keys', 'create', 'bob', ...words])
    expect(code).toBe(0)
    expect(out).toMatch(/^wg-\S+\n$/)
    const lines = err.split('\n').filter(line => line.startsWith('wireglot: '))
    expect(lines).toEqual(warnings.map(text => `wireglot: wireglot.config.json ${text}`))
  })

  test('or says that it cannot be read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    await writeFile(join(folder, 'wireglot.config.json'), '{"models":')
    const args = ['keys', 'create', 'bob', '--models', 'demo']
    const { code, err } = await wireglotIn({ folder }, args)
    expect(code).toBe(0)
    expect(err).toContain('wireglot: the names of this key were not checked: ')
  })
})

test('wireglot keys and usage take the configuration that serve takes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const config = join(folder, 'team.json')
  const file = join(folder, 'team.db')
  await writeFile(config, JSON.stringify({ records: { file }, newKeys: { tokensPerDay: 7 } }))
  const run = (...args: string[]) => wireglot([...args, '--config', config])
  const created = await run('keys', 'create', 'ann')
  expect(created).toMatchObject({ code: 0, err: expect.stringContaining('"tokensPerDay":7') })
  expect((await run('keys', 'list')).out).toContain('ann')
  expect((await wireglot(['keys', 'list', '--database', file])).out).toContain('ann')
  expect(await run('usage')).toMatchObject({ code: 0, err: '' })
  const missing = await wireglot(['keys', 'list', '--config', join(folder, 'none.json')])
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('no such file') })
  const both = await wireglot(['keys', 'list', '--config', config, '--url', 'http://127.0.0.1:9'])
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining('--config or --url') })
})

test('wireglot keys create says of the first key when it is asked for', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'keys.db')
  const create = (name: string) => wireglot(['keys', 'create', name, '--database', file])
  expect((await create('first')).err).toContain('asks for keys once it is started again')
  expect((await create('second')).err).not.toContain('started again')
})

test('wireglot keys create, rotate and list print JSON with --json', async () => {
  const { 'the database': at } = await places()
  const run = async (...args: string[]) => {
    const { code, out, err } = await wireglot(['keys', ...args, '--json', ...at])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return JSON.parse(out) as unknown
  }
  const facts = { name: 'bob', disabled: false, tokensPerDay: 50 }
  const secret = expect.stringMatching(/^wg-\S+$/)
  expect(await run('create', 'bob', '--tokens-per-day', '50')).toMatchObject({ ...facts, secret })
  const rotated = (await run('rotate', 'bob')) as { secret: string }
  expect(rotated).toMatchObject({ ...facts, secret })
  const [listed, ...others] = (await run('list')) as object[]
  expect(listed).toMatchObject(facts)
  expect(listed).not.toHaveProperty('secret')
  expect(others).toEqual([])
}, 60_000)

describe('wireglot keys refuses', () => {
  const cases: [what: string, args: string[], env: Record<string, string>, message: string][] = [
    ['a number that is none', ['create', 'a', '--tokens-per-day', 'many'], {}, 'Expected a number'],
    [
      'a part of a token',
      ['create', 'a', '--tokens-per-day', '1.5'],
      {},
      'Expected a whole number',
    ],
    ['a time that is none', ['create', 'a', '--expires', 'soon'], {}, 'Expected a time'],
    [
      'two places',
      ['list', '--url', 'http://127.0.0.1:1', '--database', 'x'],
      {},
      'either --database or --url',
    ],
    [
      'a gateway without an admin key',
      ['list', '--url', 'http://127.0.0.1:1'],
      { WIREGLOT_ADMIN_KEY: '' },
      'the environment has no WIREGLOT_ADMIN_KEY',
    ],
    [
      'an admin key that was cut',
      ['list', '--url', 'http://127.0.0.1:1'],
      { WIREGLOT_ADMIN_KEY: 'admin-key…' },
      'the character “…” at position 10; keys are ASCII',
    ],
    [
      'a gateway that is not there',
      ['list', '--url', 'http://127.0.0.1:1'],
      { WIREGLOT_ADMIN_KEY: adminKey },
      'cannot be reached',
    ],
  ]

  test.each(sampled(cases))('%s', async (_, args, env, message) => {
    const { code, err } = await wireglot(['keys', ...args], '', env)
    expect(code).not.toBe(0)
    expect(err).toContain(message)
  })

  test('a wrong admin key', async () => {
    const { url } = await places()
    const { code, err } = await wireglot(['keys', 'list', '--url', url], '', {
      WIREGLOT_ADMIN_KEY: 'wrong-key-0123456789',
    })
    expect(code).toBe(2)
    expect(err).toContain('status 401')
    expect(err).not.toContain('wrong-key')
  })
})
