import { expect, test } from 'vitest'
import { asking, hosts, one, type Protocol, replies, said, streams, until, upstream, wait } from './support.ts'

/** Those whose streams have a last event. */
const ending = (Object.keys(replies) as Protocol[]).filter(name => name !== 'generate-content')
const protocols = Object.keys(replies) as Protocol[]
const [connect] = hosts

/** A delta that comes again and again after the end. */
const delta = (protocol: Protocol) => streams[protocol].find(frame => frame.includes('lo')) ?? ''

const pairs = ending.flatMap(served => protocols.map(client => [served, client] as const))

test.each(pairs)('cuts off an upstream that goes on after its end: %s for a client of %s', async (served, client) => {
  const seen = await upstream(async response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const frame of streams[served]) response.write(frame)
    for (let left = 300; left > 0 && !response.destroyed; left--) {
      response.write(delta(served))
      await wait(10)
    }
    response.end()
  })
  const ask = await connect?.[1](one(seen.url, served))
  const response = await ask?.(...asking(client, { stream: true }))
  expect(await said((await response?.text()) ?? '', client)).toBe('Hello')
  await until(() => seen.aborted === 1, 2_500)
})
