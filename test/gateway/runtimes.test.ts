import { Buffer, isAscii, isUtf8 } from 'node:buffer'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { listen, one, paths, post, replies, requests, sendJson, upstream } from './support.ts'

/** What Node has and other runtimes have not, taken away here. */

/** Two letters that are no ASCII, and one that takes two units. */
const greeting = 'Grüße 🙂'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.doUnmock('undici')
  vi.resetModules()
})

describe('a runtime that stands in for Node', () => {
  const throwing = () => {
    throw new Error('A Node.js API is used which is not supported in the Edge Runtime.')
  }
  const runtimes: [string, process: object][] = [
    ['has no `transcode` (Bun 1.3.0)', { getBuiltinModule: () => ({ isAscii, isUtf8, Buffer }) }],
    ['throws when it is asked for a module (edge runtime of Next)', { getBuiltinModule: throwing }],
    ['has no modules (Bun 1.2)', {}],
  ]

  test.each(runtimes)('%s', async (_, stub) => {
    const { url, calls } = await upstream(sendJson(200, replies.messages))
    vi.resetModules()
    vi.stubGlobal('process', stub)
    const { fetchGateway } = await import('../../src/hosts/fetch.ts')
    vi.unstubAllGlobals()
    const handler = fetchGateway(one(url, 'messages'))
    const asked = { ...requests['chat-completions'], messages: [{ role: 'user', content: greeting }] }
    const answer = await handler(new Request(`http://gateway.test${paths['chat-completions']}`, post(asked)))
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
    expect(calls[0]?.text).toContain(greeting)
    await handler.close(0)
  })

  test('has something of its own in the place of undici (Bun): upstreams are called by fetch', async () => {
    const { url } = await upstream(sendJson(200, replies.messages))
    vi.resetModules()
    vi.doMock('undici', () => ({ Agent: class {} }))
    const { gateway } = await import('../../src/hosts/connect.ts')
    const handler = gateway(one(url, 'messages'))
    const answer = await fetch((await listen(handler)) + paths.messages, post(requests.messages))
    expect(await answer.json()).toEqual(replies.messages)
    await handler.close(0)
  })
})
