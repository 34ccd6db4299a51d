import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/gateway/estimate.ts'
import { hosts, one, post, sendJson, upstream } from './support.ts'

const body = { model: 'nick', messages: [{ role: 'user', content: 'Hi' }] }

describe.each(hosts)('through %s', (_, start) => {
  test('an upstream of the same protocol counts, under its own name of the model', async () => {
    const seen = await upstream(sendJson(200, { input_tokens: 7 }))
    const ask = await start(one(seen.url, 'messages', {}, { id: 'nick', channels: [{ name: 'up', model: 'm' }] }))
    const response = await ask('/v1/messages/count_tokens', post(body))
    expect(await response.json()).toEqual({ input_tokens: 7 })
    expect(response.headers.get('wireglot-estimate')).toBeNull()
    expect(seen.calls).toMatchObject([{ path: '/v1/messages/count_tokens', json: { model: 'm' } }])
  })

  test.each<['messages' | 'chat-completions', number]>([
    ['chat-completions', 200],
    ['messages', 404],
  ])('where the upstream (%s, %i) cannot count, it is an estimate that says so', async (protocol, status) => {
    const { url } = await upstream(sendJson(status, { error: { message: 'No' } }))
    const ask = await start(one(url, protocol, {}, { id: 'nick' }))
    const response = await ask('/v1/messages/count_tokens', post(body))
    expect(response.status).toBe(200)
    expect(response.headers.get('wireglot-estimate')).toBe('true')
    expect(await response.json()).toMatchObject({ input_tokens: expect.any(Number) })
  })

  test('another failure of the count is a failure', async () => {
    const { url } = await upstream(sendJson(400, { type: 'error', error: { type: 'invalid_request_error', message: 'Too odd' } }))
    const ask = await start(one(url, 'messages', {}, { id: 'nick' }))
    const response = await ask('/v1/messages/count_tokens', post(body))
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('Too odd')
  })
})

test('an estimate is rather too high than too low, and counts a picture as one', () => {
  expect(estimateTokens('word '.repeat(300))).toBeGreaterThan(300)
  expect(estimateTokens('漢字'.repeat(50))).toBeGreaterThanOrEqual(100)
  const picture = estimateTokens({ type: 'image', source: { type: 'base64', data: 'A'.repeat(1_000_000) } })
  expect(picture).toBeGreaterThan(1_000)
  expect(picture).toBeLessThan(3_000)
})
