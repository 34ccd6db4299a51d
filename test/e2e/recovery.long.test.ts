import { describe, expect, test } from 'vitest'
import {
  listen,
  mounted,
  one,
  type Protocol,
  responses,
  sendJson,
  sendStream,
  streams,
  type Upstream,
  upstream,
} from '../gateway/support.ts'
import { covered } from '../support/covered.ts'
import { ask } from './asking.ts'

/** The SDKs try again by themselves; the gateway must not be in their way. */
const failing = (status: number, headers: Record<string, string> = {}) =>
  sendJson(status, { error: { message: 'Not now', type: 'overloaded_error' } }, headers)
type Script = Parameters<typeof upstream>[number]
const reset: Script = response => response.destroy()

async function through(
  served: Protocol,
  ...scripts: Script[]
): Promise<{ url: string; seen: Upstream }> {
  const seen = await upstream(...scripts)
  const handler = mounted(one(seen.url, served))
  return { url: await listen(handler), seen }
}

const failures: [string, Script][] = [
  ['429', failing(429, { 'retry-after-ms': '10' })],
  ['503', failing(503, { 'retry-after-ms': '10' })],
  ['529', failing(529, { 'retry-after-ms': '10' })],
  ['a connection that is reset', reset],
]

/**
 * What Google's client does not ask again for, and its own servers do not say, reaches it from them
 * as it is.
 */
const isRetried = (client: Protocol, served: Protocol, status: string) =>
  !(client === served && client === 'generate-content' && status === '529')

describe.each(covered)('the client of %s', client => {
  describe.each(covered)('at an upstream of %s', served => {
    test.each(failures.filter(([status]) => isRetried(client, served, status)))(
      'recovers from %s by itself',
      async (_, failure) => {
        for (const stream of [false, true]) {
          const { url, seen } = await through(
            served,
            failure,
            stream ? sendStream(streams[served]) : sendJson(200, responses[served]),
          )
          expect(await ask[client](url, { stream })).toBe('Hello')
          expect(seen.calls.length).toBe(2)
        }
      },
    )

    test('reports a truncated stream, and sends nothing twice', async () => {
      const { url, seen } = await through(
        served,
        sendStream(streams[served].slice(0, -2), { cut: true }),
        sendStream(streams[served]),
      )
      await expect(ask[client](url, { stream: true })).rejects.toThrow()
      expect(seen.calls.length).toBe(1)
    })
  })
})
