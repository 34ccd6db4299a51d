import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import { asking, dataOf, hostsOf, sendJson, sendStream, streams, upstream } from './support.ts'

const names = Object.keys(protocols) as ProtocolName[]
const error = { status: 503, kind: 'overloaded', message: 'Overheated' } as const
const script = { text: 'Hello', ending: 'stop' } as const

/** What a stream ends with that fails in each phase, by the protocol of its upstream. */
const phases: [string, (served: ProtocolName) => Parameters<typeof upstream>[0]][] = [
  [
    'before the first byte',
    () => async response => {
      await new Promise(resolve => setTimeout(resolve, 150))
      return sendJson(503, { error: { message: 'Overheated' } })(response)
    },
  ],
  ['before its content', served => sendStream([150, protocols[served].frames.failure(error)])],
  [
    'in its content',
    served => sendStream([...wireOf(served).stream({ ...script, breaks: 'error' })]),
  ],
  [
    'by a broken connection',
    served => sendStream(wireOf(served).stream({ ...script, breaks: 'cut' }), { cut: true }),
  ],
]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each(names)('%s', served => {
    test.each(phases)('a stream that fails %s is a failed response', async (_when, play) => {
      const { url } = await upstream(play(served))
      const ask = await start({
        auth: 'none',
        channels: [{ name: 'up', baseUrl: url, protocols: [served], apiKey: 'k' }],
        models: [{ id: 'm', channels: [{ name: 'up' }] }],
        defaults: { retries: 0, keepAliveMs: 30 },
      })
      const response = await ask(...asking('responses', { stream: true }))
      expect(response.status).toBe(200)
      const events = dataOf(await response.text()) as Record<string, unknown>[]
      if (served !== 'responses') expect(strictOf('responses').checkStream(events)).toEqual([])
      expect(events[0]).toMatchObject({ type: 'response.created' })
      expect(events.findLast(event => typeof event !== 'string')).toMatchObject({
        type: 'response.failed',
        response: { status: 'failed', error: { code: expect.any(String) } },
      })
    })
  })

  test.each([
    ['the end of its connection', []],
    ['[DONE]', ['data: [DONE]\n\n']],
  ])('a lone error of a responses upstream that ends with %s', async (_, ending) => {
    const lone =
      'event: error\ndata: {"type":"error","sequence_number":4,"code":"server_error","message":"Overheated","param":null}\n\n'
    const frames = streams.responses.slice(0, 4)
    const { url } = await upstream(sendStream([...frames, lone, ...ending]))
    const ask = await start({
      auth: 'none',
      channels: [{ name: 'up', baseUrl: url, protocols: ['responses'] }],
      models: [{ id: 'm', channels: [{ name: 'up' }] }],
    })
    const text = await (await ask(...asking('responses', { stream: true }))).text()
    expect(text.startsWith(frames.join('') + lone)).toBe(true)
    const events = dataOf(text) as Record<string, unknown>[]
    expect(events.map(event => event['type'])).toEqual([
      'response.created',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'error',
      'response.failed',
      undefined,
    ])
    expect(events[5]).toMatchObject({
      sequence_number: 5,
      response: { id: 'resp_1', error: { code: 'server_error', message: 'Overheated' } },
    })
  })
})
