import { describe, expect, test } from 'vitest'
import { strictOf } from '../../src/testing/strict/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import { asking, hostsOf, type Protocol, paths, sendJson, sendStream, upstream } from './support.ts'

type Local = 'llama-cpp' | 'ollama' | 'vllm'

const clients = Object.keys(paths) as Protocol[]
const faults: [Local, string][] = [
  [
    'llama-cpp',
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
  ],
  ['llama-cpp', 'Failed to initialize samplers: failed to parse grammar'],
  ['ollama', 'this model is missing data required for image input'],
  ['ollama', 'invalid JSON schema in format'],
  ['vllm', 'thinking_token_budget is set but reasoning_config is not configured'],
]
const bodyOf = (message: string) => ({ error: { code: 500, message, type: 'server_error' } })

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const started = async (vendor: Local | 'generic', url: string, other: string) =>
    start({
      auth: 'none',
      channels: [
        {
          name: 'local',
          vendor,
          baseUrl: url,
          apiKey: 'k',
          ...(vendor === 'generic' && { protocols: ['chat-completions' as const] }),
          breaker: { failures: 1, restMs: 60_000 },
        },
        { name: 'other', baseUrl: other, protocols: ['chat-completions'] },
      ],
      models: [{ id: 'm', channels: [{ name: 'local' }, { name: 'other', priority: 1 }] }],
      defaults: { retries: 2, retryWaitMs: 10 },
    })
  const good = sendJson(200, wireOf('chat-completions').response({ text: 'Hi', ending: 'stop' }))

  test.each(faults)(
    '%s: a 500 that is the fault of the request is its 400: %s',
    async (vendor, message) => {
      for (const client of clients)
        for (const stream of [false, true]) {
          const frame = `data: ${JSON.stringify(bodyOf(message))}\n\n`
          const seen = await upstream(stream ? sendStream([frame]) : sendJson(500, bodyOf(message)))
          const other = await upstream(good)
          const ask = await started(vendor, seen.url, other.url)
          for (let i = 1; i <= 2; i++) {
            const response = await ask(...asking(client, { stream }))
            expect([response.status, seen.calls.length, other.calls.length]).toEqual([400, i, 0])
            const body = await response.json()
            expect(strictOf(client).checkError(body)).toEqual([])
            expect(JSON.stringify(body)).toContain(message.slice(0, 30))
          }
        }
    },
  )

  test.each<[Local | 'generic', string]>([
    ['generic', 'image input is not supported'],
    ['llama-cpp', 'the server is out of memory: image input is not supported'],
  ])('%s: any other 500 is a failure of the server: %s', async (vendor, message) => {
    const seen = await upstream(sendJson(500, bodyOf(message)))
    const other = await upstream(good)
    const ask = await started(vendor, seen.url, other.url)
    expect((await ask(...asking('chat-completions'))).status).toBe(200)
    expect(other.calls.length).toBe(1)
  })
})
