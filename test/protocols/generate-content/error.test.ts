import { describe, expect, test } from 'vitest'
import { createStreamTranslator, translateError } from '../../../src/index.ts'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'

const rpc = 'type.googleapis.com/google.rpc.'
const body = (code: number, status: string, message = 'm', details?: object[]) => ({
  error: { code, message, status, ...(details && { details }) },
})
const read = (wire: unknown, status = 0) =>
  generateContent.decodeError({ status, headers: {}, body: wire }).value

describe('decoding an error', () => {
  test.each<[wire: object, kind: string, status: number]>([
    [body(400, 'INVALID_ARGUMENT'), 'invalid_request', 400],
    [body(400, 'FAILED_PRECONDITION'), 'invalid_request', 400],
    [body(400, 'FAILED_PRECONDITION', 'Enable billing first.'), 'billing', 400],
    [
      body(400, 'INVALID_ARGUMENT', 'm', [
        { '@type': `${rpc}ErrorInfo`, reason: 'API_KEY_INVALID' },
      ]),
      'authentication',
      400,
    ],
    [
      body(
        400,
        'INVALID_ARGUMENT',
        'The input token count (9) exceeds the maximum number of tokens allowed (8).',
      ),
      'context_length',
      400,
    ],
    [body(403, 'PERMISSION_DENIED'), 'permission', 403],
    [body(404, 'NOT_FOUND'), 'not_found', 404],
    [body(409, 'ALREADY_EXISTS'), 'conflict', 409],
    [body(429, 'RESOURCE_EXHAUSTED'), 'rate_limit', 429],
    [
      body(429, 'RESOURCE_EXHAUSTED', 'm', [
        { '@type': `${rpc}QuotaFailure`, violations: [{ quotaId: 'RequestsPerDay' }] },
      ]),
      'quota',
      429,
    ],
    [body(500, 'DATA_LOSS'), 'internal', 500],
    [body(503, 'UNAVAILABLE', 'The model is overloaded.'), 'overloaded', 503],
    [body(503, 'UNAVAILABLE'), 'unavailable', 503],
    [body(504, 'DEADLINE_EXCEEDED'), 'timeout', 504],
    [[body(503, 'UNAVAILABLE')], 'unavailable', 503],
    [body(418, 'SOMETHING_NEW'), 'invalid_request', 418],
  ])('%j', (wire, kind, status) => {
    expect(read(wire)).toMatchObject({ kind, status })
    expect(generateContent.encodeError(read(wire)).wire.body).toEqual(wire)
  })

  test('reads the retry time and the invalid field', () => {
    const details = [
      { '@type': `${rpc}RetryInfo`, retryDelay: '34.4s' },
      { '@type': `${rpc}BadRequest`, fieldViolations: [{ field: 'contents' }] },
    ]
    expect(read(body(429, 'RESOURCE_EXHAUSTED', 'm', details))).toMatchObject({
      retryAfterMs: 34_400,
      param: 'contents',
    })
  })

  test('keeps the status of an HTML page of a proxy', () => {
    expect(read('<html>', 502)).toMatchObject({ status: 502, kind: 'internal', message: '<html>' })
  })
})

describe('encoding an error', () => {
  test('writes retry times into the details', () => {
    const {
      status,
      headers,
      body: reported,
    } = translateError(
      {
        status: 429,
        headers: { 'retry-after': '3' },
        body: { error: { message: 'slow', type: 'rate_limit_error', param: 'model', code: null } },
      },
      { from: 'chat-completions', to: 'generate-content' },
    )
    expect({ status, retry: headers['retry-after'] }).toEqual({ status: 429, retry: '3' })
    expect(reported).toEqual({
      error: {
        code: 429,
        message: 'slow',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': `${rpc}BadRequest`,
            fieldViolations: [{ field: 'model', description: 'slow' }],
          },
          { '@type': `${rpc}RetryInfo`, retryDelay: '3s' },
        ],
      },
    })
  })

  test('maps a status that only one protocol has to a common one', () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const { status, body: reported } = translateError(
      { status: 529, body: overloaded },
      { from: 'messages', to: 'generate-content' },
    )
    expect({ status, body: reported }).toEqual({
      status: 503,
      body: { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } },
    })
  })

  test('writes a context overflow in the words of its own servers', () => {
    const reported = (message: string) =>
      translateError(
        {
          status: 400,
          body: {
            error: {
              message,
              type: 'invalid_request_error',
              param: null,
              code: 'context_length_exceeded',
            },
          },
        },
        { from: 'chat-completions', to: 'generate-content' },
      )
    const { body: counted, notes } = reported(
      'maximum context length is 8192 tokens, you sent 9000',
    )
    expect(counted).toMatchObject({
      error: {
        status: 'INVALID_ARGUMENT',
        message:
          'The input token count (9000) exceeds the maximum number of tokens allowed (8192). maximum context length is 8192 tokens, you sent 9000',
      },
    })
    expect(notes.map(({ path, code }) => `${path} ${code}`)).toContain(
      '/error/message error.reworded',
    )
    expect(read(counted).kind).toBe('context_length')
    expect(read(reported('Too much.').body)).toMatchObject({
      kind: 'context_length',
      message: 'The input token count exceeds the maximum number of tokens allowed. Too much.',
    })
  })

  test('decodes the message of FastAPI validation errors', () => {
    expect(
      read({ detail: [{ loc: ['body', 'x'], msg: 'No more credit', type: 'missing' }] }, 422),
    ).toMatchObject({
      kind: 'unprocessable',
      message: expect.stringContaining('No more credit'),
    })
  })
})

describe('unknown fields of an error', () => {
  const { error } = body(503, 'UNAVAILABLE')
  test.each<[what: string, wire: unknown, paths: string[]]>([
    ['inside of it', { error: { ...error, hint: 'later' } }, ['/error/hint']],
    ['beside it', { error, trace: 't1' }, ['/trace']],
    [
      'in a list',
      [{ error: { ...error, hint: 'later', details: [{ '@type': 't' }] }, trace: 't1' }],
      ['/0/error/details', '/0/error/hint', '/0/trace'],
    ],
    ['as nothing', { error: { ...error, details: null, hint: null } }, []],
    ['with a new word', { error: { ...error, status: 'SOMETHING_NEW' } }, ['/error/status']],
    ['with no word', { error: { ...error, status: 503 } }, ['/error/status']],
  ])('%s stays in this protocol, and is noted for every other', (_, wire, paths) => {
    expect(generateContent.encodeError(read(wire, 503)).wire.body).toEqual(wire)
    for (const to of ['chat-completions', 'responses', 'messages'] as const) {
      const { notes } = translateError(
        { status: 503, body: wire },
        { from: 'generate-content', to },
      )
      expect(notes.flatMap(({ kind, path }) => (kind === 'dropped' ? [path] : [])).sort()).toEqual(
        paths,
      )
    }
  })
})

describe('details that are read', () => {
  const field = 'contents[0].role'
  const detail = (type: string, more: object) => ({ '@type': rpc + type, ...more })
  const bad = (...fieldViolations: object[]) => detail('BadRequest', { fieldViolations })

  test.each<[string, object[], boolean]>([
    ['a field', [bad({ field, description: 'm' })], false],
    ['a field without words', [bad({ field })], false],
    ['a time', [detail('RetryInfo', { retryDelay: '34.4s' })], false],
    ['an id', [detail('RequestInfo', { requestId: 'r1' })], false],
    ['all of them', [bad({ field }), detail('RetryInfo', { retryDelay: '1s' })], false],
    ['two fields', [bad({ field }, { field: 'other' })], true],
    ['other words', [bad({ field, description: 'Another reason' })], true],
    ['a reason', [bad({ field, reason: 'ODD' })], true],
    ['a time of no kind', [detail('RetryInfo', { retryDelay: 'soon' })], true],
    ['a second time', [1, 2].map(n => detail('RetryInfo', { retryDelay: `${n}s` })), true],
    ['another detail', [detail('Help', { links: [] })], true],
    ['a text', ['odd' as unknown as object], true],
  ])('are noted only where they say more: %s', (_, details, isNoted) => {
    const wire = body(400, 'INVALID_ARGUMENT', 'm', details)
    for (const to of ['chat-completions', 'responses', 'messages', 'converse'] as const) {
      const { notes } = translateError(
        { status: 400, body: wire },
        { from: 'generate-content', to },
      )
      expect(notes.some(({ code }) => code === 'error.details')).toBe(isNoted)
    }
  })

  test('are written again where the body is not', () => {
    const help = detail('Help', { links: [] })
    const details = [bad({ field, description: 'm' }), help]
    const { raw: _, ...error } = read(body(400, 'INVALID_ARGUMENT', 'm', details))
    expect(generateContent.encodeError(error).wire.body).toEqual(
      body(400, 'INVALID_ARGUMENT', 'm', details),
    )
  })

  test.each(['chat-completions', 'responses', 'messages', 'converse'] as const)(
    'a time to wait is noted in a stream toward %s, which has no headers',
    to => {
      const wire = body(429, 'RESOURCE_EXHAUSTED', 'm', [
        detail('RetryInfo', { retryDelay: '34s' }),
      ])
      const stream = createStreamTranslator({ from: 'generate-content', to })
      stream.push(`data: ${JSON.stringify(wire)}\n\n`)
      stream.end()
      expect(stream.notes.map(({ code, path }) => `${code} ${path}`)).toContain(
        'field.unsupported /error/details',
      )
    },
  )
})

describe('a wrong key, which this API calls a wrong request,', () => {
  const wire = body(400, 'INVALID_ARGUMENT', 'm', [
    { '@type': `${rpc}ErrorInfo`, reason: 'API_KEY_INVALID' },
  ])

  test.each(['chat-completions', 'responses', 'messages'] as const)(
    'has the status that clients of %s recognize, and its reason is noted at its path',
    to => {
      const { status, notes } = translateError(
        { status: 400, body: wire },
        { from: 'generate-content', to },
      )
      expect(status).toBe(401)
      expect(new Set(notes.map(({ code, path }) => `${code} ${path}`))).toEqual(
        new Set([
          'error.status /status',
          'error.details /error/details',
          'field.unsupported /error/details',
        ]),
      )
    },
  )
})
