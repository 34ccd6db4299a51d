import { describe, expect, test } from 'vitest'
import { gateway } from '../../src/hosts/connect.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'

const config = { auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] } as const
type Untyped = (config: unknown, hooks?: unknown) => { close(graceMs?: number): Promise<unknown> }
const hosts = [
  ['fetch', fetchGateway as unknown as Untyped],
  ['connect', gateway as unknown as Untyped],
] as const

describe.each(hosts)('hooks of the %s host', (_, create) => {
  test.each<[string, unknown, string | RegExp]>([
    [
      'null',
      null,
      'configuration at hooks: expected an object with authenticate, route, onRequest',
    ],
    ['text', 'onUsage', 'configuration at hooks: expected an object with authenticate'],
    ['a function', () => {}, 'configuration at hooks: expected an object with authenticate'],
    [
      'a misspelled guardrail',
      { onReqest: () => {} },
      /at hooks\.onReqest: there is no such hook; there are .*; did you mean onRequest\?$/,
    ],
    [
      'a name that is like none',
      { zebra: 1 },
      /at hooks\.zebra: there is no such hook; there are authenticate, .*, store, peers, serverTools$/,
    ],
    ['a value that is no function', { onUsage: true }, 'at hooks.onUsage: expected a function'],
    [
      'a tool that is no function',
      { serverTools: { web_search: 'yes' } },
      'at hooks.serverTools: expected an object with functions',
    ],
    ['null for a function', { route: null }, 'at hooks.route: expected a function'],
    [
      'a function for a logger',
      { logger: () => {} },
      'at hooks.logger: expected an object with the methods info, warn, error, or false',
    ],
    [
      'half a logger',
      { logger: { info() {} } },
      'at hooks.logger: expected an object with the methods info, warn, error, or false',
    ],
    [
      'fetch for a transport',
      { transport: fetch },
      'at hooks.transport: expected an object with the method send',
    ],
    [
      'an object for a store',
      { store: {} },
      'at hooks.store: expected an object with the methods get, set, delete',
    ],
    [
      'peers that only count',
      { peers: { async count() {} } },
      'at hooks.peers: expected an object with the methods count, send, listen',
    ],
    [
      'every fault at once',
      { onUsge: 1, route: 5 },
      /hooks\.onUsge: .*\nconfiguration at hooks\.route: expected a function$/,
    ],
  ])('throws for %s, with its path', (_, hooks, message) => {
    expect(() => create(config, hooks)).toThrow(expect.objectContaining({ name: 'ConfigError' }))
    expect(() => create(config, hooks)).toThrow(message)
  })

  test('names the second argument for a hook in the configuration', () => {
    expect(() => create({ ...config, onRequest: () => {} })).toThrow(
      /unknown key onRequest; .*; hooks are the second argument$/,
    )
  })

  test('accepts absent hooks, a logger that is off, a Map as a store, and instances of classes with fields of their own', async () => {
    class Audit {
      readonly records: unknown[] = []
      onUsage(record: unknown): void {
        this.records.push(record)
      }
    }
    for (const hooks of [
      undefined,
      {},
      { route: undefined },
      { logger: false },
      { logger: console },
      { store: new Map() },
      new Audit(),
    ])
      await create(config, hooks).close(0)
  })
})
