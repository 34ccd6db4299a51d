import { describe, expect, test } from 'vitest'
import type { Note } from '../../src/canonical/note.ts'
import { createStreamTranslator, type ProtocolName } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { all, attempt, pairs } from '../../src/testing/bodies.ts'
import { isReported, odd, withOddKeys } from '../support/odd-keys.ts'
import { explodeResponse, translateError, translateResponse } from '../support/untyped.ts'

/** Errors as each wire defines them, and as less strict servers send them. */
const bodies: Record<ProtocolName, unknown[]> = {
  'chat-completions': [
    { error: { type: 't', code: 'c', message: 'm', param: 'p', metadata: { a: 1 } } },
    { error: 'm' },
    { object: 'error', message: 'm', type: 't', code: 400, param: null },
    { detail: 'm' },
    { detail: [{ loc: ['a'], msg: 'm' }] },
    [{ error: { message: 'm' } }],
  ],
  responses: [
    { type: 'error', code: 'server_error', message: 'm', param: null, sequence_number: 3 },
    {
      type: 'error',
      error: { type: 'server_error', code: 'server_error', message: 'm', param: 'p' },
      sequence_number: 3,
    },
    { error: { type: 't', code: 'c', message: 'm', param: 'p' } },
    { error: 'm' },
    { detail: 'm' },
    { detail: [{ loc: ['a'], msg: 'm' }] },
    [{ error: { message: 'm' } }],
    {
      id: 'resp_1',
      object: 'response',
      created_at: 5,
      model: 'mm',
      error: { code: 'c', message: 'm' },
    },
  ],
  messages: [
    {
      type: 'error',
      error: { type: 'api_error', message: 'm', details: { error_code: 'e' } },
      request_id: 'r',
    },
    { type: 'api_error', message: 'm' },
    { error: 'm' },
    { detail: 'm' },
    [{ type: 'error', error: { type: 'api_error', message: 'm' } }],
  ],
  'generate-content': [
    {
      error: {
        code: 500,
        message: 'm',
        status: 'INTERNAL',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' }],
      },
    },
    [{ error: { code: 500, message: 'm', status: 'INTERNAL' } }],
    { error: 'm' },
    { code: 500, message: 'm', status: 'INTERNAL' },
    { detail: 'm' },
  ],
  converse: [
    { message: 'm' },
    { Message: 'm', originalStatusCode: 400, resourceName: 'n' },
    { error: { message: 'm' } },
    { detail: 'm' },
  ],
}

const rows = pairs.flatMap(({ from, to, name }) =>
  bodies[from.name as ProtocolName].flatMap(wire =>
    withOddKeys(wire).map(({ path, body }) => ({
      name,
      from: from.name as ProtocolName,
      to: to.name as ProtocolName,
      path,
      body,
    })),
  ),
)

const own = all.flatMap(({ name }) =>
  bodies[name as ProtocolName].flatMap(wire =>
    withOddKeys(wire).map(({ body }) => ({ from: name as ProtocolName, body })),
  ),
)

describe('unknown keys of an error', () => {
  test.each(rows)('$name: notes the unknown key in $body', ({ from, to, path, body }) => {
    const response = translateError({ status: 500, headers: {}, body }, { from, to })
    expect(isReported(response.body, response.notes, path)).toBe(true)
    const result = attempt(() => translateResponse(body, { from, to }))
    if (result) expect(isReported(result.body, result.notes, path)).toBe(true)
    // A list is no event.
    if (Array.isArray(body)) return
    const stream = createStreamTranslator({ from, to })
    const text = stream.push(`data: ${JSON.stringify(body)}\n\n`) + stream.end()
    // A stream that cannot be read is reported as that; what is no event for a client is noted as
    // such.
    if (text.includes('cannot be read')) return
    expect(
      stream.notes.some(({ code }) => code === 'event.unknown') ||
        isReported(text, stream.notes, path),
    ).toBe(true)
  })

  test.each(own)(
    'returns an error body of $from unchanged within its protocol: $body',
    ({ from, body }) => {
      const protocol = protocols[from]
      const response = attempt(() => protocol.decodeResponse(body).value)
      // Some are errors only by the status of the response.
      if (!response?.error) return
      expect(JSON.stringify(protocol.encodeResponse(response).wire)).toContain(odd)
      expect(explodeResponse(body, { protocol: from })).toContain(odd)
    },
  )
})

describe('fields of an error with values of another type', () => {
  test.each(
    (['chat-completions', 'responses'] as const).flatMap(from =>
      ['type', 'code', 'param'].flatMap(key =>
        [true, [odd], { [odd]: odd }].flatMap(value =>
          all.map(({ name }) => ({ from, key, value, to: name as ProtocolName })),
        ),
      ),
    ),
  )('$from → $to: reports $key $value', ({ from, to, key, value }) => {
    const body = { error: { message: 'm', type: 'server_error', [key]: value } }
    const { notes, body: written } = translateError(
      { status: 500, headers: {}, body },
      { from, to },
    )
    if (from === to) expect(written).toEqual(body)
    else
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
        `error.details /error/${key}`,
      )
  })
})

test.each(pairs)('$name: returns a message that is not a string as text', ({ from, to }) => {
  for (const message of [[odd], { text: odd }, 700_001]) {
    const { body } = translateError(
      { status: 500, headers: {}, body: { error: { message } } },
      { from: from.name as ProtocolName, to: to.name as ProtocolName },
    )
    expect(JSON.stringify(body)).toContain(typeof message === 'number' ? String(message) : odd)
  }
})

const reported = (notes: readonly Note[]) => notes.map(({ code, path }) => `${code} ${path}`)
const others = (from: ProtocolName) =>
  all.map(({ name }) => name as ProtocolName).filter(to => to !== from)

describe('error types that the kind does not imply', () => {
  const note = { responses: 'error.details /error/type', messages: 'field.unknown /error/type' }

  test.each(
    (
      [
        { from: 'responses', status: 500, type: 'invalid_request_error' },
        { from: 'responses', status: 400, type: 'server_error' },
        { from: 'responses', status: 401, type: 'model_error' },
        { from: 'responses', status: 401, type: 'rate_limit_error', code: 'invalid_api_key' },
        { from: 'messages', status: 400, type: 'api_error' },
        { from: 'messages', status: 404, type: 'api_error' },
      ] as const
    ).flatMap(row => others(row.from).map(to => ({ ...row, to }))),
  )('$from → $to: notes $status $type $code', ({ from, to, status, type, ...more }) => {
    const { notes } = translateError(
      { status, headers: {}, body: { type: 'error', error: { message: 'm', type, ...more } } },
      { from, to },
    )
    expect(reported(notes)).toContain(note[from])
  })

  test.each(
    (
      [
        { from: 'responses', status: 401, type: 'invalid_request_error' },
        { from: 'responses', status: 503, type: 'server_error' },
        { from: 'responses', status: 402, type: 'insufficient_quota' },
        { from: 'messages', status: 503, type: 'api_error' },
        { from: 'messages', status: 529, type: 'api_error' },
        { from: 'messages', status: 422, type: 'invalid_request_error' },
      ] as const
    ).flatMap(row => others(row.from).map(to => ({ ...row, to }))),
  )(
    '$from → $to: makes no note for $status $type, which the kind implies',
    ({ from, to, status, type }) => {
      const { notes } = translateError(
        { status, headers: {}, body: { type: 'error', error: { message: 'm', type } } },
        { from, to },
      )
      expect(reported(notes)).not.toContain(note[from])
    },
  )

  test.each(others('responses'))('responses → %s: notes the type in a stream', to => {
    const stream = createStreamTranslator({ from: 'responses', to })
    stream.push(
      `data: ${JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', code: 'invalid_api_key', message: 'm' } })}\n\n`,
    )
    stream.end()
    expect(reported(stream.notes)).toContain('error.details /error/type')
  })
})

describe('statuses in the body of an error', () => {
  const bodyOf = {
    'chat-completions': (code: unknown) => ({ error: { message: 'm', code } }),
    'generate-content': (code: unknown) => ({ error: { message: 'm', code, status: 'INTERNAL' } }),
  }

  test.each(
    (
      [
        { from: 'chat-completions', code: 403, note: 'error.details /error/code' },
        { from: 'chat-completions', code: '403', note: 'field.unsupported /error/code' },
        { from: 'generate-content', code: 403, note: 'field.unknown /error/code' },
        { from: 'generate-content', code: 7, note: 'field.unknown /error/code' },
        { from: 'generate-content', code: 'x', note: 'field.unknown /error/code' },
      ] as const
    ).flatMap(row => others(row.from).map(to => ({ ...row, to }))),
  )('$from → $to: notes $code with HTTP status 500', ({ from, to, code, note }) => {
    const { notes, status } = translateError(
      { status: 500, headers: {}, body: bodyOf[from](code) },
      { from, to },
    )
    expect(status).toBe(500)
    expect(reported(notes)).toContain(note)
  })

  test.each(
    (
      [
        { from: 'chat-completions', codes: [422, 502] },
        { from: 'generate-content', codes: [400, 502] },
      ] as const
    ).flatMap(({ from, codes }) =>
      codes.flatMap(code => others(from).map(to => ({ from, to, code }))),
    ),
  )('$from → $to: $code without an HTTP status', ({ from, to, code }) => {
    const body = bodyOf[from](code)
    const isReported = (wire: unknown, notes: readonly Note[]) =>
      JSON.stringify(wire).includes(`"code":${code}`) ||
      reported(notes).includes('error.status /error/code')
    const response = translateResponse(body, { from, to })
    expect(isReported(response.body, response.notes)).toBe(true)
    const stream = createStreamTranslator({ from, to })
    const text = stream.push(`data: ${JSON.stringify(body)}\n\n`) + stream.end()
    expect(text.includes(`"code":${code}`) || isReported({}, stream.notes)).toBe(true)
  })

  test.each(
    others('generate-content').flatMap(to => [{ message: 'm' }, 'm'].map(error => ({ to, error }))),
  )('generate-content → $to: makes no note for an absent status: $error', ({ to, error }) => {
    expect(
      translateError({ status: 500, body: { error } }, { from: 'generate-content', to }).notes,
    ).toEqual([])
  })

  test.each(others('messages'))(
    'messages → %s: notes a status that the type implies only if the target cannot express it',
    to => {
      const body = { type: 'error', error: { type: 'billing_error', message: 'm' } }
      const places = translateResponse(body, { from: 'messages', to }).notes.filter(
        ({ code }) => code === 'error.status',
      )
      expect(places.map(({ path }) => path)).toEqual(
        to === 'generate-content' ? [] : ['/error/type'],
      )
    },
  )

  test('generate-content → messages: notes the status UNAVAILABLE', () => {
    const { notes } = translateResponse(
      { error: { message: 'm', code: 503, status: 'UNAVAILABLE' } },
      { from: 'generate-content', to: 'messages' },
    )
    expect(reported(notes)).toEqual(['error.status /error/code'])
  })

  test.each(pairs)('$name: makes no note for a status that is not in the body', ({ from, to }) => {
    for (const [kind, status] of Object.entries({
      overloaded: 503,
      internal: 500,
      invalid_request: 400,
      rate_limit: 429,
    } as const)) {
      const { wire } = from.encodeError({ kind: kind as 'internal', status, message: 'Overloaded' })
      const stream = createStreamTranslator({
        from: from.name as ProtocolName,
        to: to.name as ProtocolName,
      })
      stream.push(`data: ${JSON.stringify(wire.body)}\n\n`)
      expect([kind, ...stream.notes.filter(({ code }) => code === 'error.status')]).toEqual([kind])
    }
  })
})

describe('values of a body that become headers', () => {
  const id = 'a\r\nset-cookie: b'

  test.each(pairs)('$from.name → $to.name: cannot begin another header', ({ from, to }) => {
    const error = {
      type: 'error',
      error: {
        message: 'm',
        type: id,
        status: id,
        details: [{ '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId: id }],
      },
      request_id: id,
      __type: id,
    }
    const { headers = {} } = translateError(
      { status: 500, body: error, headers: { 'x-request-id': id, 'retry-after': id } },
      { from: from.name as ProtocolName, to: to.name as ProtocolName },
    )
    for (const value of Object.values(headers)) expect(value).toMatch(/^[ -~]*$/)
  })

  test('note an id of the request that no header can hold', () => {
    const body = { type: 'error', error: { type: 'api_error', message: 'm' }, request_id: id }
    const { headers, notes } = translateError(
      { status: 500, body },
      { from: 'messages', to: 'chat-completions' },
    )
    expect(headers).not.toHaveProperty('x-request-id')
    expect(notes).toContainEqual(expect.objectContaining({ path: '/request_id' }))
  })
})
