import { expect, test, vi } from 'vitest'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { undiciTransport } from '../../src/transports/undici.ts'
import { listenedFetchGateway } from './listening.ts'
import {
  asking,
  failureIn,
  half,
  one,
  pairs,
  sendStream,
  sent,
  streams,
  textBeforeBreak,
  until,
  upstream,
  wait,
} from './support.ts'

test.each(pairs)(
  'a client that got a keep-alive and stopped reading does not delay a close, and gets an error later: %s from %s',
  async (client, served) => {
    const up = await upstream(sendStream([...half(served), 60_000]))
    const handler = listenedFetchGateway(one(up.url, served, { defaults: { keepAliveMs: 20 } }))
    const [path, init] = asking(client, { stream: true })
    const response = await handler(new Request(`http://gateway.test${path}`, init))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!text.endsWith(protocols[client].frames.ping))
      text += decoder.decode((await reader.read()).value)
    await handler.close(50)
    const rest = async () => {
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read())
        text += decoder.decode(value)
    }
    // Toward some clients the connection breaks after the error.
    if (protocols[client].frames.breaksOff)
      await expect(rest()).rejects.toThrow('the gateway is shutting down')
    else await rest()
    const wires = framesOf(text).map(({ wire }) => wire)
    expect(strictOf(client).outcome(wires)).toBe('failed')
    expect(failureIn(text, client)?.message).toBe('the gateway is shutting down')
    await until(() => up.aborted === 1)
  },
)

test('a second close waits for the same end, with its own grace time', async () => {
  const up = await upstream(sendStream([...half('messages'), 60_000]))
  const close = vi.fn(async () => {})
  const transport = undiciTransport()
  const handler = listenedFetchGateway(one(up.url, 'messages'), {
    transport: { send: call => transport.send(call), close },
  })
  const [path, init] = asking('messages', { stream: true })
  const text = textBeforeBreak(await handler(new Request(`http://gateway.test${path}`, init)))
  const first = handler.close(60_000)
  await wait(20)
  await Promise.all([handler.close(0), first])
  await handler.close()
  expect(await text).toContain('"type":"error"')
  expect(close).toHaveBeenCalledTimes(1)
  await transport.close?.()
})

test('without a bound, close waits for all requests', async () => {
  const up = await upstream(
    sendStream([...half('messages'), 100, ...streams.messages.slice(half('messages').length)]),
  )
  const handler = listenedFetchGateway(one(up.url, 'messages'))
  const [path, init] = asking('messages', { stream: true })
  const text = handler(new Request(`http://gateway.test${path}`, init)).then(response =>
    response.text(),
  )
  await until(() => up.calls.length === 1)
  await handler.close(Infinity)
  expect(await sent(await text, 'messages')).toBe('Hello')
})
