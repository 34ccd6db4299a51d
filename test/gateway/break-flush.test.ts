import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import { asking, hostsOf, type Protocol, sendStream, upstream } from './support.ts'

const served = Object.keys(protocols) as ProtocolName[]
const broken: Protocol[] = ['messages', 'generate-content']

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(served.flatMap(name => broken.map(client => [client, name] as const)))(
    'a client of %s has time to read the error frame before the connection breaks: %s upstream',
    async (client, name) => {
      const frames = wireOf(name).stream({ text: 'Hello', ending: 'stop', breaks: 'cut' })
      const { url } = await upstream(sendStream([...frames, 20], { cut: true }))
      const ask = await start({
        auth: 'none',
        channels: [{ name: 'up', baseUrl: url, protocols: [name], apiKey: 'k' }],
        models: [{ id: 'm', channels: [{ name: 'up' }] }],
        defaults: { retries: 0 },
      })
      const { body } = await ask(...asking(client, { stream: true }))
      let text = ''
      let saidAt = 0
      let brokeAt = 0
      try {
        for await (const chunk of body ?? []) {
          text += new TextDecoder().decode(chunk)
          if (!saidAt && text.includes('broke the connection')) saidAt = performance.now()
        }
      } catch {
        brokeAt = performance.now()
      }
      expect(saidAt).toBeGreaterThan(0)
      expect(brokeAt - saidAt).toBeGreaterThan(80)
    },
  )
})
