import { describe, expect, test } from 'vitest'
import { translateError } from '../../../src/index.ts'
import { converse } from '../../../src/protocols/converse/index.ts'

const read = (name: string | undefined, body: unknown, status = 0) =>
  converse.decodeError({
    status,
    headers: name === undefined ? {} : { 'x-amzn-errortype': name },
    body,
  }).value

describe('errors of the service', () => {
  test.each<[name: string, message: string, kind: string, status: number]>([
    ['ValidationException', 'm', 'invalid_request', 400],
    [
      'ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/',
      'm',
      'invalid_request',
      400,
    ],
    ['com.amazon.coral#ThrottlingException', 'm', 'rate_limit', 429],
    ['throttlingException', 'm', 'rate_limit', 429],
    ['ValidationException', 'Input is too long for requested model.', 'context_length', 400],
    ['ValidationException', 'The provided model identifier is invalid.', 'not_found', 400],
    ['AccessDeniedException', 'm', 'permission', 403],
    ['UnrecognizedClientException', 'm', 'authentication', 403],
    ['ResourceNotFoundException', 'm', 'not_found', 404],
    ['ServiceQuotaExceededException', 'm', 'quota', 400],
    ['ModelTimeoutException', 'm', 'timeout', 408],
    ['ModelErrorException', 'm', 'internal', 424],
    ['ModelNotReadyException', 'm', 'unavailable', 429],
    ['InternalServerException', 'm', 'internal', 500],
    ['ServiceUnavailableException', 'm', 'unavailable', 503],
    ['ServiceUnavailableException', 'The model is overloaded', 'overloaded', 503],
  ])('%s: %s', (name, message, kind, status) => {
    expect(read(name, { message }, status)).toMatchObject({ kind, status, message })
    expect(read(name, { message })).toMatchObject({ kind })
    expect(converse.encodeError(read(name, { message }, status)).wire).toMatchObject({
      status,
      body: { message },
    })
  })

  test.each<[what: string, body: unknown, message: string]>([
    ['a capital letter', { Message: 'm' }, 'm'],
    ['the shape of another protocol, from a proxy', { error: { message: 'm' } }, 'm'],
    ['a page', '<html>', '<html>'],
    ['nothing', undefined, 'the upstream responded with status 502'],
  ])('%s', (_, body, message) => {
    expect(read(undefined, body, 502)).toMatchObject({ status: 502, kind: 'internal', message })
  })

  test('maps a validation error of a model to an invalid request', () => {
    expect(
      read('ModelStreamErrorException', { message: 'm', originalStatusCode: 400 }),
    ).toMatchObject({
      kind: 'invalid_request',
      details: { originalStatusCode: 400 },
    })
  })
})

describe('errors for clients', () => {
  const chat = (status: number, error: object) =>
    translateError(
      { status, headers: { 'retry-after': '3' }, body: { error } },
      { from: 'chat-completions', to: 'converse' },
    )

  test('writes the exception name into a header', () => {
    const { status, headers, body } = chat(429, {
      message: 'slow',
      type: 'rate_limit_error',
      param: null,
      code: null,
    })
    expect({ status, body }).toEqual({ status: 429, body: { message: 'slow' } })
    expect(headers).toMatchObject({ 'x-amzn-errortype': 'ThrottlingException', 'retry-after': '3' })
  })

  test('writes a context overflow in the words that clients recognize', () => {
    const { body, notes } = chat(400, {
      message: 'context full',
      type: 'invalid_request_error',
      param: null,
      code: 'context_length_exceeded',
    })
    expect(body).toEqual({ message: 'Input is too long for requested model. context full' })
    expect(notes.map(({ code }) => code)).toContain('error.reworded')
  })

  test('notes a status that the service does not have', () => {
    const { status, notes } = chat(402, {
      message: 'pay',
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
    })
    expect(status).toBe(429)
    expect(notes.map(({ code }) => code)).toContain('error.status')
  })
})
