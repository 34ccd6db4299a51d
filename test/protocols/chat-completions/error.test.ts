import { describe, expect, test } from 'vitest'
import type { ErrorKind } from '../../../src/canonical/error.ts'
import { createStreamTranslator, translateError } from '../../../src/index.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { codes } from './run.ts'

const { decodeError, encodeError } = chatCompletions
const read = (status: number, body: unknown, headers: Record<string, string> = {}, now?: number) =>
  decodeError({ status, headers, body }, now === undefined ? {} : { now }).value

describe('decoding an error', () => {
  test.each<[string, number, unknown, ErrorKind, string]>([
    [
      'the common body',
      401,
      {
        error: {
          message: 'wrong key',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
      },
      'authentication',
      'wrong key',
    ],
    [
      'an overflow by its code',
      400,
      { error: { message: 'too much', code: 'context_length_exceeded' } },
      'context_length',
      'too much',
    ],
    [
      'an overflow by its wording',
      400,
      { error: { message: "This model's maximum context length is 4097 tokens." } },
      'context_length',
      "This model's maximum context length is 4097 tokens.",
    ],
    [
      'an overflow in other words',
      400,
      {
        error: {
          message: 'The total length of all messages is too long.',
          type: 'too_many_prompt_tokens',
          code: 400,
        },
      },
      'context_length',
      'The total length of all messages is too long.',
    ],
    [
      'too many requests, with a word for tokens',
      429,
      {
        error: {
          message: 'Request too large for gpt: tokens per min',
          type: 'tokens',
          code: 'rate_limit_exceeded',
        },
      },
      'rate_limit',
      'Request too large for gpt: tokens per min',
    ],
    [
      'no money',
      429,
      { error: { message: 'pay', type: 'insufficient_quota', code: 'insufficient_quota' } },
      'quota',
      'pay',
    ],
    [
      'a filter',
      400,
      { error: { message: 'filtered', type: null, code: 'content_filter' } },
      'content_policy',
      'filtered',
    ],
    [
      'a parameter that is not supported',
      400,
      { error: { message: 'no', code: 'unsupported_parameter' } },
      'unsupported',
      'no',
    ],
    [
      'an unknown model',
      404,
      { error: { message: 'no', code: 'model_not_found' } },
      'not_found',
      'no',
    ],
    ['a code that is a number', 429, { error: { message: 'no', code: 429 } }, 'rate_limit', 'no'],
    ['an error as text', 500, { error: 'boom' }, 'internal', 'boom'],
    ['a detail', 401, { detail: 'Invalid API Key' }, 'authentication', 'Invalid API Key'],
    ['a list of details', 422, { detail: [{ msg: 'x' }] }, 'unprocessable', '[{"msg":"x"}]'],
    [
      'a message at the top',
      400,
      { object: 'error', message: 'bad sampling', type: 'BadRequestError', code: 400 },
      'invalid_request',
      'bad sampling',
    ],
    ['a list', 404, [{ error: { message: 'gone', code: 404 } }], 'not_found', 'gone'],
    [
      'a page',
      502,
      '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>',
      'internal',
      '502 Bad Gateway',
    ],
    ['plain text', 503, 'overloaded, come back', 'overloaded', 'overloaded, come back'],
    ['JSON as text', 400, '{"error":{"message":"m"}}', 'invalid_request', 'm'],
    ['nothing', 500, null, 'internal', 'the upstream gave no reason'],
    [
      'a good status with an error in it',
      200,
      { error: { message: 'm', code: 402 } },
      'billing',
      'm',
    ],
  ])('%s', (_, status, body, kind, message) => {
    const error = read(status, body)
    expect(error).toMatchObject({ kind, message, protocol: 'chat-completions' })
    expect(error.status).toBe(status === 200 ? 402 : status)
  })

  test.each([
    [
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
      400,
    ],
    ['Invalid request: Your request exceeded model token limit: 131072', 400],
    [
      'inputs tokens + max_new_tokens must be <= 32769. Given: 40000 inputs tokens and 100 max_new_tokens',
      422,
    ],
    ['Range of input length should be [1, 129024]', 400],
    ['prompt token count of 140000 exceeds the limit of 128000', 400],
  ])('an overflow as servers word it: %s', (message, status) => {
    expect(
      read(status, { error: { message, type: 'invalid_request_error', code: null } }),
    ).toMatchObject({ kind: 'context_length', message })
  })

  test.each<[unknown, ErrorKind, string]>([
    [
      'slow down, or add your own key',
      'rate_limit',
      'Provider returned error: slow down, or add your own key',
    ],
    [
      '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}',
      'context_length',
      'Provider returned error: prompt is too long: 9 tokens > 8 maximum',
    ],
    [
      { error: { message: 'no such tool' } },
      'invalid_request',
      'Provider returned error: no such tool',
    ],
    ['', 'invalid_request', 'Provider returned error'],
    [null, 'invalid_request', 'Provider returned error'],
    [7, 'invalid_request', 'Provider returned error'],
  ])('the error of the provider behind a gateway is reported: %j', (raw, kind, message) => {
    const status = kind === 'rate_limit' ? 429 : 400
    const error = {
      message: 'Provider returned error',
      code: status,
      metadata: { provider_name: 'P', raw },
    }
    expect(read(status, { error })).toMatchObject({ kind, message })
  })

  test('truncates a long body', () => {
    expect(read(500, 'x'.repeat(9000)).message).toHaveLength(2048)
  })

  test.each<[Record<string, string>, number | undefined, number | undefined]>([
    [{ 'retry-after': '20' }, undefined, 20_000],
    [{ 'Retry-After': '1.5' }, undefined, 1500],
    [{ 'retry-after-ms': '250', 'retry-after': '1' }, undefined, 250],
    [{ 'retry-after': 'Sat, 21 Nov 2026 00:00:30 GMT' }, Date.UTC(2026, 10, 21) / 1000, 30_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 00:00:30 GMT' }, undefined, undefined],
    [{ 'retry-after': 'soon' }, 0, undefined],
  ])('the time to wait in %o, now %s', (headers, now, wait) => {
    expect(read(429, {}, headers, now).retryAfterMs).toBe(wait)
  })

  test('reads the request id', () => {
    expect(read(500, {}, { 'X-Request-Id': 'req_1' }).requestId).toBe('req_1')
  })
})

describe('the type of an error', () => {
  test.each<[number, string, string[]]>([
    [400, 'invalid_request_error', []],
    [403, 'invalid_request_error', []],
    [429, 'tokens', []],
    [503, 'server_error', []],
    [400, 'BadRequestError', ['error.details /error/type']],
    [500, 'authentication_error', ['error.details /error/type']],
    [500, 'invalid_request_error', ['error.details /error/type']],
  ])('is noted where its kind does not imply it: %i %s', (status, type, noted) => {
    const body = { error: { message: 'm', type, param: null, code: null } }
    for (const to of ['responses', 'messages', 'generate-content'] as const) {
      const { notes } = translateError(
        { status, headers: {}, body },
        { from: 'chat-completions', to },
      )
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(noted)
    }
    expect(encodeError(read(status, body)).wire.body).toEqual(body)
    expect(encodeError({ ...read(status, body), message: 'edited' }).wire.body).toMatchObject({
      error: { message: 'edited', type },
    })
  })
})

test('recognizes an invalid request by its type alone, as in a stream', () => {
  const body = { error: { message: 'm', type: 'invalid_request_error', param: null, code: null } }
  expect(read(200, body)).toMatchObject({ kind: 'invalid_request', status: 400 })
  const translator = createStreamTranslator({ from: 'chat-completions', to: 'messages' })
  expect(translator.push(`data: ${JSON.stringify(body)}\n\n`)).toContain(
    '"type":"invalid_request_error"',
  )
})

describe('encoding an error', () => {
  test('keeps status 400 for a wrong key', () => {
    const error = read(400, {
      error: { message: 'Wrong key.', type: 'authentication_error', code: 'invalid_api_key' },
    })
    expect(error.kind).toBe('authentication')
    expect(encodeError(error).wire.status).toBe(400)
  })

  test('maps status 529 of an overload', () => {
    const { wire, notes } = encodeError({
      status: 529,
      kind: 'overloaded',
      message: 'Overloaded',
      type: 'overloaded_error',
      requestId: 'req_1',
      retryAfterMs: 34_400,
      protocol: 'messages',
      raw: {},
    })
    expect(wire).toEqual({
      status: 503,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'req_1',
        'retry-after': '35',
        'retry-after-ms': '34400',
      },
      body: {
        error: { message: 'Overloaded', type: 'server_error', param: null, code: 'overloaded' },
      },
    })
    expect(codes(notes)).toEqual(['error.status'])
  })

  test.each<[ErrorKind, number, string, string | null]>([
    ['context_length', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['authentication', 401, 'invalid_request_error', 'invalid_api_key'],
    ['not_found', 404, 'invalid_request_error', 'model_not_found'],
    ['rate_limit', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['quota', 429, 'insufficient_quota', 'insufficient_quota'],
    ['internal', 500, 'server_error', null],
    ['timeout', 504, 'server_error', 'timeout'],
  ])('%s', (kind, status, type, code) => {
    expect(encodeError({ status: 0, kind, message: 'm' }).wire).toMatchObject({
      status,
      body: { error: { message: 'm', type, param: null, code } },
    })
  })

  test('notes details of another protocol, and keeps its own body', () => {
    expect(
      codes(
        encodeError({
          status: 400,
          kind: 'invalid_request',
          message: 'm',
          details: { x: 1 },
          protocol: 'messages',
        }).notes,
      ),
    ).toEqual(['error.details'])
    const body = { error: { message: 'm', code: 400, metadata: { raw: 'x' } }, user_id: 'u' }
    const own = read(400, body)
    expect(encodeError(own).wire.body).toEqual(body)
    expect(encodeError({ ...own, message: 'edited' }).wire.body).toMatchObject({
      error: { message: 'edited', metadata: { raw: 'x' } },
    })
  })
})
