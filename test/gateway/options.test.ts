import { describe, expect, test } from 'vitest'
import { ConfigError, parseConfig } from '../../src/gateway/options.ts'

const channel = { name: 'a', protocols: ['messages'], baseUrl: 'https://a.test' }
const model = { id: 'm', channels: [{ name: 'a' }] }

describe('an invalid configuration', () => {
  const faultsOf = (config: unknown, environment = {}) => {
    try {
      parseConfig(config, environment)
    } catch (error) {
      if (error instanceof ConfigError) return error.message.split('\n')
    }
    return []
  }

  test('reports all faults, one a line', () => {
    expect(
      faultsOf({
        channels: [{ ...channel, baseUrl: 'file:///etc', requestsPerMinute: -1 }],
        defaults: { retries: 'x' },
      }),
    ).toEqual([
      'configuration at channels[0].baseUrl: expected a URL like https://host (it is "file:///etc")',
      'configuration at channels[0].requestsPerMinute: expected a number >=0 (it is -1)',
      'configuration at defaults.retries: expected a number (it is "x")',
    ])
  })

  test('reports all environment variables that are not set, and the other faults beside them', () => {
    const config = {
      channels: [{ ...channel, baseUrl: 'env:BASE', apiKey: 'env:KEY' }],
      defaults: { retires: 2 },
    }
    expect(faultsOf(config, { KEY: '' })).toEqual([
      'configuration at channels[0].baseUrl: expected the environment variable BASE to be set',
      'configuration at channels[0].apiKey: expected the environment variable KEY to be set (it is empty)',
      expect.stringMatching(/^configuration at defaults: unknown key retires/),
    ])
  })

  test.each([
    ['baseURL', 'baseUrl'],
    ['base_url', 'baseUrl'],
    ['protocol', 'protocols'],
    ['apikey', 'apiKey'],
    ['heaedrs', 'headers'],
    ['timeoutss', 'timeouts'],
  ])('suggests a known key when %s is unknown', (key, meant) => {
    const { baseUrl: _, ...rest } = channel
    expect(faultsOf({ channels: [{ ...rest, [key]: 'x' }] })[0]).toMatch(
      new RegExp(`unknown key ${key}; there are .*; did you mean ${meant}\\?$`),
    )
  })

  test('are reported for an object that also has an unknown key', () => {
    const faults = faultsOf({
      channels: [{ ...channel, color: 'x', requestsPerMinute: 'many' }],
      defaults: { retires: 2, depthLimit: 'x' },
    })
    expect(
      faults.map(fault => fault.replace(/^configuration at (\S+): (\w+ \w+).*$/, '$1 $2')),
    ).toEqual([
      'channels[0] unknown key',
      'defaults unknown key',
      'channels[0].requestsPerMinute expected a',
      'defaults.depthLimit expected a',
    ])
  })

  test.each([
    [
      { channels: [{ ...channel, retries: 2 }] },
      'channels[0]: unknown key retries',
      'defaults.retries',
    ],
    [
      { channels: [channel], connect_ms: 5 },
      'configuration: unknown key connect_ms',
      'channels[].timeouts.connectMs',
    ],
    [{ channels: [channel], memory: true }, 'configuration: unknown key memory', 'store.memory'],
  ])('suggests the place of a key that belongs elsewhere', (config, place, meant) => {
    const [fault] = faultsOf(config)
    expect(fault).toContain(place)
    expect(fault).toMatch(/; did you mean .*\?$/)
    expect(fault?.split('did you mean ')[1]).toContain(meant)
  })

  test.each<[config: object, meant: string]>([
    [{ channels: [{ vendor: 'opnai', apiKey: 'x' }] }, 'openai'],
    [{ channels: [{ vendor: 'DeepSeek ', apiKey: 'x' }] }, 'deepseek'],
    [{ channels: [{ ...channel, protocols: ['message'] }] }, 'messages'],
    [{ channels: [{ ...channel, transport: 'web-socket' }] }, 'websocket'],
  ])('suggests the word of a list that was meant: %j', (config, meant) => {
    expect(faultsOf(config)[0]).toContain(`; did you mean ${meant}?`)
  })

  test('suggests no vendor where none is similar', () => {
    const [fault] = faultsOf({ channels: [{ vendor: 'zebra', apiKey: 'x' }] })
    expect(fault).toContain('expected one of')
    expect(fault).not.toContain('did you mean')
  })

  test('suggests nothing when an unknown key is like no other', () => {
    expect(faultsOf({ channels: [{ ...channel, color: 'x' }] })).toEqual([
      expect.stringMatching(/unknown key color; there are [\w, ]+$/),
    ])
  })
})

test('ignores `$schema`, which editors read', () => {
  expect(
    parseConfig({ $schema: 'https://a.test/schema.json', channels: [channel] }, {}).channels,
  ).toHaveLength(1)
})

describe('reports the path and the expected type for', () => {
  test.each<[what: string, config: unknown, path: string, message: RegExp]>([
    ['no object', 'x', '', /expected an object with auth, keys, .*, console$/],
    ['no channels', {}, 'channels', /expected a list of upstreams, such as \[\{ "name": "up", /],
    ['an empty list of channels', { channels: [] }, 'channels', /expected a list of upstreams/],
    [
      'a channel of a model by its name alone',
      { channels: [channel], models: [{ id: 'm', channels: ['a'] }] },
      'models[0].channels[0]',
      /expected an object with name, model,/,
    ],
    [
      'a model without channels',
      { channels: [channel], models: [{ id: 'm', channels: [] }] },
      'models[0].channels',
      /expected a list such as \[\{ "name": /,
    ],
    [
      'a model that does not say its channels',
      { channels: [channel], models: [{ id: 'm' }] },
      'models[0].channels',
      /expected a list such as \[\{ "name": /,
    ],
    ['an unknown key at the top', { channels: [channel], chanels: 1 }, '', /unknown key chanels/],
    [
      'an unknown key deep inside',
      { channels: [{ ...channel, timeouts: { idle: 1 } }] },
      'channels[0].timeouts',
      /unknown key idle/,
    ],
    [
      'an unknown protocol',
      { channels: [{ ...channel, protocols: ['telnet'] }] },
      'channels[0].protocols[0]',
      /expected one of/,
    ],
    [
      'no base address',
      { channels: [{ name: 'a', protocols: ['messages'] }] },
      'channels[0].baseUrl',
      /expected a URL/,
    ],
    [
      'a base address that is a file',
      { channels: [{ ...channel, baseUrl: 'file:///etc' }] },
      'channels[0].baseUrl',
      /expected a URL/,
    ],
    [
      'a full endpoint as base address',
      { channels: [{ ...channel, baseUrl: 'https://a.test/v1/messages' }] },
      'channels[0].baseUrl',
      /without \/messages/,
    ],
    [
      'a base address with a password',
      { channels: [{ ...channel, baseUrl: 'https://me:secret@a.test' }] },
      'channels[0].baseUrl',
      /^configuration at channels\[0\].baseUrl: expected a URL without user and password: say them in "headers", as "authorization"$/,
    ],
    [
      'an empty query behind the base address',
      { channels: [{ ...channel, baseUrl: 'https://a.test?' }] },
      'channels[0].baseUrl',
      /without query and fragment/,
    ],
    [
      'an empty fragment behind it',
      { channels: [{ ...channel, baseUrl: 'https://a.test/#' }] },
      'channels[0].baseUrl',
      /without query and fragment/,
    ],
    [
      'an endpoint with a model in it',
      {
        channels: [{ ...channel, baseUrl: 'https://a.test/v1beta/models/gemini:generateContent' }],
      },
      'channels[0].baseUrl',
      /without \/models\/gemini:generateContent/,
    ],
    [
      'the listing as base address',
      { channels: [{ ...channel, baseUrl: 'https://a.test/v1/models' }] },
      'channels[0].baseUrl',
      /without \/models/,
    ],
    [
      'two versions in a base address',
      { channels: [{ ...channel, baseUrl: 'https://a.test/v1/v1' }] },
      'channels[0].baseUrl',
      /one version/,
    ],
    [
      'an upstream’s key with its scheme',
      { channels: [{ ...channel, apiKey: 'Bearer secret' }] },
      'channels[0].apiKey',
      /without "Bearer"/,
    ],
    [
      'a header of the connection',
      { channels: [{ ...channel, headers: { 'Content-Length': '5' } }] },
      'channels[0].headers.Content-Length',
      /not of the connection/,
    ],
    [
      'a header twice',
      { channels: [{ ...channel, headers: { 'X-A': '1', 'x-a': '2' } }] },
      'channels[0].headers.x-a',
      /only once/,
    ],
    [
      'a star in the middle of an id',
      { channels: [channel], models: [{ ...model, id: 'a*b' }] },
      'models[0].id',
      /at its end/,
    ],
    [
      'a star in the middle of an alias',
      { channels: [channel], models: [{ ...model, aliases: ['*b'] }] },
      'models[0].aliases[0]',
      /at its end/,
    ],
    ['a list of no models', { channels: [channel], models: [] }, 'models', /expected a model/],
    [
      'a star in the middle of what a group sees',
      { channels: [channel], groups: { g: { models: ['a', '*-b'] } } },
      'groups.g.models[1]',
      /at its end/,
    ],
    [
      'a star in the middle of a header',
      { channels: [{ ...channel, forwardHeaders: ['x-*-id'] }] },
      'channels[0].forwardHeaders[0]',
      /at its end/,
    ],
    [
      'an id that no request may have',
      { channels: [channel], models: [{ ...model, id: 'a/../b' }] },
      'models[0].id',
      /as a step of a path/,
    ],
    [
      'an id that is longer than any that is taken',
      { channels: [channel], models: [{ ...model, id: 'x'.repeat(257) }] },
      'models[0].id',
      /longer than 256/,
    ],
    [
      'a key that is longer than any that is looked at',
      { channels: [channel], keys: [{ name: 'k', key: 's'.repeat(4097) }] },
      'keys[0].key',
      /<=4096/,
    ],
    [
      'an option that there is not',
      { channels: [{ ...channel, options: { messages: { autocache: true } } }] },
      'channels[0].options.messages.autocache',
      /did you mean messages.autoCache/,
    ],
    [
      'a word that an option does not take',
      {
        channels: [channel],
        models: [
          {
            ...model,
            options: { messages: { systemPlacement: 'top' } },
          },
        ],
      },
      'models[0].options.messages.systemPlacement',
      /expected one of auto/,
    ],
    [
      'a repair that there is not',
      { channels: [{ ...channel, options: { tools: { repair: 'drop' } } }] },
      'channels[0].options.tools.repair',
      /expected one of synthesize, keep/,
    ],
    [
      'a misspelt key, beside those there are',
      { channels: [channel], defaults: { retires: 2 } },
      'defaults',
      /unknown key retires; there are .*retries/,
    ],
    [
      'a misspelt key, not what is missing for it',
      { chanels: [channel], models: [model] },
      '',
      /unknown key chanels; there are .*channels/,
    ],
    [
      'a misspelt store of limits',
      { channels: [channel], limits: { reddis: 'redis://a.test' } },
      'limits',
      /expected .*"redis"/,
    ],
    [
      'no protocols',
      { channels: [{ name: 'a', baseUrl: 'https://a.test' }] },
      'channels[0].protocols',
      /expected a list of/,
    ],
    [
      'two channels of one name',
      { channels: [channel, channel] },
      'channels[1].name',
      /no other channel/,
    ],
    [
      'a model at no channel',
      { channels: [channel], models: [{ id: 'm', channels: [{ name: 'b' }] }] },
      'models[0].channels[0].name',
      /expected one of the channels: a/,
    ],
    [
      'an id twice',
      { channels: [channel], models: [model, { ...model, id: 'n', aliases: ['m'] }] },
      'models[1].id',
      /no other model/,
    ],
    [
      'a key in a group that is not there',
      { channels: [channel], keys: [{ name: 'k', key: 's', group: 'g' }] },
      'keys[0].group',
      /there are none/,
    ],
    [
      'a negative time',
      { channels: [{ ...channel, timeouts: { idleMs: -1 } }] },
      'channels[0].timeouts.idleMs',
      />=0/,
    ],
    [
      'a time that no timer can wait for',
      { channels: [{ ...channel, timeouts: { totalMs: 2 ** 31 } }] },
      'channels[0].timeouts.totalMs',
      /<=2147483647/,
    ],
    [
      'a key with a line break',
      { channels: [channel], keys: [{ name: 'k', key: 's\n' }] },
      'keys[0].key',
      /without spaces and line breaks/,
    ],
    [
      'a key twice',
      { channels: [channel], keys: ['k', 'l'].map(name => ({ name, key: 's' })) },
      'keys[1].key',
      /no other entry/,
    ],
    [
      'an upstream’s key with a line break',
      { channels: [{ ...channel, apiKey: 'env:BROKEN' }] },
      'channels[0].apiKey',
      /without line breaks/,
    ],
    [
      'a header with a line break',
      { channels: [{ ...channel, headers: { 'x-a': 'a\r\nb: c' } }] },
      'channels[0].headers.x-a',
      /without line breaks/,
    ],
    [
      'a name that no header has',
      { channels: [{ ...channel, headers: { 'x a': 'b' } }] },
      'channels[0].headers.x a',
      /a header can hold/,
    ],
    [
      'limits in the wrong place',
      { channels: [channel], limits: { redis: 'http://a.test' } },
      'limits',
      /expected .*redis:\/\/host/,
    ],
    [
      'strict in other words',
      { channels: [channel], defaults: { strict: 'yes' } },
      'defaults.strict',
      /expected true, false, or a list of dropped/,
    ],
    [
      'an option without a value',
      {
        channels: [
          {
            ...channel,
            options: { messages: { systemPlacement: null } },
          },
        ],
      },
      'channels[0].options.messages.systemPlacement',
      /expected one of/,
    ],
    [
      'a variable that is not set',
      { channels: [{ ...channel, apiKey: 'env:MISSING' }] },
      'channels[0].apiKey',
      /environment variable MISSING/,
    ],
    [
      '"none" beside keys',
      { auth: 'none', channels: [channel], keys: [{ name: 'k', key: 's' }] },
      'auth',
      /no keys/,
    ],
  ])('%s', (_, config, path, message) => {
    const caught = (() => {
      try {
        parseConfig(config, { BROKEN: 'secret\n' })
      } catch (error) {
        return error
      }
      return undefined
    })()
    expect(caught).toBeInstanceOf(ConfigError)
    expect(caught).toMatchObject({ path, message: expect.stringMatching(message) })
    expect(String(caught)).not.toContain('secret')
  })
})

test.each<[what: string, config: object, words: string]>([
  [
    'a number in quotes',
    { defaults: { retries: '2' } },
    'at defaults.retries: expected a number (it is "2")',
  ],
  [
    'half a number',
    { defaults: { retries: 1.5 } },
    'at defaults.retries: expected a whole number (it is 1.5)',
  ],
  [
    'more than a setting may have',
    { defaults: { retries: 11 } },
    'at defaults.retries: expected a number <=10 (it is 11)',
  ],
  ['an object for a list', { keys: {} }, 'at keys: expected a list (it is an object)'],
  ['a list for a switch', { console: [] }, 'at console: expected true or false (it is a list)'],
  ['a word that is not meant', { auth: 'None' }, 'at auth: expected "none" (it is "None")'],
  [
    'a name for a list',
    { groups: { g: { models: 'a' } } },
    'at groups.g.models: expected a list (it is "a")',
  ],
  [
    'an address without its scheme',
    { channels: [{ ...channel, baseUrl: 'a.test' }] },
    'at channels[0].baseUrl: expected a URL like https://host (it is "a.test")',
  ],
  [
    'a channel that is not there',
    { models: [{ id: 'm', channels: [{ name: 'b' }] }] },
    'at models[0].channels[0].name: expected one of the channels: a (it is "b")',
  ],
  [
    'a variable',
    { channels: [{ ...channel, baseUrl: 'env:BASE' }] },
    'at channels[0].baseUrl: expected a URL like https://host (it is "env:BASE")',
  ],
  [
    'a variable without a name',
    { channels: [{ ...channel, apiKey: 'env:' }] },
    'at channels[0].apiKey: expected the name of an environment variable after env:',
  ],
  [
    'a variable that is empty',
    { channels: [{ ...channel, apiKey: 'env:EMPTY' }] },
    'at channels[0].apiKey: expected the environment variable EMPTY to be set (it is empty)',
  ],
  [
    'what is missing',
    { keys: [{ name: 'k' }] },
    'at keys[0].key: expected a string, but it is missing',
  ],
  ['a secret', { keys: [{ name: 'k', key: 12345 }] }, 'at keys[0].key: expected a string'],
  [
    'a secret with spaces',
    { keys: [{ name: 'k', key: 'my secret' }] },
    'at keys[0].key: expected a key without spaces and line breaks',
  ],
  [
    'a secret in a header',
    { channels: [{ ...channel, headers: { 'X-A': 1234 } }] },
    'at channels[0].headers.X-A: expected a string',
  ],
  [
    'keys without names',
    { keys: ['sk-secret'] },
    'at keys[0]: expected an object with name, key, group, requestsPerMinute, concurrentRequests, disabled',
  ],
  ['one key', { keys: 'sk-secret' }, 'at keys: expected a list'],
  ['a key for all', { auth: 'sk-secret' }, 'at auth: expected "none"'],
  [
    'a key in place of a group',
    { groups: { g: 'sk-secret' } },
    'at groups.g: expected an object with models, requestsPerMinute, cachePrefix, tokensPerDay, tokensPerMonth, dollarsPerDay, dollarsPerMonth',
  ],
  [
    'a key in place of an address',
    { channels: [{ ...channel, baseUrl: 'sk-secret' }] },
    'at channels[0].baseUrl: expected a URL like https://host',
  ],
  [
    'a secret in place of limits',
    { limits: 'sk-secret' },
    'at limits: expected { "store": "memory" }, or { "redis": a URL like redis://host:6379 }',
  ],
  [
    'a secret in an address',
    { channels: [{ ...channel, baseUrl: 'https://a.test?key=secret' }] },
    'at channels[0].baseUrl: expected a URL without query and fragment',
  ],
])('reports the wrong value, unless it may be a secret: %s', (_, config, words) => {
  expect(() =>
    parseConfig({ channels: [channel], ...config }, { BASE: 'secret', EMPTY: '' }),
  ).toThrow(expect.objectContaining({ message: `configuration ${words}` }))
})

test('reads strings that begin with env: from the environment, at any path', () => {
  const parsed = parseConfig(
    { channels: [{ ...channel, apiKey: 'env:KEY', headers: { 'x-org': 'env:ORG' } }] },
    { KEY: 'secret', ORG: 'org' },
  )
  expect(parsed.channels[0]).toMatchObject({ apiKey: 'secret', headers: { 'x-org': 'org' } })
})

test('treats an empty upstream key as absent', () => {
  expect(
    parseConfig({ channels: [{ ...channel, apiKey: '' }] }, {}).channels[0]?.apiKey,
  ).toBeUndefined()
})

test('base addresses with a version, a path or nothing are taken, and patterns with a star at their end', () => {
  const bases = [
    'https://a.test',
    'https://a.test/',
    'https://a.test/v1',
    'https://a.test/api/v4/',
    'https://a.test/v1/accounts/messages/v1',
    'https://a.test/models/x',
  ]
  for (const baseUrl of bases)
    expect(
      parseConfig({ channels: [{ ...channel, baseUrl, forwardHeaders: ['x-*', '*'] }] }, {})
        .channels[0]?.baseUrl,
    ).toBe(baseUrl)
  const { models } = parseConfig(
    {
      channels: [channel],
      groups: { g: { models: ['a*', '*'] } },
      models: [{ ...model, id: 'a*', aliases: ['org/b:c@d*'] }],
    },
    {},
  )
  expect(models[0]?.id).toBe('a*')
})

test('routes every id to all channels without `models`', () => {
  expect(parseConfig({ channels: [channel] }, {}).models).toMatchObject([
    { id: '*', channels: [{ name: 'a' }] },
  ])
})

test('fills in defaults', () => {
  expect(parseConfig({ channels: [channel], models: [model] }, {})).toMatchObject({
    defaults: { retries: 2, keepAliveMs: 15_000, notesHeader: true },
    channels: [
      { timeouts: { connectMs: 10_000, firstByteMs: 300_000, idleMs: 120_000, totalMs: 0 } },
    ],
    models: [{ streaming: 'both' }],
  })
})
