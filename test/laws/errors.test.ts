import { describe, expect, test } from 'vitest'
import { createStreamTranslator, explodeResponse, type ProtocolName, translateError, translateResponse } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { all, attempt, pairs } from '../../src/testing/bodies.ts'
import { isTold, odd, withOddKeys } from '../support/odd-keys.ts'

/** Errors as each wire tells them, and as servers that keep to it less closely do. */
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
    { type: 'error', error: { type: 'server_error', code: 'server_error', message: 'm', param: 'p' }, sequence_number: 3 },
    { error: { type: 't', code: 'c', message: 'm', param: 'p' } },
    { error: 'm' },
    { detail: 'm' },
    { detail: [{ loc: ['a'], msg: 'm' }] },
    [{ error: { message: 'm' } }],
    { id: 'resp_1', object: 'response', created_at: 5, model: 'mm', error: { code: 'c', message: 'm' } },
  ],
  messages: [
    { type: 'error', error: { type: 'api_error', message: 'm', details: { error_code: 'e' } }, request_id: 'r' },
    { type: 'api_error', message: 'm' },
    { error: 'm' },
    { detail: 'm' },
    [{ type: 'error', error: { type: 'api_error', message: 'm' } }],
  ],
  'generate-content': [
    { error: { code: 500, message: 'm', status: 'INTERNAL', details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' }] } },
    [{ error: { code: 500, message: 'm', status: 'INTERNAL' } }],
    { error: 'm' },
    { code: 500, message: 'm', status: 'INTERNAL' },
    { detail: 'm' },
  ],
}

const rows = pairs.flatMap(({ from, to, name }) =>
  bodies[from.name as ProtocolName].flatMap(wire =>
    withOddKeys(wire).map(({ path, body }) => ({ name, from: from.name as ProtocolName, to: to.name as ProtocolName, path, body })),
  ),
)

const own = all.flatMap(({ name }) => bodies[name as ProtocolName].flatMap(wire => withOddKeys(wire).map(({ body }) => ({ from: name as ProtocolName, body }))))

describe('a key of an error that nobody knows is told, wherever it stands', () => {
  test.each(rows)('$name $body', ({ from, to, path, body }) => {
    const answer = translateError({ status: 500, headers: {}, body }, { from, to })
    expect(isTold(answer.body, answer.notes, path)).toBe(true)
    const reply = attempt(() => translateResponse(body, { from, to }))
    if (reply) expect(isTold(reply.body, reply.notes, path)).toBe(true)
    // A list is no event.
    if (Array.isArray(body)) return
    const stream = createStreamTranslator({ from, to })
    const text = stream.push(`data: ${JSON.stringify(body)}\n\n`) + stream.end()
    // A stream that cannot be read is told as that; what nobody takes for an event is noted as such.
    if (text.includes('cannot be read')) return
    expect(stream.notes.some(({ code }) => code.endsWith('event.unknown') || code === 'stream.event') || isTold(text, stream.notes, path)).toBe(true)
  })

  test.each(own)('$from by itself $body', ({ from, body }) => {
    const protocol = protocols[from]
    const reply = attempt(() => protocol.decodeResponse(body).value)
    // Only the status of an answer says of some that they are errors.
    if (!reply?.error) return
    expect(JSON.stringify(protocol.encodeResponse(reply).wire)).toContain(odd)
    expect(explodeResponse(body, { protocol: from })).toContain(odd)
  })
})

describe('what an error says in another type than text is told', () => {
  test.each(
    (['chat-completions', 'responses'] as const).flatMap(from =>
      ['type', 'code', 'param'].flatMap(key =>
        [true, [odd], { [odd]: odd }].flatMap(value => all.map(({ name }) => ({ from, key, value, to: name as ProtocolName }))),
      ),
    ),
  )('$from → $to: $key $value', ({ from, to, key, value }) => {
    const body = { error: { message: 'm', type: 'server_error', [key]: value } }
    const { notes, body: written } = translateError({ status: 500, headers: {}, body }, { from, to })
    if (from === to) expect(written).toEqual(body)
    else expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(`error.details /error/${key}`)
  })
})

test.each(pairs)('$name: a message that is no text is shown all the same', ({ from, to }) => {
  for (const message of [[odd], { text: odd }, 700_001]) {
    const { body } = translateError(
      { status: 500, headers: {}, body: { error: { message } } },
      { from: from.name as ProtocolName, to: to.name as ProtocolName },
    )
    expect(JSON.stringify(body)).toContain(typeof message === 'number' ? String(message) : odd)
  }
})
