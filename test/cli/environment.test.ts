import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { vendorConfig } from '../../src/cli/environment.ts'
import { start, wireglotIn } from './support.ts'

describe('--env-file', () => {
  /** What `serve` prints until it listens. */
  async function served(args: string[], folder: string, env: Record<string, string>) {
    const child = await start(['serve', '--port', '0', ...args], { folder, env })
    let out = ''
    for await (const chunk of child.stdout ?? []) {
      out += chunk
      if (out.includes('listening on')) child.kill()
    }
    return out
  }

  const config = JSON.stringify({
    keys: [{ name: 'me', key: 'env:MINE' }],
    channels: [{ name: 'demo', embedded: 'demo' }],
  })

  async function folderWith(envFile: string) {
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    await writeFile(join(folder, '.env'), envFile)
    await writeFile(join(folder, 'wireglot.config.json'), config)
    return folder
  }

  test('sets the variables that the configuration names', async () => {
    const folder = await folderWith('MINE=key-of-the-file\n')
    expect(await served(['--env-file', '.env'], folder, {})).toContain('listening on')
  })

  test('is not read unless it is named', async () => {
    const folder = await folderWith('MINE=key-of-the-file\n')
    const { code, err } = await wireglotIn({ folder }, ['serve', '--port', '0'])
    expect(code).toBe(2)
    expect(err).toContain('expected the environment variable MINE to be set')
  })

  test('leaves variables that are set already', async () => {
    const folder = await folderWith('MINE=key with spaces\n')
    // The gateway refuses the key of the file.
    expect(await served(['--env-file', '.env'], folder, { MINE: 'key-0123456789' })).toContain(
      'listening on',
    )
  })

  test.each([[['serve']], [['run', 'claude']]])(
    'is refused by %j when there is no such file',
    async command => {
      const { code, err } = await wireglotIn({}, [...command, '--env-file', 'missing.env'])
      // Node 20 looks for this option too, and says so itself.
      expect([2, 9]).toContain(code)
      expect(err).toMatch(/missing\.env(?: cannot be read: no such file|: not found)\n$/)
    },
  )
})

test('serve warns at its start about a key that looks like the name of a variable', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const config = { channels: [{ vendor: 'openai', apiKey: 'OPENAI_API_KEY' }] }
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const child = await start(['serve', '--port', '0'], {
    folder,
    env: { OPENAI_API_KEY: 'sk-0123456789' },
  })
  let err = ''
  child.stderr?.on('data', chunk => {
    err += chunk
  })
  for await (const chunk of child.stdout ?? [])
    if (String(chunk).includes('listening on')) child.kill()
  expect(err).toContain('channels[0].apiKey is taken as the key itself')
  expect(err).toContain('env:OPENAI_API_KEY')
  expect(err).not.toContain('sk-0123456789')
})

describe('the configuration of one vendor', () => {
  test('has its channel, and names the variable of its key', () => {
    expect(vendorConfig('deepseek', { DEEPSEEK_API_KEY: 'sk-1' })).toEqual({
      channels: [{ vendor: 'deepseek', apiKey: 'env:DEEPSEEK_API_KEY' }],
    })
    expect(vendorConfig('ollama', {})).toEqual({ channels: [{ vendor: 'ollama' }] })
  })

  test.each([
    ['its key is not set', 'deepseek', /DeepSeek needs its key .* export DEEPSEEK_API_KEY=…/],
    ['its address has a name of the user', 'azure', /wireglot vendors azure/],
    ['it is unknown', 'deepsek', /there is no vendor deepsek/],
  ])('is refused when %s', (_, vendor, message) => {
    expect(() => vendorConfig(vendor, {})).toThrow(message)
  })
})

test('serve names the line where a module cannot be parsed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  await writeFile(join(folder, 'c.mjs'), 'export default {\n  channels: [\n    }]\n}\n')
  const { err, code } = await wireglotIn({ folder }, ['serve', '--config', 'c.mjs'])
  expect(err).toMatch(/^wireglot: c\.mjs cannot be loaded: line 3: /)
  expect(code).toBe(2)
})
