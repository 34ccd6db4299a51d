import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type ClientName, clientConfig, clientConfigText, clientNames } from '../../src/clients.ts'

const run = promisify(execFile)
const base = 'http://127.0.0.1:4000'
const keyEnv = 'TEAM_KEY'

const configOf = (client: ClientName) => clientConfig(client, { base, model: 'demo', keyEnv })

/** The words of `curl` end up in a variable, and the other programs do nothing. */
const programs = `claude() { :; }\ngemini() { :; }\naider() { :; }\ncline() { :; }\nzed() { :; }\ncurl() { printf -v CURL '%s\\n' "$CURL" "$@"; export CURL; }\n`

/**
 * The variables that Bash exports after each shell snippet, pasted in their order into an empty
 * environment.
 */
async function pasted(client: ClientName, before = ''): Promise<Map<string, string>> {
  const text = clientConfigText(configOf(client))
  const { snippets } = configOf(client)
  const shell = snippets.filter(({ language }) => language === 'sh').map(one => one.text)
  for (const one of shell) expect(text).toContain(one)
  const script = [programs, before, ...shell, 'env -0'].join('\n')
  const { stdout } = await run('env', ['-i', `PATH=${process.env['PATH']}`, 'bash', '-ec', script])
  return new Map(
    stdout.split('\0').map(line => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)]
    }),
  )
}

describe('the settings, pasted into an empty shell', () => {
  test.each(clientNames.filter(name => name !== 'gemini-cli' && name !== 'claude-code'))(
    'set the key that the snippets of %s read',
    async client => {
      const { snippets } = configOf(client)
      const [first, ...others] = snippets.filter(({ text }) => text.includes(keyEnv))
      expect(first?.language === 'sh' || first?.language === 'text').toBe(true)
      expect(others.length).toBeGreaterThan(0)
      expect((await pasted(client)).get(keyEnv)).toBe('any-text')
    },
  )

  test('start Claude Code with a token, and no key of another provider', async () => {
    const env = await pasted('claude-code', 'export ANTHROPIC_API_KEY=x CLAUDE_CODE_USE_BEDROCK=1')
    expect(Object.fromEntries(env)).toMatchObject({
      TEAM_KEY: 'any-text',
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_MODEL: 'demo',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'demo',
      ANTHROPIC_AUTH_TOKEN: 'any-text',
    })
    expect(env.has('ANTHROPIC_API_KEY')).toBe(false)
    expect(env.has('CLAUDE_CODE_USE_BEDROCK')).toBe(false)
  })

  test('start Gemini CLI with a key', async () => {
    expect(Object.fromEntries(await pasted('gemini-cli'))).toMatchObject({
      TEAM_KEY: 'any-text',
      GEMINI_API_KEY: 'any-text',
      GOOGLE_GEMINI_BASE_URL: base,
    })
  })

  test('call curl with the key in a header', async () => {
    expect((await pasted('curl')).get('CURL')).toContain('any-text')
  })

  test.each(clientNames)('leave a key that is set: %s', async client => {
    expect((await pasted(client, `export ${keyEnv}=mine`)).get(keyEnv)).toBe('mine')
  })
})

test.each(clientNames)('the shell snippets of %s have no comment behind a command', client => {
  // Zsh would take its words for arguments.
  for (const { language, text } of configOf(client).snippets)
    if (language === 'sh') expect(text).not.toMatch(/^[^#'\n]+ #/m)
})

test('the first line says what the key is for', () => {
  expect(clientConfigText(configOf('codex')).split('\n')[0]).toBe(
    '# Settings of Codex for this gateway. They set TEAM_KEY to a placeholder, unless it has a value: a gateway with keys needs one of them.',
  )
})
