import { expect, test } from 'vitest'
import { summaryOf } from '../../src/cli/verify.ts'
import { listen, mounted } from '../gateway/support.ts'
import { wireglot } from './support.ts'

test.each([
  [['passed', 'warned'], '1 passed, 0 failed, 1 warning'],
  [['warned', 'failed', 'warned'], '0 passed, 1 failed, 2 warnings'],
])('the summary of %j is %j', (results, text) => {
  expect(summaryOf(results.map(result => ({ result })))).toBe(text)
})

async function started(): Promise<string> {
  const handler = mounted({
    keys: [{ name: 'a', key: 'client-secret' }],
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: 'm', channels: [{ name: 'demo' }] }],
  })
  return listen(handler)
}

test('wireglot verify prints a line for each check and exits with 0 when all hold', async () => {
  const { code, out, err } = await wireglot(
    ['verify', '--base', await started(), '--model', 'm', '--protocol', 'messages'],
    '',
    {
      WIREGLOT_KEY: 'client-secret',
    },
  )
  expect(err).toBe('')
  expect(out).toMatch(/ok {4}messages +streamed response +"Hello/)
  expect(out).toMatch(/\d+ passed, 0 failed, 0 warnings/)
  expect(code).toBe(0)
})

test('wireglot verify exits with 1 when a check fails, and prints the fix, also with --json', async () => {
  const received = [
    'verify',
    '--base',
    await started(),
    '--model',
    'm',
    '--key-env',
    'TEAM_KEY',
    '--protocol',
    'responses',
  ]
  const env = { TEAM_KEY: 'another-secret' }
  const { code, out } = await wireglot(received, '', env)
  expect(code).toBe(1)
  expect(out).toMatch(/FAIL +service +the key .*\n +→ The request reached the API/)
  expect(out).not.toContain('another-secret')
  const json = await wireglot([...received, '--json'], '', env)
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toMatchObject({
    ok: false,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: 'the key', result: 'failed' }),
    ]),
  })
})

test.each([['verify', '--model', 'm'], ['models']])(
  'wireglot %s names the character of a key that is not ASCII',
  async (...command) => {
    const received = [...command, '--base', await started()]
    const { code, out, err } = await wireglot(received, '', { WIREGLOT_KEY: 'wg-B8oW-0123456789…' })
    expect(code).not.toBe(0)
    expect(out + err).toContain('the key contains the character “…” at position 19; keys are ASCII')
    expect(out + err).toContain('Copy it again.')
    expect(out + err).not.toMatch(/ByteString|firewall|B8oW/)
  },
)

test('wireglot verify refuses a variable that is not set', async () => {
  const { code, err } = await wireglot([
    'verify',
    '--base',
    'http://127.0.0.1:9',
    '--model',
    'm',
    '--key-env',
    'NOT_SET_AT_ALL',
  ])
  expect(code).toBe(2)
  expect(err).toContain('NOT_SET_AT_ALL')
})

test('wireglot models prints the ids', async () => {
  const { code, out } = await wireglot(['models', '--base', await started()], '', {
    WIREGLOT_KEY: 'client-secret',
  })
  expect({ code, out }).toEqual({ code: 0, out: 'm\n' })
})
