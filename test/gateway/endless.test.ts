import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Transport } from '../../src/gateway/gateway.ts'
import { sampled } from '../support/sampled.ts'
import {
  asking,
  hosts,
  one,
  type Protocol,
  responses,
  sent,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

/** Those whose streams have a last event. */
const ending = (Object.keys(responses) as Protocol[]).filter(name => name !== 'generate-content')
const protocols = Object.keys(responses) as Protocol[]
const [connect] = hosts

/** A delta that comes again and again after the end. */
const delta = (protocol: Protocol) => streams[protocol].find(frame => frame.includes('lo')) ?? ''

const pairs = sampled(ending.flatMap(served => protocols.map(client => [served, client] as const)))

test.each(pairs)(
  'cuts off an upstream that continues after its end: %s for a client of %s',
  async (served, client) => {
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
    expect(await sent((await response?.text()) ?? '', client)).toBe('Hello')
    await until(() => seen.aborted === 1, 2_500)
  },
)

/**
 * Those that may send more after every finish reason: neither has a last event of its own, if
 * `[DONE]` is missing.
 */
const open = {
  'chat-completions': streams['chat-completions'].slice(0, -1),
  'generate-content': streams['generate-content'],
}

describe('an upstream that continues after its finish reason', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  /**
   * A transport whose stream sends one of `more` each second after its frames. `sent`: how many;
   * `isClosed`: the gateway has given it up.
   */
  function continuing(frames: readonly string[], more: readonly string[]) {
    const seen = { sent: 0, isClosed: false }
    async function* body() {
      try {
        yield* frames
        for (; seen.sent < 500; seen.sent++) {
          vi.setSystemTime(Date.now() + 1_000)
          yield more[seen.sent % more.length] ?? ''
        }
      } finally {
        seen.isClosed = true
      }
    }
    const transport: Transport = {
      send: async () => ({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: body(),
      }),
    }
    return { seen, transport }
  }

  const [, fetched] = hosts
  const received = async (
    served: Protocol,
    client: Protocol,
    transport: Transport,
    stream = true,
  ) =>
    (
      await fetched?.[1](
        one('http://upstream.test', served, {}, stream ? {} : { streaming: 'only' }),
        { transport },
      )
    )?.(...asking(client, { stream }))

  const cells = (['chat-completions', 'generate-content'] as const).flatMap(served =>
    protocols.map(client => [served, client] as const),
  )

  test.each(cells)(
    'closes the upstream call after ten seconds: %s for a client of %s',
    async (served, client) => {
      const { seen, transport } = continuing(open[served], [delta(served)])
      const response = await received(served, client, transport)
      expect(await sent((await response?.text()) ?? '', client)).toMatch(/^Hello/)
      expect(seen.sent).toBeGreaterThan(8)
      expect(seen.sent).toBeLessThan(12)
      await until(() => seen.isClosed)
    },
  )

  test.each(['chat-completions', 'generate-content'] as const)(
    'closes the upstream call for a client that requested JSON: %s',
    async served => {
      const { seen, transport } = continuing(open[served], [delta(served)])
      const response = await received(served, 'messages', transport, false)
      expect(response?.status).toBe(200)
      expect(await response?.text()).toContain('Hello')
      expect(seen.sent).toBeLessThan(12)
      await until(() => seen.isClosed)
    },
  )

  test.each(protocols)(
    'keeps the upstream call open when each frame has a finish reason: for a client of %s',
    async client => {
      const frame = (text: string) =>
        `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP', index: 0 }] })}\n\n`
      const texts = Array.from({ length: 500 }, (_, index) => `${index} `)
      const { seen, transport } = continuing([frame('begin ')], texts.map(frame))
      const response = await received('generate-content', client, transport)
      expect(await sent((await response?.text()) ?? '', client)).toBe(`begin ${texts.join('')}`)
      expect(seen.sent).toBe(500)
    },
  )

  test('keeps the upstream call open while another candidate has no finish reason', async () => {
    const frame = (index: number, text: string, finish?: string) =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content: text }, finish_reason: finish ?? null }] })}\n\n`
    const { seen, transport } = continuing(
      [frame(0, 'a'), frame(1, 'b'), frame(0, 'c', 'stop')],
      [frame(1, 'd')],
    )
    await (await received('chat-completions', 'chat-completions', transport))?.text()
    expect(seen.sent).toBe(500)
  })
})
