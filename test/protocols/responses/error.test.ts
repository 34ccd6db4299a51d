import { describe, expect, test } from 'vitest'
import type { ErrorKind } from '../../../src/canonical/error.ts'
import { collectStream } from '../../../src/index.ts'
import { responses } from '../../../src/protocols/responses/index.ts'

const read = (status: number, body: unknown, headers = {}) =>
  responses.decodeError({ status, headers, body }).value

test.each<[number, unknown, ErrorKind]>([
  [
    400,
    {
      error: {
        message: 'm',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
    'context_length',
  ],
  [
    400,
    { error: { message: 'm', type: 'invalid_request_error', param: null, code: null } },
    'invalid_request',
  ],
  [400, { error: { message: 'm', code: 'unsupported_value' } }, 'unsupported'],
  [
    401,
    { error: { message: 'm', type: 'invalid_request_error', code: 'invalid_api_key' } },
    'authentication',
  ],
  [402, { error: { message: 'm', code: 'insufficient_quota' } }, 'billing'],
  [403, { error: { message: 'm' } }, 'permission'],
  [404, { error: { message: 'm', code: 'model_not_found' } }, 'not_found'],
  [413, 'too big', 'too_large'],
  [429, { error: { message: 'm', type: 'tokens', code: 'rate_limit_exceeded' } }, 'rate_limit'],
  [
    429,
    { error: { message: 'm', type: 'insufficient_quota', code: 'insufficient_quota' } },
    'quota',
  ],
  [500, { error: { message: 'm', type: 'server_error' } }, 'internal'],
  [502, '<html>bad gateway</html>', 'internal'],
  [503, { error: { message: 'm' } }, 'unavailable'],
  [503, { error: { message: 'm', code: 'overloaded' } }, 'overloaded'],
  [400, { code: 'invalid-argument', error: 'Incorrect key' }, 'invalid_request'],
  [418, undefined, 'invalid_request'],
])('%i with %j is %s', (status, body, kind) => {
  expect(read(status, body)).toMatchObject({ status, kind, protocol: 'responses' })
})

test.each<[string, number, ErrorKind]>([
  ['rate_limit_exceeded', 429, 'rate_limit'],
  ['insufficient_quota', 429, 'quota'],
  ['vector_store_timeout', 504, 'timeout'],
  ['invalid_prompt', 400, 'invalid_request'],
  ['data_residency_mismatch', 400, 'invalid_request'],
  ['image_parse_error', 400, 'invalid_request'],
  ['failed_to_download_image', 400, 'invalid_request'],
  ['image_content_policy_violation', 400, 'content_policy'],
  ['bio_policy', 400, 'content_policy'],
  ['misalignment_policy_violation', 400, 'content_policy'],
  ['server_error', 500, 'internal'],
  ['moon', 500, 'internal'],
])('decodes a response that failed with %s as a body with status %i', (code, status, kind) => {
  const { value } = responses.decodeResponse({
    id: 'resp_1',
    status: 'failed',
    output: [],
    error: { code, message: 'm', param: 'p' },
  })
  expect(value.error).toMatchObject({ status, kind, code, param: 'p', message: 'm' })
})

test('finds the message in each of its fields', () => {
  expect(read(400, { code: 'x', error: 'as text' }).message).toBe('as text')
  expect(read(400, { message: 'beside' }).message).toBe('beside')
  expect(read(400, '{"error":{"message":"unparsed"}}').message).toBe('unparsed')
})

test('status, retry hints and request id are kept', () => {
  expect(read(429, {}, { 'Retry-After': '3', 'X-Request-Id': 'req_1' })).toMatchObject({
    retryAfterMs: 3000,
    requestId: 'req_1',
  })
  expect(read(429, {}, { 'retry-after': '3', 'retry-after-ms': '2500' }).retryAfterMs).toBe(2500)
})

test('writes its own error unchanged', () => {
  const body = {
    error: { message: 'm', type: 'odd', param: null, code: 'odd', misalignment: { a: 1 } },
  }
  expect(responses.encodeError(read(418, body)).wire).toMatchObject({ status: 418, body })
})

test.each<[string, object, object]>([
  [
    'a failed response',
    {
      type: 'response.failed',
      response: { id: 'resp_1', status: 'failed', error: { code: 'odd', message: 'm', odd: 1 } },
    },
    { code: 'odd', odd: 1 },
  ],
  [
    'an event that is flat',
    { type: 'error', code: 'odd', message: 'm', param: null },
    { code: 'odd' },
  ],
  [
    'an event that is nested',
    { type: 'error', error: { code: 'odd', message: 'm', odd: 1 } },
    { code: 'odd', odd: 1 },
  ],
])('collects %s to an error body', async (_, event, message) => {
  const { body } = await collectStream([`data: ${JSON.stringify(event)}\n\n`], {
    protocol: 'responses',
  })
  expect(body).toMatchObject({ error: { message: 'm', ...message } })
})

test('a failed response is written again unchanged', () => {
  const failed = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'failed',
    output: [],
    error: { code: 'odd', message: 'm', odd: 1 },
  }
  const { wire, notes } = responses.encodeResponse(responses.decodeResponse(failed).value)
  expect([wire, notes]).toEqual([expect.objectContaining(failed), []])
})

describe('errors of other protocols', () => {
  test('writes an overload as 503', () => {
    const error = {
      status: 529,
      kind: 'overloaded' as const,
      message: 'Overloaded',
      requestId: 'req_1',
      retryAfterMs: 34400,
      protocol: 'messages',
    }
    expect(responses.encodeError(error).wire).toEqual({
      status: 503,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'req_1',
        'retry-after': '35',
        'retry-after-ms': '34400',
      },
      body: {
        error: {
          message: 'Overloaded',
          type: 'server_error',
          param: null,
          code: 'server_is_overloaded',
        },
      },
    })
  })

  test.each<[ErrorKind, number, string, string]>([
    ['invalid_request', 400, 'invalid_request_error', 'foreign'],
    ['context_length', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['authentication', 401, 'invalid_request_error', 'invalid_api_key'],
    ['permission', 403, 'permission_error', 'foreign'],
    ['not_found', 404, 'invalid_request_error', 'model_not_found'],
    ['rate_limit', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['quota', 429, 'insufficient_quota', 'insufficient_quota'],
    ['internal', 500, 'server_error', 'foreign'],
    ['timeout', 504, 'server_error', 'timeout'],
  ])('%s is %i %s %s', (kind, status, type, code) => {
    const { wire } = responses.encodeError({
      status,
      kind,
      message: 'm',
      type: 'foreign',
      code: 'foreign',
      protocol: 'messages',
    })
    expect(wire).toMatchObject({ status, body: { error: { type, code, param: null } } })
  })
})
