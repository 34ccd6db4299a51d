import { describe, expect, test } from 'vitest'
import type { ErrorKind } from '../../../src/canonical/error.ts'
import { translateError } from '../../../src/index.ts'
import { messages } from '../../../src/protocols/messages/index.ts'

const read = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  messages.decodeError({ status, headers, body }).value

describe('reading', () => {
  test.each<[number, string, ErrorKind]>([
    [400, 'invalid_request_error', 'invalid_request'],
    [401, 'authentication_error', 'authentication'],
    [402, 'billing_error', 'billing'],
    [403, 'permission_error', 'permission'],
    [404, 'not_found_error', 'not_found'],
    [409, 'conflict_error', 'conflict'],
    [413, 'request_too_large', 'too_large'],
    [429, 'rate_limit_error', 'rate_limit'],
    [500, 'api_error', 'internal'],
    [503, 'api_error', 'unavailable'],
    [504, 'timeout_error', 'timeout'],
    [529, 'overloaded_error', 'overloaded'],
    [418, 'newest_error', 'invalid_request'],
  ])('%i %s is %s', (status, type, kind) => {
    expect(read(status, { type: 'error', error: { type, message: 'm' } })).toMatchObject({
      status,
      kind,
      message: 'm',
      type,
      protocol: 'messages',
    })
  })

  test.each([
    'prompt is too long: 3 tokens > 2 maximum',
    'input length and `max_tokens` exceed context limit: 1',
  ])('recognizes a context overflow by its message: %s', message => {
    expect(
      read(400, { type: 'error', error: { type: 'invalid_request_error', message } }).kind,
    ).toBe('context_length')
  })

  test.each(['chat-completions', 'responses'] as const)(
    'a broken signature, recognized by its text, has its code for clients of %s',
    to => {
      const body = {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
        },
      }
      const { body: message, notes } = translateError(
        { status: 400, body },
        { from: 'messages', to },
      )
      expect(message).toEqual({
        error: {
          type: 'invalid_request_error',
          message: body.error.message,
          param: null,
          code: 'invalid_encrypted_content',
        },
      })
      expect(notes).toEqual([])
    },
  )

  test('recognizes an unavailable thread by its code', () => {
    const error = {
      type: 'invalid_request_error',
      message: 'm',
      details: { error_code: 'thread_unsupported_request' },
    }
    expect(read(400, { type: 'error', error })).toMatchObject({
      kind: 'unsupported',
      code: 'thread_unsupported_request',
    })
  })

  test('converts request ids and retry hints', () => {
    expect(
      read(
        429,
        { error: { type: 'rate_limit_error', message: 'm' }, request_id: 'r' },
        { 'retry-after': '12' },
      ),
    ).toMatchObject({
      requestId: 'r',
      retryAfterMs: 12000,
    })
    expect(read(429, {}, { 'request-id': 'h', 'retry-after-ms': '250' })).toMatchObject({
      requestId: 'h',
      retryAfterMs: 250,
    })
    expect(
      read(429, {}, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }).retryAfterMs,
    ).toBeUndefined()
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a page', '<html>502</html>'],
    ['a number', 7],
    ['a list', [{ error: { message: 'm' } }]],
    ['a word', { error: 'm' }],
    ['a broken body', { error: { message: 3, type: [] } }],
  ])('a body that is %s keeps its status', (_, body) => {
    expect(read(502, body)).toMatchObject({ status: 502, kind: 'internal' })
  })

  test('derives the status from the type in a stream', () => {
    expect(
      read(0, { type: 'error', error: { type: 'overloaded_error', message: 'm' } }).status,
    ).toBe(529)
    expect(read(200, { error: { message: 'm' } }).status).toBe(500)
  })
})

describe('writing', () => {
  const write = (kind: ErrorKind, status: number, more: object = {}) =>
    messages.encodeError({ kind, status, message: 'm', ...more })

  test.each<[ErrorKind, number, number, string]>([
    ['invalid_request', 400, 400, 'invalid_request_error'],
    ['authentication', 401, 401, 'authentication_error'],
    ['billing', 429, 402, 'billing_error'],
    ['permission', 403, 403, 'permission_error'],
    ['not_found', 404, 404, 'not_found_error'],
    ['conflict', 409, 409, 'conflict_error'],
    ['too_large', 413, 413, 'request_too_large'],
    ['unprocessable', 422, 422, 'invalid_request_error'],
    ['rate_limit', 429, 429, 'rate_limit_error'],
    ['quota', 429, 429, 'rate_limit_error'],
    ['cancelled', 499, 499, 'api_error'],
    ['internal', 500, 500, 'api_error'],
    ['internal', 502, 502, 'api_error'],
    ['unavailable', 503, 503, 'api_error'],
    ['overloaded', 503, 529, 'overloaded_error'],
    ['timeout', 504, 504, 'timeout_error'],
    ['content_policy', 400, 400, 'invalid_request_error'],
    ['unsupported', 400, 400, 'invalid_request_error'],
  ])('%s %i is %i %s', (kind, status, expected, type) => {
    expect(write(kind, status).wire).toMatchObject({
      status: expected,
      body: { type: 'error', error: { type, message: 'm' } },
    })
  })

  test('writes 529 for a 503 that reports an overload', () => {
    expect(write('unavailable', 503, { code: 'overloaded' }).wire).toMatchObject({
      status: 529,
      body: { error: { type: 'overloaded_error' } },
    })
  })

  test.each([
    [
      'the counts of a message',
      '5000 tokens of 4096',
      'prompt is too long: 5000 tokens > 4096 maximum: 5000 tokens of 4096',
    ],
    [
      'a sum that is too large',
      '190000 + 32000 > 200000',
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
    ],
  ])('%s are reported with a full context', (_, message, reported) => {
    expect(write('context_length', 400, { message }).wire.body).toMatchObject({
      error: { message: reported },
    })
  })

  test('a full context is worded so that clients compact, and keeps its own words', () => {
    const { wire, notes } = write('context_length', 400, {
      message: 'maximum context length is 128000',
    })
    expect(wire.body).toMatchObject({
      error: { message: 'prompt is too long: maximum context length is 128000' },
    })
    expect(notes.map(({ code }) => code)).toEqual(['error.reworded'])
    expect(
      write('context_length', 400, { message: 'prompt is too long: 3 > 2' }).wire.body,
    ).toMatchObject({ error: { message: 'prompt is too long: 3 > 2' } })
  })

  test('a refused thread has its code, so that the field needs no note', () => {
    const { wire, notes } = write('unsupported', 400, { param: 'thread' })
    expect(wire.body).toMatchObject({
      error: { details: { error_code: 'thread_unsupported_request' } },
    })
    expect(notes).toEqual([])
  })

  test('a thread that is not served says so in its code', () => {
    expect(
      write('unsupported', 400, { code: 'thread_unsupported_request' }).wire.body,
    ).toMatchObject({
      error: { details: { error_code: 'thread_unsupported_request' } },
    })
  })

  test('converts request ids and retry hints', () => {
    const { wire } = write('rate_limit', 429, { requestId: 'r', retryAfterMs: 34400 })
    expect(wire.headers).toEqual({
      'content-type': 'application/json',
      'request-id': 'r',
      'retry-after': '35',
      'retry-after-ms': '34400',
    })
    expect(wire.body).toMatchObject({ request_id: 'r' })
  })

  test('notes unsupported fields', () => {
    expect(
      write('invalid_request', 400, { param: 'n', code: 'x' }).notes.map(({ path }) => path),
    ).toEqual(['/error/param', '/error/code'])
  })

  test('returns an error of this protocol unchanged', () => {
    const body = {
      type: 'error',
      error: { type: 'newest_error', message: 'm', details: { a: 1 } },
      request_id: null,
    }
    const { value } = messages.decodeError({ status: 418, headers: {}, body })
    expect(messages.encodeError(value)).toMatchObject({ wire: { status: 418, body }, notes: [] })
  })

  test('ends a failed stream with an error event', () => {
    expect(messages.frames.failure?.({ status: 500, kind: 'internal', message: 'm' })).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"m"}}\n\n',
    )
  })
})

test.each(['chat-completions', 'responses', 'generate-content'] as const)(
  'the type of the fault is noted at its path, for %s',
  to => {
    const body = {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'm', details: { error_code: 'odd' } },
    }
    const { notes } = translateError({ status: 429, body }, { from: 'messages', to })
    expect(notes.map(({ path }) => path)).toEqual(['/error/details', '/error/details/error_code'])
  },
)

describe.each(['chat-completions', 'responses', 'generate-content'] as const)(
  'a type that belongs to no kind of error is noted, for %s',
  to => {
    test.each<[string, unknown, string]>([
      [
        'of a new error',
        { type: 'error', error: { type: 'newest_error', message: 'm' } },
        '/error/type',
      ],
      [
        'that is no word',
        { type: 'error', error: { type: ['api_error'], message: 'm' } },
        '/error/type',
      ],
      ['of a body without its frame', { type: 'newest_error', message: 'm' }, '/type'],
      [
        'beside the error',
        { type: 'failure', error: { type: 'rate_limit_error', message: 'm' } },
        '/type',
      ],
      ['beside a text', { type: 'failure', error: 'm' }, '/type'],
    ])('%s', (_, body, path) => {
      const { notes } = translateError({ status: 429, body }, { from: 'messages', to })
      expect(notes.map(note => `${note.kind} ${note.path}`)).toEqual([`dropped ${path}`])
      expect(
        messages.encodeError(messages.decodeError({ status: 429, headers: {}, body }).value).notes,
      ).toEqual([])
    })

    test('makes no note for a known type', () => {
      const body = { type: 'error', error: { type: 'rate_limit_error', message: 'm' } }
      expect(translateError({ status: 429, body }, { from: 'messages', to }).notes).toEqual([])
    })
  },
)
