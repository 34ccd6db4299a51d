import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { openRecords } from '../../src/records/index.ts'
import { vendors } from '../../src/vendors/index.ts'
import { after, listen, mounted } from '../gateway/support.ts'
import { sampled } from '../support/sampled.ts'
import { start, wireglotIn } from './support.ts'

/** What a fake client was started with, and what the address in its settings responds. */
type Seen = {
  args: string[]
  env: Record<string, string | undefined>
  /** The files that its settings name. */
  files: Record<string, string>
  /** The channels of the gateway. */
  channels?: string[]
  /** The status of a listing with its key, and of one with another key. */
  status: number | string
  otherStatus: number | string
  /** The id of the only model that it lists. */
  models: string[]
  input: string
}

/**
 * A program that writes what it was started with to the file SEEN, and ends as EXIT says: a code, a
 * signal, or `wait` for a signal.
 */
const fakeClient = `#!/usr/bin/env node
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { env } = process
const args = process.argv.slice(2)
const inSettings = /"baseURL":"([^"]+)"/.exec(env.OPENCODE_CONFIG_CONTENT || '')
const inFlags = /base_url="([^"]+)"/.exec(args.join(' '))
const address = inSettings?.[1] || inFlags?.[1] || env.ANTHROPIC_BASE_URL || env.GOOGLE_GEMINI_BASE_URL
const root = address.replace(/\\/v1$/, '')
const ask = key =>
  fetch(root + '/v1/models', { headers: { authorization: 'Bearer ' + key } }).catch(() => undefined)
const files = {}
for (const file of [...args, env.GEMINI_CLI_HOME + '/.gemini/settings.json', env.GEMINI_CLI_HOME + '/.gemini/GEMINI.md'])
  if (existsSync(file)) files[file] = readFileSync(file, 'utf8')
process.on('SIGTERM', () => process.exit(40))
process.on('SIGINT', () => process.exit(41))
void (async () => {
  const ready = await fetch(root + '/ready').then(response => response.json()).catch(() => ({}))
  const channels = ready.channels?.map(({ name }) => name)
  // A vendor would be called for its models.
  const listed = env.ONLY_HEALTH ? undefined : await ask(env.WIREGLOT_KEY)
  const other = env.ONLY_HEALTH ? undefined : await ask('another-key')
  const body = listed?.status === 200 ? await listed.json() : { data: [] }
  let input = ''
  if (env.READ) for await (const chunk of process.stdin) input += chunk
  const seen = { args, env, files, input, channels, status: listed?.status ?? 'none', otherStatus: other?.status ?? 'none', models: body.data.map(({ id }) => id) }
  writeFileSync(env.SEEN, JSON.stringify(seen))
  if (env.PRINT) console.log(env.PRINT)
  if (/^SIG/.test(env.EXIT || '')) process.kill(process.pid, env.EXIT)
  else if (env.EXIT !== 'wait') process.exit(Number(env.EXIT || 0))
  setInterval(() => {}, 1000)
})()
`

const commands = ['claude', 'codex', 'gemini', 'opencode']
let folder = ''
let PATH = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wireglot-run-test-'))
  const bin = join(folder, 'bin')
  await mkdir(bin)
  for (const name of commands) await writeFile(join(bin, name), fakeClient, { mode: 0o755 })
  PATH = [bin, process.env['PATH']].join(delimiter)
})

/** A folder to start it in, with these files. */
async function projectWith(files: Record<string, string> = {}) {
  const project = await mkdtemp(join(folder, 'project-'))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(project, name, '..'), { recursive: true })
    await writeFile(join(project, name), text)
  }
  return project
}

type Wanted = {
  options?: Parameters<typeof run>[2]
  args?: string[]
  env?: Record<string, string>
  files?: Record<string, string>
}

/** Runs a client in a folder of its own. `left`: what it did not remove. */
async function ran(client: string, { options = {}, args = [], env = {}, files = {} }: Wanted = {}) {
  const project = await projectWith(files)
  const [seenFile, temporary] = [join(project, 'seen.json'), join(project, 'tmp')]
  await mkdir(temporary)
  vi.stubEnv('TMPDIR', temporary)
  after(() => vi.unstubAllEnvs())
  // The gateway reads the variables of its configuration from the process.
  for (const [name, value] of Object.entries(env))
    if (/^(?:MINE|WIREGLOT_KEY)$/.test(name)) vi.stubEnv(name, value)
  let err = ''
  const code = await run(client, args, options, {
    environment: { PATH, SEEN: seenFile, HOME: project, ...env },
    folder: project,
    err: text => {
      err += text
    },
    stdio: 'ignore',
  })
  const text = existsSync(seenFile) ? await readFile(seenFile, 'utf8') : '{}'
  return { code, err, project, seen: JSON.parse(text) as Seen, left: await readdir(temporary) }
}

const config = (more: object = {}) =>
  JSON.stringify({
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: 'only', channels: [{ name: 'demo' }] }],
    ...more,
  })

describe('wireglot run', () => {
  test.each([...commands, 'claude-code', 'gemini-cli'])(
    'starts %s with the demo model, a gateway of its own and a key of its own',
    async client => {
      const { code, err, seen, left } = await ran(client)
      expect({ code, err, left }).toEqual({ code: 0, err: '', left: [] })
      expect(seen).toMatchObject({ status: 200, otherStatus: 401, models: ['demo'] })
      expect(seen.env['WIREGLOT_KEY']).toMatch(/^run-.{20}/)
    },
  )

  test('gives Claude Code its settings in a file, which goes before the user’s own, and unsets what would win', async () => {
    const { seen } = await ran('claude', {
      options: { model: 'demo', smallModel: 'small' },
      env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_USE_BEDROCK: '1', ANTHROPIC_MODEL: 'mine' },
    })
    const { WIREGLOT_KEY, ANTHROPIC_BASE_URL } = seen.env
    const variables = {
      ANTHROPIC_BASE_URL,
      ANTHROPIC_MODEL: 'demo',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'small',
      ANTHROPIC_AUTH_TOKEN: WIREGLOT_KEY,
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: '200000',
      CLAUDE_CODE_AUTO_COMPACT_WINDOW: '200000',
    }
    expect(ANTHROPIC_BASE_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(seen.env).toMatchObject(variables)
    expect(seen.env).not.toHaveProperty('ANTHROPIC_API_KEY')
    expect(seen.env).not.toHaveProperty('CLAUDE_CODE_USE_BEDROCK')
    const [flag, file = ''] = seen.args
    expect(flag).toBe('--settings')
    expect(JSON.parse(seen.files[file] ?? '')).toEqual({ env: variables })
  })

  test('gives clients the context window of the model, known by its name or configured', async () => {
    const contextOf = async (model: string, files: Record<string, string> = {}) =>
      (await ran('claude', { options: { model }, files })).seen.env[
        'CLAUDE_CODE_MAX_CONTEXT_TOKENS'
      ]
    expect(await contextOf('deepseek-v4-flash')).toBe('1048576')
    const models = ['team', 'deepseek-v4-flash'].map(id => ({
      id,
      contextTokens: 64_000,
      channels: [{ name: 'demo' }],
    }))
    const files = { 'wireglot.config.json': config({ models }) }
    expect(await contextOf('team', files)).toBe('64000')
    expect(await contextOf('deepseek-v4-flash', files)).toBe('64000')
    expect(await contextOf('only', { 'wireglot.config.json': config() })).toBeUndefined()
  })

  test('gives Codex its settings as flags', async () => {
    const { seen } = await ran('codex', { options: { model: "it's" } })
    expect(seen.args).toEqual([
      '-c',
      'model="it\'s"',
      '-c',
      'model_provider="wireglot"',
      '-c',
      'model_providers.wireglot.name="wireglot"',
      '-c',
      expect.stringMatching(
        /^model_providers\.wireglot\.base_url="http:\/\/127\.0\.0\.1:\d+\/v1"$/,
      ),
      '-c',
      'model_providers.wireglot.env_key="WIREGLOT_KEY"',
      '-c',
      'model_providers.wireglot.wire_api="responses"',
    ])
  })

  test('adds to the settings of Gemini CLI in a copy, and shows it the files beside them', async () => {
    const own =
      '{ "ui": { "theme": "GitHub" }, /* mine */ "model": { "name": "x", "maxSessionTurns": 5 } }'
    const files = { '.gemini/settings.json': own, '.gemini/GEMINI.md': 'Be brief.' }
    const { seen, project } = await ran('gemini', { files, env: { GEMINI_MODEL: 'mine' } })
    expect(seen.env['GEMINI_API_KEY']).toBe(seen.env['WIREGLOT_KEY'])
    expect(seen.env).not.toHaveProperty('GEMINI_MODEL')
    const [settings = '', memory] = Object.values(seen.files)
    expect(JSON.parse(settings)).toEqual({
      ui: { theme: 'GitHub' },
      model: { name: 'demo', maxSessionTurns: 5 },
      security: { auth: { selectedType: 'gemini-api-key' } },
    })
    expect(memory).toBe('Be brief.')
    expect(await readFile(join(project, '.gemini/settings.json'), 'utf8')).toBe(own)
    expect(await readFile(join(project, '.gemini/GEMINI.md'), 'utf8')).toBe('Be brief.')
  })

  test('refuses settings of Gemini CLI that are not JSON', async () => {
    const files = { '.gemini/settings.json': '{ broken' }
    await expect(ran('gemini', { files })).rejects.toThrow(/settings\.json is not a JSON object$/)
  })

  test('gives opencode its settings in a variable', async () => {
    const { seen } = await ran('opencode', { options: { model: 'demo', smallModel: 'small' } })
    expect(JSON.parse(seen.env['OPENCODE_CONFIG_CONTENT'] ?? '')).toMatchObject({
      model: 'wireglot/demo',
      small_model: 'wireglot/small',
      provider: {
        wireglot: { options: { apiKey: '{env:WIREGLOT_KEY}' }, models: { demo: {}, small: {} } },
      },
    })
  })

  test('passes arguments, standard streams and the exit code on, and prints nothing itself', async () => {
    const folder = await projectWith()
    const env = { PATH, SEEN: join(folder, 'seen.json'), EXIT: '7', PRINT: 'printed', READ: '1' }
    const args = ['run', 'claude', '--', '-p', 'Say "hi"', '--', '--x']
    expect(await wireglotIn({ folder, env }, args, 'typed')).toEqual({
      code: 7,
      out: 'printed\n',
      err: '',
    })
    const seen = JSON.parse(await readFile(env.SEEN, 'utf8')) as Seen
    expect(seen.args.slice(2)).toEqual(['-p', 'Say "hi"', '--', '--x'])
    expect(seen.input).toBe('typed')
  })

  test('exits as a shell does when a signal ends the client', async () => {
    expect((await ran('claude', { env: { EXIT: 'SIGKILL' } })).code).toBe(137)
  })

  test.each(
    sampled([
      ['SIGTERM', 40],
      ['SIGINT', 41],
    ] as const),
  )('passes %s on, and ends with the client', async (signal, code) => {
    const project = await projectWith()
    const seenFile = join(project, 'seen.json')
    const env = { PATH, SEEN: seenFile, EXIT: 'wait' }
    const child = await start(['run', 'claude'], { folder: project, env })
    while (!existsSync(seenFile)) await new Promise(resolve => setTimeout(resolve, 25))
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill(signal)
    expect(await ended).toBe(code)
    const { env: given } = JSON.parse(await readFile(seenFile, 'utf8')) as Seen
    await expect(fetch(`${given['ANTHROPIC_BASE_URL']}/health`)).rejects.toThrow()
  })

  test('says how to install a client that is not on the PATH', async () => {
    const { code, err } = await ran('codex', { env: { PATH: await projectWith() } })
    expect(code).toBe(127)
    expect(err).toBe(
      'wireglot: there is no codex on the PATH. To install Codex: npm install -g @openai/codex\n',
    )
  })

  const refused: [what: string, args: string[], message: string][] = [
    ['an unknown client', ['claud'], 'did you mean claude?'],
    ['arguments of the client without --', ['claude', '-p', 'hi'], 'come after --'],
    ['two gateways', ['claude', '--base', 'http://x', '--vendor', 'ollama'], 'cannot be used with'],
    ['an unknown vendor', ['claude', '--vendor', 'deepsek'], 'did you mean deepseek?'],
    ['a client that is no program', ['curl'], 'Expected one of claude, claude-code, codex'],
    [
      'two configurations',
      ['claude', '--config', 'x', '--vendor', 'ollama'],
      'cannot be used with',
    ],
  ]
  test.each(sampled(refused))('refuses %s', async (_, args, message) => {
    const { code, out, err } = await wireglotIn({ env: { PATH } }, ['run', ...args])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
    expect(err.includes('come after --')).toBe(args.includes('-p'))
  })
})

describe('the gateway of wireglot run', () => {
  test('is that of the file of the folder', async () => {
    const { seen } = await ran('claude', { files: { 'wireglot.config.json': config() } })
    expect(seen.env['ANTHROPIC_MODEL']).toBe('only')
  })

  test('is that of --config when it is given', async () => {
    const other = join(await projectWith({ 'other.json': config() }), 'other.json')
    const files = { 'wireglot.config.json': '{ broken' }
    const { seen } = await ran('claude', { files, options: { config: other } })
    expect(seen.env['ANTHROPIC_MODEL']).toBe('only')
  })

  test('has the channel of --vendor when it is given, and needs its key', async () => {
    const files = { 'wireglot.config.json': '{ broken' }
    const options = { vendor: vendors.deepseek, model: 'deepseek-chat' }
    await expect(ran('claude', { files, options })).rejects.toThrow(/export DEEPSEEK_API_KEY=…/)
    vi.stubEnv('DEEPSEEK_API_KEY', 'sk-0123456789')
    const env = { DEEPSEEK_API_KEY: 'sk-0123456789', ONLY_HEALTH: '1' }
    const { code, seen } = await ran('claude', { files, options, env })
    expect(code).toBe(0)
    expect(seen.channels).toEqual(['deepseek'])
    expect(seen.env['ANTHROPIC_MODEL']).toBe('deepseek-chat')
  })

  test('makes the user choose when it has several models', async () => {
    const models = ['fast', 'deep'].map(id => ({ id, channels: [{ name: 'demo' }] }))
    const files = { 'wireglot.config.json': config({ models }) }
    await expect(ran('claude', { files })).rejects.toThrow(
      /^choose a model with --model: fast, deep$/,
    )
  })

  test('knows the client by WIREGLOT_KEY when that is a key of the configuration', async () => {
    const { seen } = await ran('claude', {
      files: {
        'wireglot.config.json': config({ keys: [{ name: 'me', key: 'env:WIREGLOT_KEY' }] }),
      },
      env: { WIREGLOT_KEY: 'key-of-the-user' },
    })
    expect(seen).toMatchObject({ status: 200, otherStatus: 401 })
    expect(seen.env['ANTHROPIC_AUTH_TOKEN']).toBe('key-of-the-user')
  })

  test('knows the client by WIREGLOT_KEY when that is a key of the records', async () => {
    const database = join(await projectWith(), 'keys.db')
    const records = await openRecords({ file: database })
    const { secret } = await records.keys.create('ann', {})
    await records.close()
    const { seen } = await ran('claude', {
      files: { 'wireglot.config.json': config({ records: { file: database } }) },
      env: { WIREGLOT_KEY: secret },
    })
    expect(seen.status).toBe(200)
    expect(seen.env['ANTHROPIC_AUTH_TOKEN']).toBe(secret)
  })

  test.each<[what: string, more: object]>([
    ['no keys', {}],
    ['other keys', { keys: [{ name: 'me', key: 'key-of-another' }] }],
  ])('accepts the client with %s and a WIREGLOT_KEY of something else', async (_, more) => {
    const { seen } = await ran('claude', {
      files: { 'wireglot.config.json': config(more) },
      env: { WIREGLOT_KEY: 'nonsense …' },
    })
    expect(seen).toMatchObject({ status: 200, otherStatus: 401 })
    expect(seen.env['ANTHROPIC_AUTH_TOKEN']).toMatch(/^run-/)
  })

  test('accepts every key when the configuration says so', async () => {
    const files = { 'wireglot.config.json': config({ auth: 'none' }) }
    expect((await ran('claude', { files })).seen).toMatchObject({ status: 200, otherStatus: 200 })
  })

  test('leaves the database, the Redis and the admin key of the project alone', async () => {
    const { code, err, project } = await ran('claude', {
      env: {
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
        REDIS_URL: 'redis://127.0.0.1:1',
        WIREGLOT_ADMIN_KEY: 'short',
      },
    })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(existsSync(join(project, 'wireglot.db'))).toBe(false)
  })

  test('is not called through a proxy of the network', async () => {
    const env = { HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'intranet.example' }
    expect((await ran('claude', { env })).seen.env['NO_PROXY']).toBe('intranet.example,127.0.0.1')
    expect((await ran('claude')).seen.env).not.toHaveProperty('NO_PROXY')
  })

  test('prints the hints of its start as text', async () => {
    const channels = [
      { name: 'demo', embedded: 'demo' },
      { vendor: 'openai', apiKey: '$OTHER_KEY' },
    ]
    const files = { 'wireglot.config.json': config({ channels }) }
    const { code, err } = await ran('claude', { files })
    expect(code).toBe(0)
    expect(err).toMatch(/^wireglot: channels\[1\]\.apiKey is taken .*"env:OTHER_KEY"\.\n$/)
  })
})

describe('wireglot run --base', () => {
  const keyed = async () =>
    listen(
      mounted({
        keys: [{ name: 'me', key: 'key-of-the-user' }],
        channels: [{ name: 'demo', embedded: 'demo' }],
        models: [{ id: 'running', channels: [{ name: 'demo' }] }],
      }),
    )

  test('uses a running gateway, with the key of WIREGLOT_KEY and the model that it lists', async () => {
    const base = await keyed()
    const { seen } = await ran('claude', {
      options: { base: `${base}/v1` },
      env: { WIREGLOT_KEY: 'key-of-the-user' },
    })
    expect(seen).toMatchObject({ status: 200, otherStatus: 401 })
    expect(seen.env).toMatchObject({ ANTHROPIC_BASE_URL: base, ANTHROPIC_MODEL: 'running' })
  })

  test('sends any text when there is no key', async () => {
    const base = await listen(mounted({ channels: [{ name: 'demo', embedded: 'demo' }] }))
    const { seen } = await ran('claude', { options: { base, model: 'demo' } })
    expect(seen.env['ANTHROPIC_AUTH_TOKEN']).toBe('any-text')
  })

  test.each([
    ['another', /the key was not accepted/],
    [
      'wg-B8oW…',
      /^WIREGLOT_KEY: the key contains the character “…” at position 8; keys are ASCII. Copy it again.$/,
    ],
  ])('says what is wrong with the key %s', async (key, message) => {
    const options = { base: await keyed() }
    await expect(ran('claude', { options, env: { WIREGLOT_KEY: key } })).rejects.toThrow(message)
  })
})
