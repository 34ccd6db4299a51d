import { describe, expect, test } from 'vitest'
import {
  asking,
  hostsOf,
  one,
  type Protocol,
  pairs,
  responses,
  sendJson,
  upstream,
} from './support.ts'

const asks: Record<Protocol, (tokens: number) => Record<string, unknown>> = {
  'chat-completions': tokens => ({ max_completion_tokens: tokens, max_tokens: undefined }),
  responses: tokens => ({ max_output_tokens: tokens }),
  messages: tokens => ({ max_tokens: tokens }),
  'generate-content': tokens => ({ generationConfig: { maxOutputTokens: tokens } }),
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(pairs)(
    'what a client of %s asks for is lowered to maxOutputTokens of its model over %s',
    async (client, served) => {
      const seen = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(seen.url, served, {}, { maxOutputTokens: 500 }))
      const more = await ask(...asking(client, asks[client](90_001)))
      expect(more.status).toBe(200)
      expect(JSON.stringify(seen.calls[0]?.json)).not.toContain('90001')
      expect(JSON.stringify(seen.calls[0]?.json)).toContain('500')
      expect(more.headers.get('wireglot-notes')).toContain('max-tokens.lowered')
      const less = await ask(...asking(client, asks[client](77)))
      expect(JSON.stringify(seen.calls[1]?.json)).toContain('77')
      expect(less.headers.get('wireglot-notes') ?? '').not.toContain('max-tokens')
    },
  )

  test('a listing shows the limits that are known, unless the configuration states others', async () => {
    const channels = [{ name: 'demo', embedded: 'demo' as const }]
    const ask = await start({
      auth: 'none',
      channels,
      models: [
        { id: 'fast', channels: [{ name: 'demo', model: 'claude-haiku-4-5' }] },
        { id: 'claude-opus-5', channels: [{ name: 'demo' }], maxOutputTokens: 1000 },
        { id: 'mine', channels: [{ name: 'demo' }] },
      ],
    })
    const headers = { 'anthropic-version': '2023-06-01' }
    const { data } = (await (await ask('/v1/models', { headers })).json()) as {
      data: { id: string; max_tokens?: number; max_input_tokens?: number }[]
    }
    const limits = data.map(({ id, max_tokens, max_input_tokens }) => ({
      id,
      limits: [max_input_tokens, max_tokens],
    }))
    expect(limits).toContainEqual({ id: 'fast', limits: [200_000, 64_000] })
    expect(limits).toContainEqual({ id: 'claude-opus-5', limits: [1_000_000, 1000] })
    expect(limits.find(({ id }) => id === 'mine')?.limits.some(Number)).toBe(false)
  })
})
