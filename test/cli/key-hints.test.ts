import { describe, expect, test } from 'vitest'
import { keyHints } from '../../src/cli/key-hints.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'

const environment = { OPENAI_API_KEY: 'sk-0123456789' }

const withKey = (apiKey: string): GatewayConfig => ({
  channels: [
    { name: 'demo', embedded: 'demo' },
    { vendor: 'openai', apiKey },
  ],
})

describe('a key of the configuration', () => {
  test.each([
    ['the name of a set variable', 'OPENAI_API_KEY', 'OPENAI_API_KEY'],
    ['$NAME', '$OTHER_KEY', 'OTHER_KEY'],
    ['a name in braces', '$'.concat('{OTHER_KEY}'), 'OTHER_KEY'],
    ['os.environ/NAME', 'os.environ/OTHER_KEY', 'OTHER_KEY'],
    ['{env:NAME}', '{env:OTHER_KEY}', 'OTHER_KEY'],
    ['a $ before something else', '$(pass show key)', 'NAME'],
  ])('gets a hint when it is %s', (_, apiKey, variable) => {
    expect(keyHints(withKey(apiKey), environment)).toEqual([
      `channels[1].apiKey is taken as the key itself. For an environment variable, write "env:${variable}".`,
    ])
  })

  test.each([
    ['a reference', 'env:OPENAI_API_KEY'],
    ['a key', 'sk-0123456789'],
    ['a word that names no variable', 'OTHER_KEY'],
  ])('gets none when it is %s', (_, apiKey) => {
    expect(keyHints(withKey(apiKey), environment)).toEqual([])
  })

  test('gets a hint when it is one of the clients', () => {
    const config = { ...withKey('sk-1'), keys: [{ name: 'me', key: '$MINE' }] }
    expect(keyHints(config, {})).toEqual([
      'keys[0].key is taken as the key itself. For an environment variable, write "env:MINE".',
    ])
  })
})

test.each([[undefined], [5], [{}], [{ channels: 5, keys: [null, 3] }]])(
  '%j gets no hint, but the error of the gateway',
  config => {
    expect(keyHints(config as unknown as GatewayConfig, {})).toEqual([])
  },
)
