import compression from 'compression'
import connect from 'connect'
import express5 from 'express'
// @ts-expect-error the older release comes without types; it is used as the newer one is
import express4 from 'express4'
import { describe, expect, test } from 'vitest'
import {
  asking,
  listen,
  mounted,
  one,
  type Protocol,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sent,
  streams,
  upstream,
} from './support.ts'

const protocols = Object.keys(paths) as Protocol[]
type App = Parameters<typeof listen>[0] & { use(handler: unknown): unknown }
const frameworks: [string, () => App][] = [
  ['express 5', () => express5() as unknown as App],
  ['express 4', () => (express4 as unknown as typeof express5)() as unknown as App],
  ['connect', () => connect() as unknown as App],
]

describe.each(frameworks)('behind compression() in %s', (_, create) => {
  async function behind(url: string, served: Protocol): Promise<string> {
    const handler = mounted(one(url, served))
    const app = create()
    app.use(compression({ threshold: 0 }))
    app.use(handler)
    return listen(app)
  }

  test.each(protocols)(
    'flushes every frame at once to a client that accepts gzip: %s',
    async served => {
      let go = () => {}
      const second = new Promise<void>(resolve => {
        go = resolve
      })
      const frames = streams[served]
      const { url } = await upstream(async response => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const frame of frames.slice(0, -2)) response.write(frame)
        await second
        for (const frame of frames.slice(-2)) response.write(frame)
        response.end()
      })
      const base = await behind(url, served)
      for (const client of protocols.filter(name => name === served || name === 'messages')) {
        const [path, init] = asking(client, { stream: true }, { 'accept-encoding': 'gzip' })
        const response = await fetch(base + path, init)
        const decoder = new TextDecoder()
        let text = ''
        // The upstream says no more before the client has read this.
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
          text += decoder.decode(chunk, { stream: true })
          if (text.includes('Hel')) go()
        }
        expect(await sent(text, client)).toBe('Hello')
      }
    },
  )

  test('a complete response is compressed, and read', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const base = await behind(url, 'messages')
    const response = await fetch(
      base + paths.messages,
      post(requests.messages, { 'accept-encoding': 'gzip' }),
    )
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.json()).toEqual(responses.messages)
  })
})
