import { Readable } from 'node:stream'
import Anthropic, { RateLimitError as AnthropicLimit } from '@anthropic-ai/sdk'
import { PaymentRequiredError as AnthropicPayment } from '@anthropic-ai/sdk/core/error'
import {
  AccessDeniedException,
  BedrockRuntimeClient,
  ConverseCommand,
  ServiceQuotaExceededException,
} from '@aws-sdk/client-bedrock-runtime'
import { ApiError, GoogleGenAI } from '@google/genai'
import type { NodeHttpHandler } from '@smithy/node-http-handler'
import OpenAI, { RateLimitError as OpenAiLimit } from 'openai'
import { describe, expect, test } from 'vitest'
import { translateError } from '../../src/api.ts'
import type { WireError } from '../../src/protocol.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'

const names = Object.keys(protocols) as ProtocolName[]

/** How servers of each protocol say that a quota is spent, and that nobody has paid. */
const spent: Record<ProtocolName, [kind: 'quota' | 'billing', error: WireError][]> = {
  'chat-completions': [
    ['quota', openAi(429, { type: 'insufficient_quota', code: 'insufficient_quota' })],
    ['quota', openAi(403, { type: 'insufficient_quota' })],
    ['quota', openAi(429, { type: 'exceeded_current_quota_error' })],
    ['quota', openAi(429, { code: '1113' }, 'Insufficient balance or no resource package.')],
    ['quota', openAi(403, {}, 'Your team has used all available credits.')],
    ['billing', openAi(402, {}, 'Insufficient Balance')],
  ],
  responses: [
    ['quota', openAi(429, { type: 'insufficient_quota', code: 'insufficient_quota' })],
    ['quota', openAi(429, { type: 'usage_limit_reached' }, 'The usage limit has been reached')],
    ['billing', openAi(402, {})],
  ],
  messages: [
    ['quota', anthropic(400, 'invalid_request_error', 'Your credit balance is too low.')],
    [
      'quota',
      anthropic(
        400,
        'invalid_request_error',
        'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
      ),
    ],
    ['quota', anthropic(429, '1113', 'Insufficient balance or no resource package.')],
    [
      'quota',
      anthropic(429, 'rate_limit_error', 'No', { details: { error_code: 'insufficient_quota' } }),
    ],
    ['billing', anthropic(402, 'billing_error', 'Pay first')],
  ],
  'generate-content': [
    ['quota', google(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.')],
    [
      'quota',
      google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }],
        },
      ]),
    ],
    ['billing', google(400, 'FAILED_PRECONDITION', 'Enable billing first')],
  ],
  converse: [
    ['quota', amazon(400, 'ServiceQuotaExceededException', 'You have no quota left.')],
    ['billing', amazon(403, 'AccessDeniedException', 'INVALID_PAYMENT_INSTRUMENT: add one.')],
  ],
}

function openAi(status: number, more: object, message = 'No'): WireError {
  return { status, headers: {}, body: { error: { message, ...more } } }
}

function anthropic(status: number, type: string, message: string, more: object = {}): WireError {
  return { status, headers: {}, body: { type: 'error', error: { type, message, ...more } } }
}

function google(status: number, word: string, message: string, details?: object[]): WireError {
  const error = { code: status, message, status: word, ...(details && { details }) }
  return { status, headers: {}, body: { error } }
}

function amazon(status: number, name: string, message: string): WireError {
  return { status, headers: { 'x-amzn-errortype': name }, body: { message } }
}

type Thrown = { status?: number; $metadata?: { httpStatusCode?: number } }

/** What the official client throws, and how often it has asked. */
const official: Record<ProtocolName, (error: WireError) => Promise<[Thrown, number]>> = {
  'chat-completions': error =>
    thrown(error, fetch =>
      new OpenAI({ apiKey: 'k', fetch }).chat.completions.create({ model: 'm', messages: [] }),
    ),
  responses: error =>
    thrown(error, fetch =>
      new OpenAI({ apiKey: 'k', fetch }).responses.create({ model: 'm', input: 'x' }),
    ),
  messages: error =>
    thrown(error, fetch =>
      new Anthropic({ apiKey: 'k', fetch }).messages.create({
        model: 'm',
        max_tokens: 9,
        messages: [],
      }),
    ),
  'generate-content': error =>
    thrown(error, async fetch => {
      const before = globalThis.fetch
      globalThis.fetch = fetch
      try {
        await new GoogleGenAI({ apiKey: 'k' }).models.generateContent({ model: 'm', contents: 'x' })
      } finally {
        globalThis.fetch = before
      }
    }),
  async converse({ status, headers, body }) {
    const handle = async () => ({
      response: {
        statusCode: status,
        headers,
        body: Readable.from([Buffer.from(JSON.stringify(body))]),
      },
    })
    const client = new BedrockRuntimeClient({
      region: 'us-east-1',
      token: { token: 'test' },
      authSchemePreference: ['httpBearerAuth'],
      maxAttempts: 1,
      requestHandler: { handle } as unknown as NodeHttpHandler,
    })
    const sent = client.send(new ConverseCommand({ modelId: 'm', messages: [] }))
    return [await sent.catch((error: unknown) => error), 1] as [Thrown, number]
  },
}

async function thrown(
  { status, headers, body }: WireError,
  ask: (fetch: () => Promise<Response>) => Promise<unknown>,
): Promise<[Thrown, number]> {
  let asked = 0
  const fetch = async () => {
    asked++
    return new Response(JSON.stringify(body), { status, headers })
  }
  const error = await ask(fetch).catch((error: unknown) => error)
  return [error as Thrown, asked]
}

const classes = {
  'chat-completions': { quota: [OpenAiLimit, 429], billing: [OpenAiLimit, 429] },
  responses: { quota: [OpenAiLimit, 429], billing: [OpenAiLimit, 429] },
  messages: { quota: [AnthropicLimit, 429], billing: [AnthropicPayment, 402] },
  'generate-content': { quota: [ApiError, 429], billing: [ApiError, 402] },
  converse: { quota: [ServiceQuotaExceededException, 429], billing: [AccessDeniedException, 403] },
} as const

describe('a quota that is spent, and a bill that is not paid', () => {
  test.each(
    names.flatMap(from =>
      names
        .filter(to => to !== from)
        .flatMap(to => spent[from].map(([kind, error]) => ({ from, to, kind, error }))),
    ),
  )('$from → $to: $kind $error.status $error.body', async ({ from, to, kind, error }) => {
    const written = translateError(error, { from, to })
    const [expected, status] = classes[to][kind]
    expect(written.headers['x-should-retry']).toBe('false')
    const [seen, asked] = await official[to](written)
    expect(seen).toBeInstanceOf(expected)
    expect(seen.status ?? seen.$metadata?.httpStatusCode).toBe(status)
    expect(asked).toBe(1)
  })

  test.each(names)('a limit of a minute at %s is none', from => {
    const google = "You exceeded your current quota. Please retry in 34s. It's per minute"
    for (const message of ['Rate limit reached for requests', google, 'Slow down'])
      for (const to of names) {
        if (from === to) continue
        const { wire } = protocols[from].encodeError({ status: 429, kind: 'rate_limit', message })
        const { status, headers } = translateError(wire, { from, to })
        expect([status, headers['x-should-retry']]).toEqual([429, undefined])
      }
  })
})
