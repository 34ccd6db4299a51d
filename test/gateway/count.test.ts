import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/gateway/endpoints/estimate.ts'
import { hostsOf, one, post, sendJson, upstream } from './support.ts'

const body = { model: 'nick', messages: [{ role: 'user', content: 'Hi' }] }

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const systemInstruction = { parts: [{ text: 'Be brief.' }] }

/** How a client of each protocol requests a count, what it gets, and what the upstream gets. */
const counting = {
  messages: {
    path: '/v1/messages/count_tokens',
    asks: { ...body, system: 'Be brief.' },
    request: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], system: 'Be brief.' },
    counted: { input_tokens: 7 },
  },
  responses: {
    path: '/v1/responses/input_tokens',
    asks: { model: 'nick', instructions: 'Be brief.', input: 'Hi' },
    request: { model: 'm', input: expect.anything() },
    counted: { object: 'response.input_tokens', input_tokens: 7 },
  },
  'generate-content': {
    path: '/v1beta/models/nick:countTokens',
    asks: { generateContentRequest: { model: 'models/nick', contents, systemInstruction } },
    request: { generateContentRequest: { model: 'models/m', contents, systemInstruction } },
    counted: { totalTokens: 7 },
  },
} as const
const names = Object.keys(counting) as (keyof typeof counting)[]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('returns the count of an upstream of the same protocol, under its own model name', async () => {
    const seen = await upstream(sendJson(200, { input_tokens: 7 }))
    const ask = await start(
      one(seen.url, 'messages', {}, { id: 'nick', channels: [{ name: 'up', model: 'm' }] }),
    )
    const response = await ask('/v1/messages/count_tokens', post(body))
    expect(await response.json()).toEqual({ input_tokens: 7 })
    expect(response.headers.get('wireglot-estimate')).toBeNull()
    expect(seen.calls).toMatchObject([{ path: '/v1/messages/count_tokens', json: { model: 'm' } }])
  })

  test.each<['messages' | 'chat-completions', number]>([
    ['chat-completions', 200],
    ['messages', 404],
  ])(
    'marks an estimate as such when the upstream cannot count: %s, %i',
    async (protocol, status) => {
      const { url } = await upstream(sendJson(status, { error: { message: 'No' } }))
      const ask = await start(one(url, protocol, {}, { id: 'nick' }))
      const response = await ask('/v1/messages/count_tokens', post(body))
      expect(response.status).toBe(200)
      expect(response.headers.get('wireglot-estimate')).toBe('true')
      expect(await response.json()).toMatchObject({ input_tokens: expect.any(Number) })
    },
  )

  test.each(names.flatMap(from => names.filter(to => to !== from).map(to => ({ from, to }))))(
    'for a client of $from returns the count of an upstream of $to',
    async ({ from, to }) => {
      const seen = await upstream(sendJson(200, counting[to].counted))
      const ask = await start(
        one(seen.url, to, {}, { id: 'nick', channels: [{ name: 'up', model: 'm' }] }),
      )
      const response = await ask(counting[from].path, post(counting[from].asks))
      expect(await response.json()).toEqual(counting[from].counted)
      expect(response.headers.get('wireglot-estimate')).toBeNull()
      expect(seen.calls).toMatchObject([
        { path: counting[to].path.replace('nick', 'm'), json: counting[to].request },
      ])
      const sent = JSON.stringify(seen.calls[0]?.json)
      expect(sent).toContain('Be brief.')
      // Servers refuse what has no tokens.
      expect(sent).not.toMatch(/max_tokens|"store"|"stream"|"include"/)
    },
  )

  test.each<[what: string, status: number, counted: object]>([
    ['does not know the call', 404, { error: { code: 404, message: 'No', status: 'NOT_FOUND' } }],
    [
      'refuses the request',
      400,
      { error: { code: 400, message: 'No', status: 'INVALID_ARGUMENT' } },
    ],
    ['reports no number', 200, { totalTokens: 'many' }],
  ])('returns an estimate when an upstream of another protocol %s', async (_, status, reported) => {
    const { url } = await upstream(sendJson(status, reported))
    const ask = await start(one(url, 'generate-content', {}, { id: 'nick' }))
    const response = await ask('/v1/messages/count_tokens', post(body))
    expect({
      status: response.status,
      estimate: response.headers.get('wireglot-estimate'),
    }).toEqual({ status: 200, estimate: 'true' })
    expect(await response.json()).toMatchObject({ input_tokens: expect.any(Number) })
  })

  test('returns other failures of the count as errors', async () => {
    const { url } = await upstream(
      sendJson(400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Too odd' },
      }),
    )
    const ask = await start(one(url, 'messages', {}, { id: 'nick' }))
    const response = await ask('/v1/messages/count_tokens', post(body))
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('Too odd')
  })
})

test('an estimate is rather too high than too low, and counts an image as one', () => {
  expect(estimateTokens('word '.repeat(300))).toBeGreaterThan(300)
  expect(estimateTokens('漢字'.repeat(50))).toBeGreaterThanOrEqual(100)
  const image = estimateTokens({
    type: 'image',
    source: { type: 'base64', data: 'A'.repeat(1_000_000) },
  })
  expect(image).toBeGreaterThan(1_000)
  expect(image).toBeLessThan(3_000)
})
