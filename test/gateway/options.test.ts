import { describe, expect, test } from 'vitest'
import { ConfigError, settle } from '../../src/gateway/options.ts'

const channel = { name: 'a', protocols: ['messages'], baseUrl: 'https://a.test' }
const model = { id: 'm', channels: [{ name: 'a' }] }

describe('a configuration that is wrong names the place and what was expected', () => {
  test.each<[what: string, config: unknown, path: string, message: RegExp]>([
    ['no object', 'x', '', /expected object/],
    ['no channels', {}, 'channels', /expected array/],
    ['an empty list of channels', { channels: [] }, 'channels', /expected/],
    ['an unknown key at the top', { channels: [channel], chanels: 1 }, '', /unknown key chanels/],
    ['an unknown key deep inside', { channels: [{ ...channel, timeouts: { idle: 1 } }] }, 'channels[0].timeouts', /unknown key idle/],
    ['an unknown protocol', { channels: [{ ...channel, protocols: ['telnet'] }] }, 'channels[0].protocols[0]', /expected one of/],
    ['no base address', { channels: [{ name: 'a', protocols: ['messages'] }] }, 'channels[0].baseUrl', /expected a URL/],
    ['a base address that is a file', { channels: [{ ...channel, baseUrl: 'file:///etc' }] }, 'channels[0].baseUrl', /expected a URL/],
    ['a full endpoint as base address', { channels: [{ ...channel, baseUrl: 'https://a.test/v1/messages' }] }, 'channels[0].baseUrl', /without \/messages/],
    [
      'a base address with a password',
      { channels: [{ ...channel, baseUrl: 'https://me:secret@a.test' }] },
      'channels[0].baseUrl',
      /^configuration at channels\[0\].baseUrl: expected a URL without user and password: say them in "headers", as "authorization"$/,
    ],
    ['an option that there is not', { channels: [{ ...channel, options: { amAutocache: true } }] }, 'channels[0].options.amAutocache', /there is no option/],
    [
      'a word that an option does not take',
      { channels: [channel], models: [{ ...model, options: { systemPlacement: 'top' } }] },
      'models[0].options.systemPlacement',
      /expected one of auto/,
    ],
    ['no protocols', { channels: [{ name: 'a', baseUrl: 'https://a.test' }] }, 'channels[0].protocols', /expected a list of/],
    ['two channels of one name', { channels: [channel, channel] }, 'channels[1].name', /no other channel/],
    [
      'a model at no channel',
      { channels: [channel], models: [{ id: 'm', channels: [{ name: 'b' }] }] },
      'models[0].channels[0].name',
      /expected one of the channels: a/,
    ],
    ['an id twice', { channels: [channel], models: [model, { ...model, id: 'n', aliases: ['m'] }] }, 'models[1].id', /no other model/],
    ['a key in a group that is not there', { channels: [channel], keys: [{ name: 'k', key: 's', group: 'g' }] }, 'keys[0].group', /there are none/],
    ['a negative time', { channels: [{ ...channel, timeouts: { idleMs: -1 } }] }, 'channels[0].timeouts.idleMs', />=0/],
    ['a time that no timer can wait for', { channels: [{ ...channel, timeouts: { totalMs: 2 ** 31 } }] }, 'channels[0].timeouts.totalMs', /<=2147483647/],
    ['a key with a line break', { channels: [channel], keys: [{ name: 'k', key: 's\n' }] }, 'keys[0].key', /without spaces and line breaks/],
    ['a key twice', { channels: [channel], keys: ['k', 'l'].map(name => ({ name, key: 's' })) }, 'keys[1].key', /no other entry/],
    ['an upstream’s key with a line break', { channels: [{ ...channel, apiKey: 'env:BROKEN' }] }, 'channels[0].apiKey', /without line breaks/],
    ['a header with a line break', { channels: [{ ...channel, headers: { 'x-a': 'a\r\nb: c' } }] }, 'channels[0].headers.x-a', /without line breaks/],
    ['a name that no header has', { channels: [{ ...channel, headers: { 'x a': 'b' } }] }, 'channels[0].headers.x a', /a header can hold/],
    ['limits in the wrong place', { channels: [channel], limits: { redis: 'http://a.test' } }, 'limits', /expected .*redis:\/\/host/],
    ['strict in other words', { channels: [channel], defaults: { strict: 'yes' } }, 'defaults.strict', /expected true, false, or a list of dropped/],
    [
      'an option without a value',
      { channels: [{ ...channel, options: { systemPlacement: null } }] },
      'channels[0].options.systemPlacement',
      /expected a string/,
    ],
    ['a variable that is not set', { channels: [{ ...channel, apiKey: 'env:MISSING' }] }, 'channels[0].apiKey', /environment variable MISSING/],
    ['"none" beside keys', { auth: 'none', channels: [channel], keys: [{ name: 'k', key: 's' }] }, 'auth', /no keys/],
  ])('%s', (_, config, path, message) => {
    const caught = (() => {
      try {
        settle(config, { BROKEN: 'secret\n' })
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

test('strings that begin with env: are read from the environment, wherever they stand', () => {
  const settled = settle({ channels: [{ ...channel, apiKey: 'env:KEY', headers: { 'x-org': 'env:ORG' } }] }, { KEY: 'secret', ORG: 'org' })
  expect(settled.channels[0]).toMatchObject({ apiKey: 'secret', headers: { 'x-org': 'org' } })
})

test('without models every id goes to all channels', () => {
  expect(settle({ channels: [channel] }, {}).models).toMatchObject([{ id: '*', channels: [{ name: 'a' }] }])
})

test('what was not said has a value', () => {
  expect(settle({ channels: [channel], models: [model] }, {})).toMatchObject({
    defaults: { retries: 2, keepAliveMs: 15_000, notesHeader: true },
    channels: [{ timeouts: { connectMs: 10_000, firstByteMs: 300_000, idleMs: 120_000, totalMs: 0 } }],
    models: [{ streaming: 'both' }],
  })
})
