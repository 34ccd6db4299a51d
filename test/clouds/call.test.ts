import { expect, test } from 'vitest'
import { changed } from '../../src/clouds/call.ts'
import type { TransportCall } from '../../src/transports/transport.ts'

test('a changed call keeps its other fields', () => {
  const { signal } = new AbortController()
  const socket = { message: (body: string) => body, event: (data: string) => ({ frame: data, ends: true }) }
  const call: TransportCall = { url: 'https://h/a', method: 'POST', headers: { a: '1' }, body: 'x', signal, stop: signal, connectMs: 5, proxy: 'env', socket }
  expect({ ...changed(call, { url: 'https://h/b', headers: { b: '2' } }) }).toEqual({ ...call, url: 'https://h/b', headers: { b: '2' } })
})
