import { expect, test } from 'vitest'
import { changed, discard, peeked } from '../../src/clouds/call.ts'
import type { TransportCall } from '../../src/transports/transport.ts'

test('keeps the other fields of a changed call', () => {
  const { signal } = new AbortController()
  const socket = {
    message: (body: string) => body,
    event: (data: string) => ({ frame: data, ends: true }),
  }
  const call: TransportCall = {
    url: 'https://h/a',
    method: 'POST',
    headers: { a: '1' },
    body: 'x',
    signal,
    stop: signal,
    connectMs: 5,
    proxy: 'env',
    socket,
  }
  expect({ ...changed(call, { url: 'https://h/b', headers: { b: '2' } }) }).toEqual({
    ...call,
    url: 'https://h/b',
    headers: { b: '2' },
  })
})

test('ends the body of a response that was read in part and is not used', async () => {
  let isEnded = false
  async function* body() {
    try {
      yield '{"message":'
      yield 'x'.repeat(100_000)
      yield '"}'
    } finally {
      isEnded = true
    }
  }
  const { text, response } = await peeked({ status: 403, headers: {}, body: body() })
  expect(text).toMatch(/^\{"message":x/)
  await discard(response)
  expect(isEnded).toBe(true)
})
