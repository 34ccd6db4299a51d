import { describe, expect, test } from 'vitest'
import { refusedField } from '../../src/gateway/upstream/learned.ts'
import { hostsOf, post, requests, responses, sendJson, upstream } from './support.ts'

const chat = 'chat-completions'
const refused = (field: string) =>
  sendJson(400, {
    error: {
      message: `property '${field}' is unsupported`,
      type: 'invalid_request_error',
      param: field,
      code: null,
    },
  })

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const channel = (url: string, more = {}) => ({
    auth: 'none' as const,
    channels: [
      {
        name: 'up',
        protocols: [chat] as [typeof chat],
        baseUrl: url,
        apiKey: 'key-0123456789',
        ...more,
      },
    ],
  })
  const body = { ...requests[chat], user: 'me', logit_bias: { 1: 2 } }

  test('drops a field that the upstream refuses, notes it, and does not send it again', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      sendJson(200, responses[chat]),
      sendJson(200, responses[chat]),
    )
    const ask = await start(channel(seen.url))
    const response = await ask('/v1/chat/completions', post(body))
    expect(response.status).toBe(200)
    expect(response.headers.get('wireglot-notes')).toContain('model.unsupported')
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(200)
    expect(seen.calls.map(({ json }) => 'logit_bias' in json)).toEqual([true, false, false])
    expect(seen.calls.map(({ json }) => json['user'])).toEqual(['me', 'me', 'me'])
  })

  test('logs a learned field, and lists it at /client-config for keys with access to the model', async () => {
    const warned: unknown[] = []
    const logger = { info() {}, error() {}, warn: (details: object) => void warned.push(details) }
    const seen = await upstream(refused('logit_bias'), sendJson(200, responses[chat]))
    const keys = ['team', 'others'].map(name => ({
      name,
      key: `client-secret-${name}`,
      group: name,
    }))
    const groups = { team: { models: ['fast'] }, others: { models: ['slow'] } }
    const models = ['fast', 'slow'].map(id => ({ id, channels: [{ name: 'up' }] }))
    const ask = await start(
      { channels: channel(seen.url).channels, keys, groups, models },
      { logger },
    )
    const as = (name: string) => ({ authorization: `Bearer client-secret-${name}` })
    const learnedBy = async (name: string) =>
      ((await (await ask('/client-config', { headers: as(name) })).json()) as { learned: unknown })
        .learned
    expect(await learnedBy('team')).toEqual({})
    expect(
      (await ask('/v1/chat/completions', post({ ...body, model: 'fast' }, as('team')))).status,
    ).toBe(200)
    expect(warned).toContainEqual({ channel: 'up', model: 'fast', field: 'logit_bias' })
    expect(await learnedBy('team')).toEqual({ fast: ['logit_bias'] })
    expect(await learnedBy('others')).toEqual({})
  })

  test('drops several refused fields one after another', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      refused('user'),
      sendJson(200, responses[chat]),
    )
    const ask = await start(channel(seen.url))
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(200)
    expect(
      seen.calls.map(({ json }) =>
        Object.keys(json).filter(key => key === 'user' || key === 'logit_bias'),
      ),
    ).toEqual([['user', 'logit_bias'], ['user'], []])
  })

  test('sends no third request when the upstream refuses the same field again', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      refused('logit_bias'),
      sendJson(200, responses[chat]),
    )
    const ask = await start(channel(seen.url))
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(400)
    expect(seen.calls.length).toBe(2)
  })

  test('a client of another protocol gets the response, too', async () => {
    const seen = await upstream(refused('temperature'), sendJson(200, responses[chat]))
    const ask = await start(channel(seen.url))
    const response = await ask(
      '/v1/messages',
      post({
        model: 'm',
        max_tokens: 9,
        temperature: 0.5,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    )
    expect(response.status).toBe(200)
    expect(seen.calls.map(({ json }) => 'temperature' in json)).toEqual([true, false])
  })

  test('learnUnsupported: false returns the refusal', async () => {
    const seen = await upstream(refused('logit_bias'), sendJson(200, responses[chat]))
    const ask = await start(channel(seen.url, { learnUnsupported: false }))
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(400)
    expect(seen.calls.length).toBe(1)
  })
})

describe('the field that an error refuses', () => {
  const error = { status: 400, kind: 'invalid_request' as const }

  test.each([
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
    ],
    ["Unknown parameter: 'safety_identifier'.", 'safety_identifier'],
    ['Unrecognized request argument supplied: store', 'store'],
    [
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      'temperature',
    ],
    ['context_management: Extra inputs are not permitted', 'context_management'],
    [
      '[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted"}]',
      'store',
    ],
    ["property 'store' is unsupported", 'store'],
    ["property 'body.store' is unsupported", 'store'],
    ['Invalid JSON payload received. Unknown name "store": Cannot find field.', 'store'],
    ['Argument not supported on this model: presencePenalty', 'presencePenalty'],
    ['`temperature` is deprecated for this model.', 'temperature'],
    [
      'Failed to deserialize the JSON body: unknown field `store`, expected one of `model`',
      'store',
    ],
    [
      "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again.",
      'toolConfig.toolChoice.any',
    ],
    [
      "This model doesn't support the inferenceConfig.topP field. Remove inferenceConfig.topP and try again.",
      'inferenceConfig.topP',
    ],
  ])('finds the field in: %s', (message, field) => {
    expect(refusedField({ ...error, message })).toBe(field)
  })

  test.each([
    "role 'system' is not supported on this model",
    "Unsupported parameter: 'messages'",
    'Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions.',
    'the model is overloaded',
    "Unsupported parameter: 'previous_response_id'",
    "Unknown parameter: 'response_format'.",
    "Unknown parameter: 'a; drop'",
    // These are in the conversation.
    "This model doesn't support the status field. Remove status and try again.",
    "This model doesn't support the reasoningContent.reasoningText.text field for assistant messages",
  ])('finds no field in: %s', message => {
    expect(refusedField({ ...error, message })).toBeUndefined()
  })

  test('finds no field for another status', () => {
    expect(
      refusedField({ status: 500, kind: 'internal', message: "Unknown parameter: 'store'." }),
    ).toBeUndefined()
  })
})
