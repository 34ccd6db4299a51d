import { expect, test } from 'vitest'
import { wireglot } from './support.ts'

test('wireglot client-config prints settings ready to paste, or as JSON', async () => {
  const received = [
    'client-config',
    'claude-code',
    '--base',
    'https://gw.example/v1',
    '--model',
    'sonnet',
    '--key-env',
    'TEAM_KEY',
  ]
  const { code, out } = await wireglot(received)
  expect(code).toBe(0)
  expect(out).toContain("export ANTHROPIC_BASE_URL='https://gw.example'\n")
  expect(out).toContain('export ANTHROPIC_AUTH_TOKEN="$TEAM_KEY"')
  expect(out).toContain("export ANTHROPIC_DEFAULT_HAIKU_MODEL='sonnet'\n")
  expect(JSON.parse((await wireglot([...received, '--json'])).out)).toMatchObject({
    client: 'claude-code',
    model: 'sonnet',
    keyEnv: 'TEAM_KEY',
  })
})

test('wireglot client-config names another model for background tasks with --small-model', async () => {
  const { out } = await wireglot([
    'client-config',
    'claude-code',
    ...['--base', 'https://gw.example', '--model', 'sonnet', '--small-model', 'haiku'],
  ])
  expect(out).toContain("export ANTHROPIC_MODEL='sonnet'\n")
  expect(out).toContain("export ANTHROPIC_DEFAULT_HAIKU_MODEL='haiku'\n")
})

test('wireglot client-config writes the context window of a model that it knows, or that is given', async () => {
  const printed = async (...args: string[]) => {
    const { code, out, err } = await wireglot([
      'client-config',
      'codex',
      ...['--base', 'https://gw.example', ...args],
    ])
    return { code, err, context: /^model_context_window = (\d+)$/m.exec(out)?.[1] }
  }
  expect(await printed('--model', 'deepseek-v4-flash')).toMatchObject({ context: '1048576' })
  expect(await printed('--model', 'mine')).toMatchObject({ context: undefined })
  expect(await printed('--model', 'mine', '--context', '32000')).toMatchObject({ context: '32000' })
  expect(await printed('--context', '32000')).toMatchObject({ context: '32000' })
  const refused = await printed('--model', 'mine', '--context', 'many')
  expect(refused.code).toBe(2)
  expect(refused.err).toContain('--context')
})

test('an unknown client is a usage error that lists the known ones', async () => {
  const { code, err } = await wireglot(['client-config', 'code', '--base', 'https://gw.example'])
  expect(code).toBe(2)
  expect(err).toContain('claude-code, codex, gemini-cli')
  expect(err).toContain('did you mean codex?')
})

test('wireglot address knows how each client uses its address', async () => {
  const { code, out } = await wireglot([
    'address',
    'https://gw.example/v1',
    '--client',
    'claude-code',
  ])
  expect(code).toBe(1)
  expect(out).toMatch(/exactly one \/v1.* use https:\/\/gw\.example\n/)
  expect((await wireglot(['address', 'https://gw.example/v1', '--client', 'codex'])).code).toBe(0)
})
