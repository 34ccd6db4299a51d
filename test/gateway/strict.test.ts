import { describe, expect, test, vi } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import type { UsageRecord } from '../../src/gateway/hooks.ts'
import { wrapSignature } from '../../src/kit/signatures/envelope.ts'
import { covered } from '../support/covered.ts'
import {
  asking,
  hostsOf,
  one,
  type Protocol,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  upstream,
} from './support.ts'

/** A response with a field that no other protocol has. */
const odd = { ...responses.messages, odd_field: { planted: true } }
const oddStream = streams.messages.map(frame =>
  frame.replace(
    '"delta":{"stop_reason":"end_turn"',
    '"odd_field":1,"delta":{"stop_reason":"end_turn"',
  ),
)
const strict = { defaults: { strict: true } }

const others = (protocol: Protocol) => covered.filter(name => name !== protocol)

describe.each(hostsOf(import.meta.url))('through %s, strict', (_, start) => {
  test.each<[client: Protocol, served: Protocol]>([
    ...others('messages').map((client): [Protocol, Protocol] => [client, 'messages']),
    ['messages', 'responses'],
  ])(
    'refuses to %s a response of %s that would drop something, with notes, and a status that is not retried',
    async (client, served) => {
      for (const result of served === 'messages'
        ? [sendJson(200, odd), sendStream(oddStream)]
        : [sendJson(200, { ...responses[served], odd_field: 1 })]) {
        const seen = await upstream(result)
        const ask = await start(one(seen.url, served, { defaults: { strict: true, retries: 2 } }))
        const response = await ask(paths[client], post(requests[client]))
        expect(response.status).toBe(502)
        expect(await response.text()).toContain('refused by strict')
        expect(response.headers.get('wireglot-notes')).toContain('odd_field')
        expect(response.headers.get('x-should-retry')).toBe('false')
        expect(seen.calls.length).toBe(1)
      }
    },
  )

  test('sends no notes in headers when the configuration disables it', async () => {
    const quiet = { defaults: { strict: true, notesHeader: false } }
    const ask = await start(one((await upstream(sendJson(200, odd))).url, 'messages', quiet))
    for (const lost of [{}, { seed: 7 }]) {
      const response = await ask(...asking('chat-completions', lost))
      expect(response.status).toBe('seed' in lost ? 400 : 502)
      expect(response.headers.get('wireglot-notes')).toBeNull()
    }
  })

  test('ends a stream as failed at the first such note', async () => {
    const ask = await start(one((await upstream(sendStream(oddStream))).url, 'messages', strict))
    const text = await (
      await ask(paths['chat-completions'], post({ ...requests['chat-completions'], stream: true }))
    ).text()
    expect(text).toContain('refused by strict')
    expect(text).not.toContain('[DONE]')
  })

  test('returns an error status when nothing was sent before that note', async () => {
    const oddStart = streams.messages.map(frame =>
      frame.replace('"message":{', '"odd_field":1,"message":{'),
    )
    for (const client of others('messages')) {
      const ask = await start(one((await upstream(sendStream(oddStart))).url, 'messages', strict))
      const response = await ask(...asking(client, { stream: true }))
      expect(response.status).toBe(502)
      expect(response.headers.get('wireglot-notes')).toContain('odd_field')
      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(await response.text()).toContain('refused by strict')
    }
  })

  test.each([true, false])(
    'records the cost of a refused response, requested as a stream: %s',
    async stream => {
      for (const client of others('messages')) {
        const records: UsageRecord[] = []
        const hooks = { onUsage: (record: UsageRecord) => void records.push(record) }
        const ask = await start(
          one((await upstream(sendJson(200, odd))).url, 'messages', strict),
          hooks,
        )
        expect(await (await ask(...asking(client, stream ? { stream } : {}))).text()).toContain(
          'refused by strict',
        )
        await vi.waitFor(() =>
          expect(records).toMatchObject([{ status: 502, usage: { input: 3, output: 2 } }]),
        )
      }
    },
  )

  test('passes what drops nothing, and approximations when only drops are refused', async () => {
    const cases: [Parameters<typeof upstream>[number], Partial<GatewayConfig>][] = [
      [sendJson(200, responses.messages), strict],
      [sendStream(streams.messages), strict],
      [sendJson(200, odd), { defaults: { strict: ['approximated'] } }],
    ]
    for (const [response, config] of cases) {
      const ask = await start(one((await upstream(response)).url, 'messages', config))
      expect(
        (await ask(paths['chat-completions'], post(requests['chat-completions']))).status,
      ).toBe(200)
    }
    const ask = await start(
      one((await upstream(sendStream(streams.messages))).url, 'messages', strict),
    )
    expect(
      await sent(
        await (await ask(paths.responses, post({ ...requests.responses, stream: true }))).text(),
        'responses',
      ),
    ).toBe('Hello')
  })

  test('changes nothing between equal protocols', async () => {
    const ask = await start(one((await upstream(sendJson(200, odd))).url, 'messages', strict))
    expect(await (await ask(paths.messages, post(requests.messages))).json()).toEqual(odd)
  })

  test('passes the same response with the note without strict', async () => {
    const ask = await start(one((await upstream(sendJson(200, odd))).url, 'messages'))
    const response = await ask(paths['chat-completions'], post(requests['chat-completions']))
    expect(response.status).toBe(200)
    expect(response.headers.get('wireglot-notes')).toContain('odd_field')
  })
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('a signature of another provider is removed however its characters are escaped', async () => {
    const signature = wrapSignature({
      signature: { value: 'c2ln', issuer: 'responses', form: 'encrypted' },
    })
    const history = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature },
          { type: 'text', text: 'Hello' },
        ],
      },
      { role: 'user', content: 'Continue' },
    ]
    const plain = JSON.stringify({ ...requests.messages, messages: history })
    for (const body of [
      plain,
      plain.replace('"xs1.', '"\\u0078s1.'),
      plain.replace('"xs1.', '"xs1\\u002e'),
    ]) {
      const seen = await upstream(sendJson(200, responses.messages))
      const ask = await start(one(seen.url, 'messages'))
      expect((await ask(paths.messages, post(body))).status).toBe(200)
      expect(seen.calls[0]?.json['messages']).toMatchObject([{}, { content: 'Hello' }, {}])
    }
  })
})
