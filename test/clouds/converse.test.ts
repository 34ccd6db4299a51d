import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { urlOf } from '../../src/address/paths.ts'
import { eventStream } from '../../src/eventstream/framing.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { parseConfig } from '../../src/gateway/options.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { vendors } from '../../src/vendors/index.ts'
import { protocolFor } from '../../src/vendors/settings.ts'
import { hostsOf, post, requests } from '../gateway/support.ts'
import { wireOf } from '../support/upstreams/index.ts'
import {
  json,
  type Keys,
  type Received,
  refusalOfSignature,
  server,
  withoutAws,
} from './support.ts'

const fixed: Keys = {
  accessKeyId: 'AKIAFIXED0000000TEST',
  secretAccessKey: 'fixed/secret+access/key+of+the+test+0001',
}
const model = 'us.amazon.nova-pro-v1:0'
const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/mi1dadi0g15f'

beforeEach(withoutAws)
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('a channel with the vendor bedrock', () => {
  const chosen = (caller: ProtocolName, name: string) =>
    protocolFor(vendors.bedrock, caller, { model: name, hasTools: true })

  test.each<[name: string, protocols: Record<Exclude<ProtocolName, 'converse'>, ProtocolName>]>([
    [
      model,
      {
        messages: 'converse',
        responses: 'converse',
        'chat-completions': 'converse',
        'generate-content': 'converse',
      },
    ],
    [
      'meta.llama4-maverick-17b-instruct-v1:0',
      {
        messages: 'converse',
        responses: 'converse',
        'chat-completions': 'converse',
        'generate-content': 'converse',
      },
    ],
    [
      'us.deepseek.r1-v1:0',
      {
        messages: 'converse',
        responses: 'converse',
        'chat-completions': 'converse',
        'generate-content': 'converse',
      },
    ],
    [
      'deepseek.v3.2',
      {
        messages: 'converse',
        responses: 'converse',
        'chat-completions': 'chat-completions',
        'generate-content': 'converse',
      },
    ],
    [
      'openai.gpt-oss-120b',
      {
        messages: 'chat-completions',
        responses: 'chat-completions',
        'chat-completions': 'chat-completions',
        'generate-content': 'chat-completions',
      },
    ],
    [
      'us.openai.gpt-5.6',
      {
        messages: 'responses',
        responses: 'responses',
        'chat-completions': 'chat-completions',
        'generate-content': 'responses',
      },
    ],
    [
      'us.anthropic.claude-opus-5',
      {
        messages: 'messages',
        responses: 'messages',
        'chat-completions': 'messages',
        'generate-content': 'messages',
      },
    ],
  ])('sends %s by the API that serves it', (name, protocols) => {
    for (const [caller, protocol] of Object.entries(protocols))
      expect(chosen(caller as ProtocolName, name), caller).toBe(protocol)
    expect(chosen('converse', name)).toBe('converse')
    expect(
      chosen('messages', `arn:aws:bedrock:us-east-1:123456789012:inference-profile/${name}`),
    ).toBe(protocols.messages)
  })

  test('has Converse under the host of its region', () => {
    const [channel] = parseConfig(
      {
        auth: 'none',
        channels: [{ vendor: 'bedrock', region: 'eu-west-1', apiKey: 'key-0123456789' }],
      },
      {},
    ).channels
    expect(channel?.endpoints.converse).toMatchObject({
      baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
      auth: 'bearer',
    })
  })
})

test('a version in a base URL does not shorten a path without one', () => {
  expect(urlOf('https://h/v1', '/model/m/converse')).toBe('https://h/v1/model/m/converse')
  expect(urlOf('https://h', '/model/m/converse', false)).toBe('https://h/model/m/converse')
})

const configFor = (baseUrl: string, more: object): GatewayConfig => ({
  auth: 'none',
  channels: [{ vendor: 'bedrock', region: 'us-east-1', baseUrl, protocols: ['converse'], ...more }],
  defaults: { retries: 0 },
})

const { response: whole, stream: streamed } = wireOf('converse')
const hello = { text: 'Hello', ending: 'stop' } as const
const respond = ({ path }: Received, response: ServerResponse) => {
  if (path.endsWith('/converse')) return json(response, 200, whole(hello))
  response.writeHead(200, {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-requestid': 'aws-1',
  })
  return response.end(eventStream.encode()(streamed(hello).join('')))
}

const bodies: Record<ProtocolName, Record<string, unknown>> = {
  ...requests,
  converse: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(protocolNames)(
    'sends requests of %s with a Bedrock API key to the paths of their model',
    async client => {
      const upstream = await server(respond)
      const send = await start(configFor(upstream.url, { apiKey: 'bedrock-api-key-0123456789' }))
      for (const stream of [false, true]) {
        const path =
          protocols[client].address.target({ operation: 'generate', model, stream }) ?? ''
        const named = 'model' in bodies[client] ? { model, ...(stream && { stream }) } : {}
        const response = await send(path, post({ ...bodies[client], ...named }))
        expect(response.status).toBe(200)
        expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toContain('Hello')
      }
      expect(upstream.calls.map(({ path }) => path)).toEqual([
        '/model/us.amazon.nova-pro-v1%3A0/converse',
        '/model/us.amazon.nova-pro-v1%3A0/converse-stream',
      ])
      for (const { headers, text } of upstream.calls) {
        expect(headers['authorization']).toBe('Bearer bedrock-api-key-0123456789')
        const sent: unknown = JSON.parse(text)
        expect(sent).not.toHaveProperty('stream')
        expect(sent).not.toHaveProperty('model')
      }
    },
  )

  test.each([model, profile])('signs calls to the path of %s', async name => {
    const upstream = await server(async (received, response) => {
      const refusal = await refusalOfSignature(received, {
        service: 'bedrock',
        region: 'us-east-1',
        keys: [fixed],
      })
      return refusal
        ? json(response, 403, { message: refusal.message }, { 'x-amzn-errortype': refusal.type })
        : respond(received, response)
    })
    const send = await start(configFor(upstream.url, { auth: { aws: fixed } }))
    for (const stream of [false, true]) {
      const response = await send(
        '/v1/messages',
        post({ ...requests.messages, model: name, stream }),
      )
      expect(response.status, await response.text()).toBe(200)
    }
    expect(upstream.calls.map(({ path }) => path)).toEqual(
      ['converse', 'converse-stream'].map(action => `/model/${encodeURIComponent(name)}/${action}`),
    )
  })

  test('reports a refusal with the kind of its exception', async () => {
    const upstream = await server((_received, response) =>
      json(
        response,
        429,
        { message: 'Too many tokens, please wait before trying again.' },
        { 'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/' },
      ),
    )
    const send = await start(configFor(upstream.url, { apiKey: 'bedrock-api-key-0123456789' }))
    const response = await send('/v1/messages', post({ ...requests.messages, model }))
    expect(response.status).toBe(429)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: 'Too many tokens, please wait before trying again.',
      },
    })
  })
  test('passes the name of an exception to its own clients, which read it in a header', async () => {
    const name = 'ModelErrorException:http://internal.amazon.com/coral/com.amazon.bedrock/'
    const upstream = await server((_received, response) =>
      json(
        response,
        424,
        { message: 'No.', originalStatusCode: 500 },
        { 'x-amzn-errortype': name },
      ),
    )
    const send = await start(configFor(upstream.url, { apiKey: 'bedrock-api-key-0123456789' }))
    const response = await send(
      `/model/${encodeURIComponent(model)}/converse`,
      post(bodies.converse),
    )
    expect(response.status).toBe(424)
    expect(response.headers.get('x-amzn-errortype')).toBe('ModelErrorException')
    expect(await response.json()).toEqual({ message: 'No.', originalStatusCode: 500 })
  })
})
