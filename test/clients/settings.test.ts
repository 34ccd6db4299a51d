import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  type ClientName,
  checkAddress,
  clientConfig,
  clientConfigText,
  clientNames,
} from '../../src/clients.ts'
import { protocolNames } from '../../src/protocols/index.ts'

const all = clientNames.flatMap(client =>
  clientConfig(client, {
    base: 'https://gw.example/v1',
    model: 'sonnet',
    models: ['sonnet', 'opus'],
    keyEnv: 'TEAM_KEY',
  }).snippets.map(snippet => [`${client}: ${snippet.title}`, snippet] as const),
)

describe('the context window of a model', () => {
  const limits = { small: { contextTokens: 32_000, maxOutputTokens: 4000 } }
  const textOf = (client: ClientName, model: string) =>
    clientConfig(client, { base: 'https://gw.example', model, limits })
      .snippets.map(({ text }) => text)
      .join('\n')

  test.each([
    ['claude-code', "export CLAUDE_CODE_AUTO_COMPACT_WINDOW='32000'"],
    ['claude-code', '"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32000"'],
    ['codex', 'model_context_window = 32000'],
    ['opencode', /"limit": \{\s*"context": 32000,\s*"output": 4000\s*\}/],
    ['zed', '"max_tokens": 32000'],
  ] as const)('is in the settings of %s, where it is known: %s', (client, expected) => {
    expect(textOf(client, 'small')).toMatch(expected)
    expect(textOf(client, 'other')).not.toMatch(expected)
  })
})

const isOfKey = ({ title }: { title: string }) => title.startsWith('the key')

describe.each(all.filter(([, snippet]) => !isOfKey(snippet)))('%s', (_, snippet) => {
  const { text, address, language, protocol } = snippet
  test('has the model, the address and the name of the variable', () => {
    if (!text.includes('WIREGLOT_API_KEY')) expect(text).toContain('sonnet')
    expect(text).not.toContain('/v1/v1')
    expect(checkAddress(address).faults.filter(({ rule }) => rule !== 'endpoint-as-base')).toEqual(
      [],
    )
    // Gemini CLI's own settings stand beside the environment that holds both; those of Zed beside
    // one with the key.
    if (!/selectedType|openai_compatible/.test(text)) expect(text).toContain('TEAM_KEY')
    if (!text.includes('selectedType') && language !== 'sh') expect(text).toContain(address)
    expect(address.startsWith('https://gw.example')).toBe(true)
    expect(protocol).toBeTypeOf('string')
  })

  test.runIf(language === 'json')('is JSON', () => {
    expect(() => JSON.parse(text) as unknown).not.toThrow()
  })
})

test.each([
  ['claude-code', 'https://gw.example'],
  ['codex', 'https://gw.example/v1'],
  ['gemini-cli', 'https://gw.example'],
  ['opencode', 'https://gw.example/v1'],
  ['aider', 'https://gw.example/v1'],
  ['cline', 'https://gw.example/v1'],
  ['zed', 'https://gw.example/v1'],
  ['openai-sdk', 'https://gw.example/v1'],
  ['anthropic-sdk', 'https://gw.example'],
  ['genai-sdk', 'https://gw.example'],
  ['ai-sdk', 'https://gw.example/v1'],
  ['langchain', 'https://gw.example/v1'],
  ['litellm', 'https://gw.example/v1'],
  ['openai-compatible', 'https://gw.example/v1'],
] as const)('%s gets the address %s for any form of the base', (client, address) => {
  for (const base of [
    'https://gw.example',
    'https://gw.example/',
    'https://gw.example/v1',
    'https://gw.example/v1/responses',
  ])
    expect(clientConfig(client, { base }).snippets[0]?.address).toBe(address)
})

test('writes the settings of Codex into one file', () => {
  const { snippets } = clientConfig('codex', { base: 'https://gw.example' })
  expect(snippets.filter(({ language }) => language === 'toml')).toHaveLength(1)
})

test.each(protocolNames)('has a client with settings for %s', protocol => {
  expect(all.filter(([, snippet]) => snippet.protocol === protocol)).not.toEqual([])
})

describe('settings', () => {
  test('list all models, and the default one, when the client can choose', () => {
    const { snippets } = clientConfig('opencode', {
      base: 'https://gw.example',
      models: ['sonnet', 'opus'],
      smallModel: 'haiku',
    })
    const settings = snippets.find(({ language }) => language === 'json')
    expect(JSON.parse(settings?.text ?? '')).toMatchObject({
      model: 'wireglot/sonnet',
      small_model: 'wireglot/haiku',
      provider: { wireglot: { models: { sonnet: {}, opus: {}, haiku: {} } } },
    })
  })

  test('contain the placeholder MODEL when no model is given', () => {
    expect(clientConfigText(clientConfig('codex', { base: 'https://gw.example' }))).toContain(
      'model = "MODEL"',
    )
  })

  test.each([`it's`, 'a"b', 'a\\b', 'a$(touch found)b', "a'`touch found`'b", 'a\nb'])(
    'hold a model called %j as a value, never as code',
    async model => {
      const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
      for (const client of clientNames)
        for (const { language, text } of clientConfig(client, { base: 'https://gw.example', model })
          .snippets) {
          if (language === 'json')
            expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(model).slice(1, -1))
          if (language === 'sh')
            await promisify(execFile)(
              '/bin/sh',
              [
                '-ec',
                `claude() { :; }\ngemini() { :; }\naider() { :; }\ncline() { :; }\nzed() { :; }\ncurl() { :; }\n${text}`,
              ],
              { cwd: folder },
            )
        }
      expect(await readdir(folder)).toEqual([])
      await rm(folder, { recursive: true })
    },
  )

  test.each([
    [
      'a variable that no environment has',
      () => clientConfig('codex', { base: 'https://gw.example', keyEnv: 'A-B; rm' }),
      /environment variable/,
    ],
    [
      'a base that is no URL',
      () => clientConfig('codex', { base: 'gw.example' }),
      /begins with https/,
    ],
    [
      'an unknown client',
      () => clientConfig('telnet' as 'codex', { base: 'https://gw.example' }),
      /no client "telnet"; there are claude-code, codex/,
    ],
  ])('are refused for %s', (_, ask, message) => {
    expect(ask).toThrow(message)
  })

  test('print each snippet with the file it belongs to', () => {
    const text = clientConfigText(
      clientConfig('codex', { base: 'https://gw.example', model: 'sonnet' }),
    )
    expect(text).toContain('~/.codex/config.toml')
    expect(text).toContain('base_url = "https://gw.example/v1"')
  })
})
