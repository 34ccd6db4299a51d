import { describe, expect, test } from 'vitest'
import { idsIn } from '../src/address/listed.ts'
import { type AddressUsage, addressFor, checkAddress, listingAddress } from '../src/clients.ts'
import { protocolNames, protocols } from '../src/protocols/index.ts'

const chat: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }
const messages: AddressUsage = { protocol: 'messages', appends: 'version-and-endpoint' }

describe('the address for', () => {
  test.each<[string, AddressUsage & { model?: string }, string]>([
    [
      'a raw chat-completions request',
      { protocol: 'chat-completions', appends: 'nothing' },
      '/v1/chat/completions',
    ],
    ['a raw responses request', { protocol: 'responses', appends: 'nothing' }, '/v1/responses'],
    ['a raw messages request', { protocol: 'messages', appends: 'nothing' }, '/v1/messages'],
    [
      'a raw generate-content request',
      { protocol: 'generate-content', appends: 'nothing', model: 'm' },
      '/v1beta/models/m:generateContent',
    ],
    ['a chat library that appends the endpoint', chat, '/v1'],
    [
      'a responses library that appends the endpoint',
      { protocol: 'responses', appends: 'endpoint' },
      '/v1',
    ],
    [
      'a library that adds /v1 by itself',
      { protocol: 'chat-completions', appends: 'version-and-endpoint' },
      '',
    ],
    ['the official library of messages', messages, ''],
    [
      'a library of messages that appends the endpoint',
      { protocol: 'messages', appends: 'endpoint' },
      '/v1',
    ],
    [
      'the command-line tool of generate-content',
      { protocol: 'generate-content', appends: 'version-and-endpoint' },
      '',
    ],
    [
      'a library of generate-content that appends the endpoint',
      { protocol: 'generate-content', appends: 'endpoint' },
      '/v1beta',
    ],
    [
      'a raw converse request',
      { protocol: 'converse', appends: 'nothing', model: 'us.a.b-v1:0' },
      '/model/us.a.b-v1%3A0/converse',
    ],
    [
      'the SDK of converse, whose paths have no version',
      { protocol: 'converse', appends: 'version-and-endpoint' },
      '',
    ],
    [
      'a library of converse that appends the endpoint',
      { protocol: 'converse', appends: 'endpoint' },
      '',
    ],
  ])('%s', (_, usage, path) => {
    // Any of the gateway's own addresses gives the same result.
    for (const base of [
      '',
      '/',
      '/v1',
      '/v1/',
      '/v1/v1',
      '/v1beta',
      '/v1/chat/completions',
      '/v1/messages',
      '/chat/completions',
      '/v1/models',
      '?a=b',
    ])
      expect(addressFor(`https://gw.example${base}`, usage)).toBe(`https://gw.example${path}`)
    expect(addressFor('https://gw.example/llm/v1', usage)).toBe(`https://gw.example/llm${path}`)
  })

  test('returns the address of the model listing', () => {
    expect(listingAddress('https://gw.example')).toBe('https://gw.example/v1/models')
    expect(listingAddress('http://127.0.0.1:4000/gw/v1/messages')).toBe(
      'http://127.0.0.1:4000/gw/v1/models',
    )
  })

  test('refuses text that is not a URL', () => {
    expect(() => addressFor('gw.example', chat)).toThrow(/begins with https/)
  })
})

describe('checks of an address', () => {
  test.each<[string, string, AddressUsage | undefined, string, string]>([
    [
      'lacks /v1 for a client that adds only the endpoint',
      'https://gw.example',
      chat,
      'missing-version',
      'use https://gw.example/v1',
    ],
    [
      'has a /v1 that the client adds, too',
      'https://gw.example/v1',
      messages,
      'doubled-version',
      'use https://gw.example',
    ],
    [
      'has another version than the one the client adds',
      'https://gw.example/v1',
      { protocol: 'generate-content', appends: 'version-and-endpoint' },
      'doubled-version',
      'exactly one /v1beta',
    ],
    [
      'has two versions',
      'https://gw.example/v1/v1',
      undefined,
      'doubled-version',
      'use https://gw.example',
    ],
    [
      'has two versions, for one client',
      'https://gw.example/v1/v1/',
      chat,
      'doubled-version',
      'use https://gw.example/v1',
    ],
    [
      'is a full endpoint',
      'https://gw.example/v1/chat/completions',
      undefined,
      'endpoint-as-base',
      'Use https://gw.example',
    ],
    [
      'is a full endpoint, for one client',
      'https://gw.example/v1/messages',
      messages,
      'endpoint-as-base',
      'Use https://gw.example',
    ],
    [
      'is an endpoint without version',
      'https://gw.example/gw/chat/completions',
      chat,
      'endpoint-as-base',
      'Use https://gw.example/gw/v1',
    ],
    [
      'is a full endpoint of generate-content',
      'https://gw.example/v1beta/models/m:generateContent',
      undefined,
      'endpoint-as-base',
      'Use https://gw.example',
    ],
    [
      'has a version for a client whose paths have none',
      'https://gw.example/v1',
      { protocol: 'converse', appends: 'version-and-endpoint' },
      'missing-version',
      'paths of this client have no version',
    ],
    [
      'ends before the endpoint of a raw request',
      'https://gw.example/v1',
      { protocol: 'messages', appends: 'nothing' },
      'missing-version',
      'use https://gw.example/v1/messages',
    ],
    ['has a query', 'https://gw.example/v1?key=abc', undefined, 'query', 'use https://gw.example'],
    [
      'has a fragment',
      'https://gw.example/v1#top',
      undefined,
      'fragment',
      'use https://gw.example',
    ],
    [
      'is a page of a console',
      'https://gw.example/console/keys',
      undefined,
      'page',
      'returns HTML',
    ],
    [
      'is a page of a router in the browser',
      'https://gw.example/#/login',
      undefined,
      'page',
      'returns HTML',
    ],
    ['is a host of pages', 'https://platform.vendor.example', undefined, 'page', 'returns HTML'],
    [
      'holds a key',
      'https://me:secret@gw.example/v1',
      undefined,
      'credentials',
      'Do not put a key into an address',
    ],
    ['has a socket’s scheme', 'wss://gw.example/v1', undefined, 'scheme', 'plain HTTP'],
    ['has no scheme', 'gw.example/v1', undefined, 'not-a-url', 'begins with https'],
    ['is empty', '', undefined, 'not-a-url', 'begins with https'],
    ['was copied with its quotes', '"https://gw.example/v1"', undefined, 'spaces', 'quotes'],
  ])('reports a fault: %s', (_, given, usage, rule, words) => {
    const { faults } = checkAddress(given, usage)
    const found = faults.find(fault => fault.rule === rule)
    expect(found?.severe, JSON.stringify(faults)).toBe(true)
    expect(found?.message).toContain(words)
  })

  test.each<[string, string, string]>([
    ['ends in a slash', 'https://gw.example/v1/', 'slashes'],
    ['has two slashes in a row', 'https://gw.example//v1', 'slashes'],
    ['sends keys in the clear', 'http://gw.example/v1', 'insecure'],
    ['speaks TLS with this machine', 'https://localhost:4000/v1', 'tls-on-this-machine'],
  ])('warns: %s', (_, given, rule) => {
    expect(checkAddress(given).faults).toEqual([expect.objectContaining({ rule, severe: false })])
  })

  test.each<[string, AddressUsage | undefined]>([
    ['https://gw.example', undefined],
    ['https://gw.example/v1', undefined],
    ['https://gw.example/openai/v1', chat],
    ['https://gw.example/api/paas/v4', chat],
    ['http://127.0.0.1:4000', messages],
    ['http://192.168.1.5:4000/v1', chat],
    ['http://gateway:4000/v1', chat],
    ['https://gw.example/v1/messages', { protocol: 'messages', appends: 'nothing' }],
    ['https://gw.example/v1beta', { protocol: 'generate-content', appends: 'endpoint' }],
    ['https://gw.example/v1', { protocol: 'generate-content', appends: 'endpoint' }],
  ])('finds no fault in %s', (given, usage) => {
    expect(checkAddress(given, usage).faults).toEqual([])
  })

  test('names its purpose and the expected request of each client when checked without a client', () => {
    const { usages, root } = checkAddress('https://gw.example/v1')
    expect(root).toBe('https://gw.example')
    expect(usages).toContainEqual({
      ...chat,
      address: 'https://gw.example/v1',
      fits: true,
      request: 'https://gw.example/v1/chat/completions',
    })
    expect(usages).toContainEqual({
      ...messages,
      address: 'https://gw.example',
      fits: false,
      request: 'https://gw.example/v1/v1/messages',
    })
  })
})

test.each(protocolNames)('leaves ids with control characters out of a listing: %s', name => {
  const ids = ['gpt-9', 'x\u001b[2J', 'a\nb', '\u009b2J', '\u007f', 'ü/ok:free']
  const body = {
    data: ids.map(id => ({ id })),
    models: ids.map(id => ({ name: `models/${id}` })),
    modelSummaries: ids.map(id => ({ modelId: id })),
  }
  expect(idsIn(protocols[name], body)).toEqual(['gpt-9', 'ü/ok:free'])
})
