import { describe, expect, test, vi } from 'vitest'
import { type GatewayConfig, type Hooks, reject } from '../../src/gateway/gateway.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { type CanonicalRequest, collectStream, normalizeResponse, textOf } from '../../src/index.ts'
import {
  hostsOf,
  one,
  type Protocol,
  pairs,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  upstream,
} from './support.ts'

const protocols: Protocol[] = ['chat-completions', 'responses', 'messages', 'generate-content']

/** Replaces text in every text part, as a redaction does. */
const redacted = ({ messages, ...request }: CanonicalRequest): CanonicalRequest => ({
  ...request,
  messages: messages.map(message => ({
    ...message,
    parts: message.parts.map(part => (part.type === 'text' ? { ...part, text: 'redacted' } : part)),
  })),
})

describe.each(hostsOf(import.meta.url))('hooks on bodies through %s', (_, start) => {
  test.each(pairs)(
    'onRequest replaces the canonical request: %s client, %s upstream',
    async (client, served) => {
      const { url, calls: seen } = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(url, served), {
        onRequest: ({ canonical }) => ({ canonical: redacted(canonical) }),
      })
      const response = await ask(paths[client], post(requests[client]))
      expect(response.status).toBe(200)
      await response.text()
      expect(JSON.stringify(seen[0]?.json)).toContain('redacted')
    },
  )

  test('onRequest replaces the wire body, and its model is routed', async () => {
    const { url, calls: seen } = await upstream(sendJson(200, responses.messages))
    const received: unknown[] = []
    const ask = await start(
      one(url, 'messages', {}, { id: 'other', channels: [{ name: 'up', model: 'm' }] }),
      {
        onRequest({ body, protocol, model }) {
          received.push({ protocol, model })
          return { body: { ...Object(body), model: 'other' } }
        },
      },
    )
    expect(
      (await ask(paths.messages, post({ ...requests.messages, model: 'requested' }))).status,
    ).toBe(200)
    expect(received).toEqual([{ protocol: 'messages', model: 'requested' }])
    expect(seen[0]?.json).toMatchObject({ model: 'm' })
  })

  test('a hook that returns nothing changes nothing', async () => {
    const { url, calls: seen } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'), {
      onRequest: () => undefined,
      // Without a return statement, which the type has to allow.
      onResponse({ body }) {
        expect(body).toEqual(responses.messages)
      },
    })
    expect(await (await ask(paths.messages, post(requests.messages))).json()).toEqual(
      responses.messages,
    )
    expect(seen[0]?.json).toEqual(requests.messages)
  })

  test.each(['onRequest', 'onResponse'] as const)(
    '%s refuses with the error that it throws',
    async name => {
      const { url } = await upstream(sendJson(200, responses.messages))
      const ask = await start(one(url, 'messages'), {
        [name]() {
          throw reject(403, 'permission', 'card numbers are not allowed')
        },
      })
      const response = await ask(paths['chat-completions'], post(requests['chat-completions']))
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({
        error: { message: 'card numbers are not allowed' },
      })
    },
  )

  test.each(['onRequest', 'onResponse'] as const)(
    '%s lets no body pass when it fails',
    async name => {
      const { url } = await upstream(sendJson(200, responses.messages))
      const ask = await start(one(url, 'messages'), {
        [name]() {
          throw new TypeError('guardrail')
        },
      })
      const response = await ask(paths['chat-completions'], post(requests['chat-completions']))
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain('guardrail')
    },
  )

  const onResponse: Hooks['onResponse'] = ({ canonical }) => ({
    canonical: {
      ...canonical,
      candidates: canonical.candidates.map(candidate => ({
        ...candidate,
        messages: candidate.messages.map(message => ({
          ...message,
          parts: message.parts.map(part =>
            part.type === 'text' ? { ...part, text: `[${part.text}]` } : part,
          ),
        })),
      })),
    },
  })

  test.each(protocols.flatMap(client => protocols.map(served => [client, served] as const)))(
    'onResponse changes JSON and streams: %s client, %s upstream',
    async (client, served) => {
      for (const stream of [false, true]) {
        const { url } = await upstream(
          stream ? sendStream(streams[served]) : sendJson(200, responses[served]),
        )
        const ask = await start(one(url, served), { onResponse })
        const path =
          stream && client === 'generate-content'
            ? paths[client].replace(':generateContent', ':streamGenerateContent?alt=sse')
            : paths[client]
        const response = await ask(
          path,
          post(client === 'generate-content' ? requests[client] : { ...requests[client], stream }),
        )
        expect(response.status).toBe(200)
        const body = stream
          ? (await collectStream([await response.text()], { protocol: client })).body
          : await response.json()
        expect(textOf(normalizeResponse(body, { protocol: client }))).toMatch(/^\[.+\]$/)
      }
    },
  )

  test('hooks get the request of the host', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const seen: unknown[] = []
    const { auth: _, ...config } = one(url, 'messages')
    const see = (hook: string, raw: unknown) => void seen.push([hook, Object(raw).method])
    const ask = await start(config, {
      authenticate(_, { raw }) {
        see('authenticate', raw)
        return { name: 'alice' }
      },
      onRequest: ({ request, identity }) => see(`onRequest of ${identity.name}`, request.raw),
      route: ({ request }) => see('route', request.raw),
      onResponse: ({ request, identity }) => see(`onResponse of ${identity.name}`, request.raw),
      onUsage: (_, { raw }) => see('onUsage', raw),
      onAttempt: (_, { raw }) => see('onAttempt', raw),
      onNotes: (_, __, { raw }) => see('onNotes', raw),
    })
    await (
      await ask(paths['chat-completions'], post({ ...requests['chat-completions'], seed: 1 }))
    ).text()
    expect(seen).toEqual(
      [
        'authenticate',
        'onRequest of alice',
        'route',
        'onAttempt',
        'onResponse of alice',
        'onUsage',
        'onNotes',
      ].map(hook => [hook, 'POST']),
    )
  })
})

describe('without a logger', () => {
  const config: GatewayConfig = {
    ...one('http://127.0.0.1:1', 'messages'),
    defaults: { retries: 0 },
  }
  const fail = async (hooks: Hooks) => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const handler = fetchGateway(config, hooks)
    await handler(`http://gateway.test${paths.messages}`, post(requests.messages))
    const lines = printed.mock.calls.map(
      ([line]) => JSON.parse(String(line)) as { level: string; message: string; error?: string },
    )
    printed.mockRestore()
    await handler.close(0)
    return lines
  }

  test('warnings and errors are written, one JSON object per line', async () => {
    expect((await fail({})).at(-1)).toMatchObject({
      level: 'error',
      channel: 'up',
      message: expect.stringContaining('reached'),
    })
  })

  test('a fault of the program is written with its stack', async () => {
    const transport = {
      send() {
        throw new TypeError('no such method')
      },
    }
    expect((await fail({ transport })).at(-1)?.error).toMatch(/^TypeError: no such method\n +at /)
  })

  test('`logger: false` writes nothing', async () => {
    expect(await fail({ logger: false })).toEqual([])
  })
})
