import { describe, expect, test } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import type { Hooks, UsageRecord } from '../../src/gateway/gateway.ts'
import { normalizeResponse, textOf } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { explodeResponse } from '../../src/translate/fold.ts'
import {
  hostsOf,
  one,
  type Protocol,
  pairs,
  post,
  sendJson,
  sendStream,
  sent,
  until,
  upstream,
} from './support.ts'

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}
const request: CanonicalRequest = {
  model: 'm',
  messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'How warm?' }] }],
  output: { format: { type: 'schema', name: 'place', schema } },
  maxOutputTokens: 100,
}

function asked(
  client: Protocol,
  stream: boolean,
  given: CanonicalRequest = request,
): [path: string, init: RequestInit] {
  const { address, encodeRequest } = protocols[client]
  const { wire } = encodeRequest({
    ...given,
    ...(stream && { stream: { enabled: true, includeUsage: true } }),
  })
  const path = address.target({ operation: 'generate', model: 'm', stream }) ?? ''
  return [path, post(wire, { 'x-api-key': 'k' })]
}

type Said = string | { text: string; reason: 'length' | 'refusal' } | { status: number }

function responseOf(text: string, reason: 'stop' | 'length' | 'refusal'): CanonicalResponse {
  return {
    id: 'r_1',
    model: 'm',
    candidates: [
      {
        index: 0,
        messages: [{ role: 'assistant', origin: 'message', parts: [{ type: 'text', text }] }],
        finish: { reason },
      },
    ],
    usage: { input: 10, output: 3 },
  }
}

const scripted = (served: Protocol, stream: boolean, said: readonly Said[]) =>
  upstream(
    ...said.map(one => {
      if (typeof one === 'object' && 'status' in one)
        return sendJson(one.status, { error: { message: 'no', type: 'invalid_request_error' } })
      const given = typeof one === 'string' ? { text: one, reason: 'stop' as const } : one
      const { wire } = protocols[served].encodeResponse(responseOf(given.text, given.reason), {
        now: 0,
      })
      return stream
        ? sendStream([explodeResponse(wire, protocols[served], {}).text])
        : sendJson(200, wire)
    }),
  )

function watching() {
  const records: UsageRecord[] = []
  const hooks: Hooks = { logger: false, onUsage: record => void records.push(record) }
  return { records, hooks }
}

const prompted = { capabilities: { structuredOutput: 'prompt' } } as const
const right = { city: 'Rome', degrees: 20 }

async function textIn(response: Response, client: Protocol, stream: boolean): Promise<string> {
  const text = await response.text()
  if (stream) return sent(text, client)
  return textOf(normalizeResponse(JSON.parse(text), { protocol: client }))
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each([false, true])('stream: %s', stream => {
    test.each(pairs)(
      'JSON that does not fit its schema is asked for again, %s client, %s upstream',
      async (client, served) => {
        const { url, calls } = await scripted(served, stream, [
          'Here it is:\n```json\n{"city": "Rome", "degrees": "warm"}\n```',
          `\`\`\`json\n${JSON.stringify(right)}\n\`\`\``,
        ])
        const { records, hooks } = watching()
        const ask = await start(one(url, served, { auth: 'none' }, prompted), hooks)
        const response = await ask(...asked(client, stream))
        expect(response.status).toBe(200)
        const text = await response.text()
        const strict = strictOf(client)
        if (stream) {
          const wires = framesOf(text).map(({ wire }) => wire)
          expect([strict.checkStream(wires), strict.outcome(wires)]).toEqual([[], 'success'])
          expect(JSON.parse(await sent(text, client))).toEqual(right)
        } else {
          expect(strict.checkResponse(JSON.parse(text))).toEqual([])
          const { usage } = normalizeResponse(JSON.parse(text), { protocol: client })
          expect(usage).toMatchObject({ input: 20, output: 6 })
          expect(
            JSON.parse(textOf(normalizeResponse(JSON.parse(text), { protocol: client }))),
          ).toEqual(right)
        }
        expect(calls).toHaveLength(2)
        expect(strictOf(served).checkRequest(calls[1]?.json as never)).toEqual([])
        // The model reads what it has written, and what is wrong with it.
        expect(calls[1]?.text).toContain('/degrees: Instance type')
        await until(() => records.length === 1)
        expect(records[0]).toMatchObject({ usage: { input: 20, output: 6 }, status: 200 })
        expect(records[0]?.noteCodes).toEqual(
          expect.arrayContaining(['output.prompted', 'output.repaired', 'gateway.output-retried']),
        )
        expect(records[0]?.noteCodes).not.toContain('gateway.output-invalid')
      },
    )

    const asking = async (
      said: readonly Said[],
      given?: CanonicalRequest,
      more: object = {},
      client: Protocol = 'messages',
    ) => {
      const { url, calls } = await scripted('chat-completions', stream, said)
      const { records, hooks } = watching()
      const entry = { ...prompted, ...more }
      const ask = await start(one(url, 'chat-completions', { auth: 'none' }, entry), hooks)
      const response = await ask(...asked(client, stream, given))
      const text = await textIn(response, client, stream)
      await until(() => records.length === 1)
      return { text, calls: calls.length, codes: records[0]?.noteCodes ?? [] }
    }

    test('what fits is asked for once', async () => {
      const { text, calls, codes } = await asking([JSON.stringify(right)])
      expect([JSON.parse(text), calls]).toEqual([right, 1])
      expect(codes.filter(code => /output/.test(code))).toEqual(['output.prompted'])
    })

    test('the second answer counts, and a note says that it does not fit either', async () => {
      const { text, calls, codes } = await asking(['{"city": 1}', '{"city": 2}'])
      expect([JSON.parse(text), calls]).toEqual([{ city: 2 }, 2])
      expect(codes).toContain('gateway.output-invalid')
    })

    test('a model that cannot be asked again leaves the first answer', async () => {
      const { text, calls, codes } = await asking(['{"city": 1}', { status: 400 }])
      expect([JSON.parse(text), calls]).toEqual([{ city: 1 }, 2])
      expect(codes).toContain('gateway.output-invalid')
      expect(codes).not.toContain('gateway.output-retried')
    })

    test('what a limit cut off, and a refusal, are not asked for again', async () => {
      const cut = await asking([{ text: '{"city": "Ro', reason: 'length' }])
      expect([cut.text, cut.calls]).toEqual(['{"city": "Ro', 1])
      const refused = await asking([{ text: 'No.', reason: 'refusal' }])
      expect([refused.text, refused.calls]).toEqual(['No.', 1])
    })

    test('without a schema any object will do, and nothing else', async () => {
      const any = { ...request, output: { format: { type: 'json' as const } } }
      const { text, calls } = await asking(
        ['I do not know.', '{"a": 1}'],
        any,
        {},
        'chat-completions',
      )
      expect([JSON.parse(text), calls]).toEqual([{ a: 1 }, 2])
    })

    test('without the bridge nothing is checked', async () => {
      const { text, calls } = await asking(['Hello'], request, { bridge: false })
      expect([text, calls]).toEqual(['Hello', 1])
    })
  })
})
