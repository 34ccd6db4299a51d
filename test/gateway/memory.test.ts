import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createGateway } from '../../src/gateway/gateway.ts'
import { Stopper } from '../../src/transports/stopper.ts'
import type { Transport } from '../../src/transports/transport.ts'
import { half, one, paths, requests, wait } from './support.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Begins to answer, and then is silent for as long as it is listened to. */
function silentAfterHalf(): Transport {
  const frames = half('messages')
  return {
    send: async ({ stop }) => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: {
        async *[Symbol.asyncIterator]() {
          for (const frame of frames) yield frame
          await new Promise(resolve => stop?.addEventListener('abort', () => resolve(undefined)))
        },
      },
    }),
  }
}

/** Thousands of streams stay open for minutes; what a client asked may be megabytes each. */
test.each(['messages', 'chat-completions'] as const)('an open stream for a client of %s holds nothing of its request', async protocol => {
  const gateway = createGateway(one('http://upstream.test', 'messages'), {}, silentAfterHalf)
  const client = new Stopper()
  const { body, asked } = await (async () => {
    const parsed: Record<string, unknown> = { ...requests[protocol], stream: true }
    const request = { method: 'POST', path: paths[protocol], query: new URLSearchParams(), headers: { 'content-type': 'application/json' } }
    const answer = await gateway.answer({ ...request, body: { parsed }, signal: client })
    return { body: answer.body as AsyncIterable<string>, asked: new WeakRef(parsed) }
  })()
  const chunks = body[Symbol.asyncIterator]()
  expect((await chunks.next()).done).toBe(false)
  const silence = chunks.next()
  // What a promise or a microtask still holds is let go by then.
  for (let tries = 0; asked.deref() && tries < 20; tries++) {
    await wait(10)
    collect()
  }
  expect(asked.deref()).toBeUndefined()
  client.abort()
  await silence.catch(() => undefined)
  await gateway.close(0)
})
