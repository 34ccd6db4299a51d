import { describe, expect, test } from 'vitest'
import {
  credentialsOf,
  isKeyHeader,
  isKeyParameter,
} from '../../src/gateway/admission/credential.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import {
  asking,
  hostsOf,
  one,
  type Protocol,
  pairs,
  paths,
  post,
  responses,
  sendJson,
  upstream,
} from './support.ts'

/** A protocol whose clients show keys in a header of their own and in the query. */
const address = {
  ...protocols.responses.address,
  keyPlaces: { headers: ['x-own-key'], query: ['own'] },
}

test.each<[string, Record<string, string>, string, string | undefined]>([
  ['its own header', { 'x-own-key': 'k' }, '', 'k'],
  ['its own header before bearer', { 'x-own-key': 'k', authorization: 'Bearer b' }, '', 'k'],
  ['bearer', { authorization: 'Bearer b' }, '', 'b'],
  ['bearer, however it is written', { authorization: 'bearer  b ' }, '', 'b'],
  ['the query that it declares', {}, 'own=q', 'q'],
  ['a header before the query', { authorization: 'Bearer b' }, 'own=q', 'b'],
  ['the header of another protocol', { 'x-api-key': 'k' }, '', 'k'],
  ['an empty header, so the next place', { 'x-own-key': '' }, 'own=q', 'q'],
  ['another query parameter', {}, 'other=q', undefined],
  ['no header and no query', {}, '', undefined],
])('reads the key from %s', (_, headers, query, key) => {
  expect(credentialsOf(address, headers, new URLSearchParams(query))[0]).toBe(key)
})

test.each(['Basic b', 'Bearer a b', 'Bearer', 'Bearer ', 'b', ''])(
  'ignores a malformed authorization header: %j',
  authorization => {
    expect(credentialsOf(address, { authorization }, new URLSearchParams('other=q'))).toEqual([])
    expect(credentialsOf(address, { authorization }, new URLSearchParams('own=q'))).toEqual(['q'])
  },
)

test('finds every key that a client sends, each once', () => {
  const headers = { 'x-own-key': 'own', authorization: 'Bearer b', 'x-api-key': 'own' }
  expect(credentialsOf(address, headers, new URLSearchParams('own=q'))).toEqual(['own', 'b', 'q'])
})

test.each(protocolNames)(
  '%s lists its key headers in lower case, and none of them is forwarded',
  name => {
    const { headers, query } = protocols[name].address.keyPlaces
    for (const header of headers)
      expect([header, isKeyHeader(header)]).toEqual([header.toLowerCase(), true])
    for (const parameter of query) expect(isKeyParameter(parameter)).toBe(true)
  },
)

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(pairs)(
    'keeps a key in the query out of upstream calls, logs and errors: %s from %s',
    async (client, served) => {
      const seen = await upstream(sendJson(200, responses[served]))
      const { auth: _auth, ...config } = one(seen.url, served)
      const ask = await start({ ...config, keys: [{ name: 'alice', key: 'planted-key' }] })
      const query = '?key=planted-key&api_key=planted-key&access_token=planted-key&beta=true'
      const received = (path: string, init?: RequestInit) => ask(path + query, init)
      const known = { authorization: 'Bearer planted-key' }
      expect((await received(...asking(client, {}, known))).status).toBe(200)
      // The support checks everything that is logged and sent.
      await received(...asking(client, {}, { authorization: 'Bearer planted-other' }))
      await received(paths[client], post('{', known))
      await received(...asking(client, { model: 'other' }, known))
      for (const path of [
        '/v1/v1/messages',
        '/v1/models',
        '/v1/models/other',
        '/v1/responses/resp_1',
        paths[client],
      ])
        await received(path, { headers: known })
      expect(seen.calls.map(({ path, headers }) => [path, headers])).not.toEqual([])
      expect(JSON.stringify(seen.calls)).not.toContain('planted')
    },
  )

  test.each(Object.keys(paths) as Protocol[])(
    'accepts the key header of every protocol on the path of: %s',
    async client => {
      const { auth: _auth, ...config } = one(
        (await upstream(sendJson(200, responses[client]))).url,
        client,
      )
      const ask = await start({ ...config, keys: [{ name: 'alice', key: 'planted-key' }] })
      for (const { address } of Object.values(protocols))
        for (const name of address.keyPlaces.headers)
          expect((await ask(...asking(client, {}, { [name]: 'planted-key' }))).status).toBe(200)
    },
  )
})
