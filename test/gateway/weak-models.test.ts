import { describe, expect, test } from 'vitest'
import { explode } from '../../src/canonical/explode.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { protocols } from '../../src/protocols/index.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import {
  hostsOf,
  one,
  type Protocol,
  pairs,
  post,
  sendJson,
  sendStream,
  upstream,
} from './support.ts'

const request: CanonicalRequest = {
  model: 'm',
  messages: [
    { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'Weather in Rome?' }] },
  ],
  tools: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }],
  maxOutputTokens: 100,
}
const marked = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'
const response: CanonicalResponse = {
  id: 'r_1',
  model: 'm',
  candidates: [
    {
      index: 0,
      messages: [
        {
          role: 'assistant',
          origin: 'message',
          parts: [{ type: 'text', text: `Let me look.\n${marked}` }],
        },
      ],
      finish: { reason: 'stop' },
    },
  ],
  usage: { input: 5, output: 7 },
}

function asked(client: Protocol, stream: boolean): [path: string, init: RequestInit] {
  const { address, encodeRequest } = protocols[client]
  const { wire } = encodeRequest({ ...request, ...(stream && { stream: { enabled: true } }) })
  const path = address.target({ operation: 'generate', model: 'm', stream }) ?? ''
  return [path, post(wire, { 'x-api-key': 'k' })]
}

const sending = (served: Protocol, stream: boolean) =>
  stream
    ? sendStream([encodeStream(protocols[served], explode(response)).text])
    : sendJson(200, protocols[served].encodeResponse(response).wire)

const leaks = { capabilities: { leaksToolCalls: true } }

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each([
    ['whole', false],
    ['streamed', true],
  ])('%s', (_form, stream) => {
    test.each(pairs)(
      'a call that a model wrote as text is one for a client of %s over %s',
      async (client, served) => {
        const seen = await upstream(sending(served, stream))
        const used: UsageRecord[] = []
        const onUsage = (record: UsageRecord) => void used.push(record)
        const ask = await start(one(seen.url, served, { auth: 'none' }, leaks), { onUsage })
        const text = await (await ask(...asked(client, stream))).text()
        expect(text).toContain('Rome')
        expect(text).not.toContain('<tool_call>')
        expect(text).not.toContain('\\u003ctool_call')
        await expect.poll(() => used).toMatchObject([{ emulated: 1 }])
      },
    )

    test.each(pairs)(
      'a model without tools is told of them for a client of %s over %s, and calls them',
      async (client, served) => {
        const seen = await upstream(sending(served, stream))
        const ask = await start(
          one(seen.url, served, { auth: 'none' }, { capabilities: { tools: 'prompt' } }),
        )
        const text = await (await ask(...asked(client, stream))).text()
        expect(seen.calls[0]?.json).not.toHaveProperty('tools')
        expect(seen.calls[0]?.text).toContain('<tools>')
        expect(text).toContain('Rome')
        expect(text).not.toContain('<tool_call>')
      },
    )

    test('the bridge can be turned off', async () => {
      const seen = await upstream(sending('chat-completions', stream))
      const ask = await start(
        one(seen.url, 'chat-completions', { auth: 'none' }, { ...leaks, bridge: false }),
      )
      const text = await (await ask(...asked('messages', stream))).text()
      expect(text).toContain('<tool_call>')
    })
  })

  test.each(['chat-completions', 'messages', 'responses', 'generate-content'] as const)(
    'a long response of %s without calls in its text passes byte for byte',
    async served => {
      const long: CanonicalResponse = {
        ...response,
        candidates: response.candidates.map(candidate => ({
          ...candidate,
          messages: [
            {
              role: 'assistant',
              origin: 'message',
              parts: [{ type: 'text', text: 'It is sunny. '.repeat(1000) }],
            },
          ],
        })),
      }
      const { wire } = protocols[served].encodeResponse(long)
      const bytes = JSON.stringify(wire, undefined, 1)
      const seen = await upstream(answer => {
        answer.writeHead(200, { 'content-type': 'application/json' }).end(bytes)
      })
      const ask = await start(one(seen.url, served, { auth: 'none' }, leaks))
      const [path, init] = asked(served, false)
      const spaced = JSON.stringify(JSON.parse(String(init.body)), undefined, 1)
      const got = await ask(path, { ...init, body: spaced })
      expect(got.status).toBe(200)
      expect(await got.text()).toBe(bytes)
      expect(seen.calls[0]?.text).toBe(spaced)
    },
  )

  test.each([true, false])('a stream has usage if its client asks for it: %s', async wanted => {
    const seen = await upstream(sending('chat-completions', true))
    const ask = await start(one(seen.url, 'chat-completions', { auth: 'none' }, leaks))
    const { wire } = protocols['chat-completions'].encodeRequest({
      ...request,
      stream: { enabled: true },
    })
    const { stream_options: _, ...body } = wire
    const options = { ...body, ...(wanted && { stream_options: { include_usage: true } }) }
    const text = await (await ask('/v1/chat/completions', post(options))).text()
    expect(text).toContain('"tool_calls"')
    expect(/"usage":\s*\{/.test(text)).toBe(wanted)
  })

  test('a server that is known to leak needs no setting', async () => {
    const seen = await upstream(sending('chat-completions', false))
    const ask = await start(
      one(seen.url, 'chat-completions', { auth: 'none' }, {}, { vendor: 'ollama' }),
    )
    const got = await ask(...asked('chat-completions', false))
    expect(got.headers.get('wireglot-notes')).toContain('tool-call.recovered')
    expect(await got.text()).not.toContain('<tool_call>')
  })
})
