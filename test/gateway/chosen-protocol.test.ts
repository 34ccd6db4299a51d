import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/index.ts'
import { vendors } from '../../src/vendors/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import { asking, hostsOf, type Protocol, paths, sendJson, upstream } from './support.ts'

type Vendor = 'ollama' | 'llama-cpp' | 'vllm' | 'sglang' | 'lm-studio' | 'litellm'

const clients = Object.keys(paths) as Protocol[]
const protocolAt = (path: string | undefined) =>
  Object.entries(paths).find(([, one]) => one === path)?.[0]

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

/** Structured output, as each client asks for it. */
const format: Record<Protocol, object> = {
  'chat-completions': {
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
  },
  responses: { text: { format: { type: 'json_schema', name: 'a', schema } } },
  messages: { output_config: { format: { type: 'json_schema', schema } } },
  'generate-content': {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  },
}
const plain: Record<Protocol, object> = {
  'chat-completions': { response_format: { type: 'text' }, tool_choice: 'auto' },
  responses: { text: { format: { type: 'text' } } },
  messages: { tool_choice: { type: 'auto' } },
  'generate-content': { generationConfig: { responseMimeType: 'text/plain' } },
}
const tools = [{ name: 'f', input_schema: { type: 'object' } }]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  /** What the upstream got of a request. */
  async function sentTo(vendor: Vendor, client: Protocol, more: object, addition = '') {
    const answer = (served: ProtocolName) =>
      sendJson(200, wireOf(served).response({ text: 'Hi', ending: 'stop' }))
    const seen = await upstream((response, { path }) =>
      answer((protocolAt(path) ?? 'chat-completions') as ProtocolName)(response),
    )
    const ask = await start({
      auth: 'none',
      channels: [{ vendor, baseUrl: seen.url + addition, apiKey: 'k' }],
    })
    const response = await ask(...asking(client, { ...more }))
    expect(response.status).toBe(200)
    return { protocol: protocolAt(seen.calls[0]?.path), call: seen.calls[0], response }
  }

  test.each<Vendor>(['ollama', 'llama-cpp', 'vllm', 'sglang', 'lm-studio', 'litellm'])(
    'a base URL of the user serves the protocols of %s',
    async vendor => {
      for (const { protocol, support } of vendors[vendor].endpoints as readonly {
        protocol: Protocol
        support?: 'partial'
      }[])
        for (const addition of ['', '/v1', '/v1/', '/gpu/1']) {
          const { call } = await sentTo(vendor, protocol, plain[protocol], addition)
          const served = support === 'partial' ? 'chat-completions' : protocol
          expect(call?.path).toBe(`${addition.replace(/\/v1\/?$/, '')}${paths[served]}`)
        }
    },
  )

  test.each<[Vendor, ProtocolName]>([
    ['ollama', 'chat-completions'],
    ['llama-cpp', 'chat-completions'],
    ['vllm', 'messages'],
  ])('%s gets structured output of messages over %s', async (vendor, served) => {
    for (const client of clients) {
      const { protocol } = await sentTo(vendor, client, format[client])
      expect(protocol).toBe(client === 'messages' ? served : 'chat-completions')
    }
    expect((await sentTo(vendor, 'messages', plain.messages)).protocol).toBe('messages')
  })

  test('a budget of thinking tokens is sent to vLLM over chat-completions', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    expect((await sentTo('vllm', 'messages', { thinking, max_tokens: 2000 })).protocol).toBe(
      'chat-completions',
    )
  })

  test('llama.cpp gets a forced tool alone', async () => {
    const more = [...tools, { name: 'g', input_schema: { type: 'object' } }]
    const { call, protocol } = await sentTo('llama-cpp', 'messages', {
      tools: more,
      tool_choice: { type: 'tool', name: 'g' },
    })
    expect(protocol).toBe('chat-completions')
    expect(call?.json).toMatchObject({
      tool_choice: 'required',
      tools: [{ function: { name: 'g' } }],
    })
  })

  test('Ollama gets no tools where none may be called, and a forced tool is a note', async () => {
    const none = await sentTo('ollama', 'messages', { tools, tool_choice: { type: 'none' } })
    expect(none.call?.json).not.toHaveProperty('tools')
    const forced = await sentTo('ollama', 'messages', { tools, tool_choice: { type: 'any' } })
    expect(forced.call?.json).toHaveProperty('tools')
    expect(forced.call?.json).not.toHaveProperty('tool_choice')
    expect(forced.response.headers.get('wireglot-notes')).toContain('tool-choice.not-forced')
  })
})
