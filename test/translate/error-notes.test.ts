import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { explode } from '../../src/canonical/explode.ts'
import { createStreamTranslator, type ProtocolName } from '../../src/index.ts'
import { messages } from '../../src/protocols/messages/index.ts'
import { protocols } from '../../src/protocols.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { explodeResponse, translateError, translateResponse } from '../support/untyped.ts'

const report = (notes: readonly { code: string; path: string }[]) =>
  notes.map(({ code, path }) => `${code} ${path}`).sort()

const openaiError = {
  message: 'No.',
  type: 'invalid_request_error',
  param: 'input',
  code: 'odd_code',
  odd: { x: 1 },
}
const anthropicError = {
  type: 'error',
  request_id: 'req_1',
  error: { type: 'invalid_request_error', message: 'No.', details: { a: 1 }, odd: 1 },
  beside: 2,
}

/** What a stream of one frame, or an HTTP body, with this error in it loses. */
const inStream = (from: ProtocolName, to: ProtocolName, event: object) => {
  const translator = createStreamTranslator({ from, to })
  translator.push(`data: ${JSON.stringify(event)}\n\n`)
  translator.end()
  return report(translator.notes)
}
const asBody = (from: ProtocolName, to: ProtocolName, body: object, status = 500) =>
  report(translateError({ status, headers: {}, body }, { from, to }).notes)

describe('fields of an error that the target cannot express are noted at their path', () => {
  test.each<[string, ProtocolName, ProtocolName, object, string[]]>([
    [
      'a parameter, a code and unknown fields, for messages',
      'responses',
      'messages',
      { type: 'error', error: openaiError },
      [
        'error.details /error/odd',
        'field.unsupported /error/code',
        'field.unsupported /error/param',
      ],
    ],
    [
      'unknown fields, for chat',
      'responses',
      'chat-completions',
      { type: 'error', error: openaiError },
      ['error.details /error/odd'],
    ],
    [
      'a parameter and a code of a flat event',
      'responses',
      'messages',
      { type: 'error', code: 'odd_code', message: 'No.', param: 'input' },
      ['field.unsupported /code', 'field.unsupported /param'],
    ],
    [
      'a parameter, a code and unknown fields of chat',
      'chat-completions',
      'messages',
      { error: openaiError },
      [
        'error.details /error/odd',
        'field.unsupported /error/code',
        'field.unsupported /error/param',
      ],
    ],
    [
      'details, unknown keys and the id of the request, for chat',
      'messages',
      'chat-completions',
      anthropicError,
      [
        'error.details /error/details',
        'field.unknown /beside',
        'field.unknown /error/odd',
        'field.unsupported /request_id',
      ],
    ],
    [
      'details, unknown keys and the id of the request, for responses',
      'messages',
      'responses',
      anthropicError,
      [
        'error.details /error/details',
        'field.unknown /beside',
        'field.unknown /error/odd',
        'field.unsupported /request_id',
      ],
    ],
  ])('%s', (_, from, to, event, lost) => {
    const isOfError = (note: string) =>
      !/ \/(response\/)?(id|created|model)$|\/message\/|usage|created_at/.test(note)
    expect(inStream(from, to, event).filter(isOfError)).toEqual(lost)
    // The same body outside of a stream has headers for the id of the request.
    expect(asBody(from, to, event, 400)).toEqual(lost.filter(note => !note.endsWith('/request_id')))
  })

  test.each<ProtocolName>(['chat-completions', 'responses'])(
    'the id of the request has no header in a complete response, toward %s',
    to => {
      const { notes } = translateResponse(anthropicError, { from: 'messages', to })
      expect(report(notes)).toContain('field.unsupported /request_id')
    },
  )

  test.each<[to: ProtocolName, lost: string[]]>([
    ['messages', ['field.unsupported /code']],
    ['responses', []],
  ])('unknown keys of an error without an envelope, for %s', (to, lost) => {
    const body = {
      message: 'No.',
      type: 'server_error',
      code: 'odd_code',
      odd: 1,
      more: { x: 1 },
    }
    expect(asBody('chat-completions', to, body)).toEqual([
      'error.details /more',
      'error.details /odd',
      ...lost,
    ])
  })

  test.each<ProtocolName>(['chat-completions', 'responses'])(
    'makes no note for a null next to an error of %s',
    from => {
      for (const body of [
        { error: openaiError, user_id: null },
        { error: 'No.', user_id: null },
        { detail: 'No.', user_id: null },
      ])
        expect(
          asBody(from, 'generate-content', body).filter(note => note.includes('user_id')),
        ).toEqual([])
    },
  )

  test.each<ProtocolName>(['messages', 'responses'])(
    'faults that a server lists are a field of their own, toward %s',
    to => {
      const { notes } = translateError(
        { status: 422, headers: {}, body: { detail: [{ loc: ['body'], msg: 'No.' }] } },
        { from: 'chat-completions', to },
      )
      expect(report(notes)).toEqual(['error.details /detail'])
    },
  )
})

test('makes no note for details that are null', () => {
  const error = { type: 'api_error', message: 'No.', details: null }
  for (const to of ['chat-completions', 'responses', 'generate-content', 'converse'] as const)
    expect(asBody('messages', to, { type: 'error', error })).toEqual([])
})

test('notes the id of a request that a stream of converse has no place for', () => {
  const error = { type: 'api_error', message: 'No.' }
  const body = { type: 'error', error, request_id: 'req_1' }
  expect(inStream('messages', 'converse', body)).toEqual(['field.unsupported /request_id'])
})

describe('the misalignment details of an error', () => {
  const misalignment = {
    error_type: 'potentially_unintended_data_transfer',
    steer: { message: 'Ask first.' },
  }
  const error = {
    message: 'No.',
    type: 'invalid_request_error',
    param: null,
    code: 'misalignment_policy_violation',
    misalignment,
  }
  const { type: _, param: __, ...failure } = error
  const failed = {
    id: 'resp_1',
    object: 'response',
    model: 'm',
    created_at: 1,
    status: 'failed',
    output: [],
    error: failure,
  }

  test.each<[ProtocolName, ProtocolName]>([
    ['chat-completions', 'responses'],
    ['responses', 'chat-completions'],
  ])('are kept in both protocols of their provider: %s → %s', (from, to) => {
    const { body, notes } = translateError(
      { status: 400, headers: {}, body: { error } },
      { from, to },
    )
    expect({ body, notes }).toEqual({ body: { error }, notes: [] })
  })

  test.each<[string, object]>([
    ['an event', { type: 'error', error }],
    ['an event of a failed response', { type: 'response.failed', response: failed }],
  ])('are sent in a stream: %s', (_, event) => {
    const translator = createStreamTranslator({ from: 'responses', to: 'chat-completions' })
    expect(translator.push(`data: ${JSON.stringify(event)}\n\n`) + translator.end()).toContain(
      JSON.stringify(misalignment),
    )
  })

  test('are sent in a stream of responses, which has the failure in two events', () => {
    const translator = createStreamTranslator({ from: 'chat-completions', to: 'responses' })
    const text = translator.push(`data: ${JSON.stringify({ error })}\n\n`) + translator.end()
    expect(text).toMatch(
      /"type":"response.failed".*"code":"misalignment_policy_violation".*"misalignment":/,
    )
    expect(report(translator.notes).filter(note => note.includes('misalignment'))).toEqual([])
  })

  test('are kept from a failed response, and noted for other protocols', () => {
    expect(translateResponse(failed, { from: 'responses', to: 'chat-completions' }).body).toEqual({
      error,
    })
    for (const to of ['messages', 'generate-content'] as const)
      expect(report(translateResponse(failed, { from: 'responses', to }).notes)).toContain(
        'error.details /error/misalignment',
      )
  })
})

describe('a response that failed after some output', () => {
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'incomplete',
    content: [{ type: 'output_text', text: 'So far', annotations: [] }],
  }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const failed = {
    id: 'resp_1',
    model: 'm',
    created_at: 1,
    status: 'failed',
    output: [message],
    usage,
    error: { code: 'server_error', message: 'No.' },
    odd: 1,
  }

  test.each<ProtocolName>(['chat-completions', 'messages'])(
    'becomes an error for %s, and its content is noted',
    to => {
      const { notes } = translateResponse(failed, { from: 'responses', to })
      expect(report(notes)).toEqual(
        expect.arrayContaining([
          'field.unknown /odd',
          'field.unsupported /output/0',
          'field.unsupported /usage',
        ]),
      )
    },
  )

  test.each<ProtocolName>(['chat-completions', 'messages', 'generate-content'])(
    'becomes an error for %s, and its finish reason is noted',
    to => {
      const { notes } = translateResponse(
        { ...failed, incomplete_details: { reason: 'steered' } },
        { from: 'responses', to },
      )
      expect(report(notes)).toContain('field.unknown /incomplete_details/reason')
    },
  )

  test('keeps its incomplete_details within its own protocol', () => {
    const wire = { ...failed, incomplete_details: { reason: 'steered' } }
    const { value } = protocols.responses.decodeResponse(wire)
    expect(protocols.responses.encodeResponse(value).wire).toEqual(wire)
    expect(explodeResponse(wire, { protocol: 'responses' })).toContain(
      '"incomplete_details":{"reason":"steered"}',
    )
  })

  test.each<ProtocolName>(['messages', 'generate-content'])(
    'with only its finish reason becomes an error for %s, and its content is noted',
    to => {
      const logprobs = { content: [{ token: 'So far', logprob: -1, top_logprobs: [] }] }
      const choice = (index: number, more: object) => ({
        index,
        message: { role: 'assistant', content: 'So far' },
        ...more,
      })
      const choices = [
        choice(0, { finish_reason: 'error', logprobs }),
        choice(1, { finish_reason: 'stop' }),
      ]
      const response = {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices,
        usage: { prompt_tokens: 1 },
      }
      const { notes } = translateResponse(response, { from: 'chat-completions', to })
      const ofChoices = [
        '/choices/0/logprobs/content',
        '/choices/0/message',
        '/choices/1/finish_reason',
        '/choices/1/message',
      ]
      const lost = [...ofChoices, '/created', '/id', '/model', '/usage']
      expect(report(notes)).toEqual(lost.map(path => `field.unsupported ${path}`))
    },
  )
})

test.each<ProtocolName>(['responses', 'messages', 'generate-content'])(
  'fields of a last chunk next to the error in it reach clients of %s',
  to => {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      provider: 'p',
    }
    const choices = [{ index: 0, delta: { content: 'So far' }, finish_reason: 'error' }]
    const translator = createStreamTranslator({ from: 'chat-completions', to })
    const text =
      translator.push(
        `data: ${JSON.stringify({ ...chunk, error: { message: 'No.', code: 502, odd: 1 }, choices })}\n\n`,
      ) + translator.end()
    expect(text).toContain('So far')
    expect(text).toContain('No.')
    const notes = report(translator.notes).filter(note => !/usage|created/.test(note))
    const status = to === 'generate-content' ? [] : ['error.status /error/code']
    expect(notes).toEqual(['error.details /error/odd', ...status, 'field.unknown /provider'])
  },
)

describe('a response that failed before any output', () => {
  const created = {
    type: 'response.created',
    response: {
      id: 'resp_1',
      model: 'm',
      created_at: 1,
      status: 'in_progress',
      output: [],
      service_tier: 'flex',
    },
  }
  const failed = {
    type: 'response.failed',
    response: {
      ...created.response,
      status: 'failed',
      error: { code: 'server_error', message: 'No.' },
    },
  }

  test.each<ProtocolName>(['chat-completions', 'messages', 'generate-content'])(
    'drops its own fields in a stream to %s, with notes',
    to => {
      const translator = createStreamTranslator({ from: 'responses', to })
      for (const event of [created, failed]) translator.push(`data: ${JSON.stringify(event)}\n\n`)
      translator.end()
      const lost = ['/created_at', '/id', '/model', '/service_tier']
      expect(report(translator.notes).filter(note => !note.includes('/error'))).toEqual(
        lost.map(path => `field.unsupported ${path}`),
      )
    },
  )
})

describe('counts that were sent before a stream failed', () => {
  const start = (usage: object) => ({
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
  })
  const chunk = {
    id: 'c',
    model: 'm',
    choices: [{ index: 0, delta: { content: 'So far' } }],
    usage: { prompt_tokens: 5, completion_tokens: 1 },
  }
  const created = {
    type: 'response.created',
    response: { id: 'resp_1', model: 'm', created_at: 1, status: 'in_progress', output: [] },
  }
  const failed = {
    type: 'response.failed',
    response: {
      ...created.response,
      status: 'failed',
      usage: { input_tokens: 5, output_tokens: 1 },
      error: { message: 'No.' },
    },
  }
  const error = { error: { message: 'No.' } }

  test.each<[string, ProtocolName, ProtocolName, object[], string[]]>([
    [
      'have no place in chat',
      'messages',
      'chat-completions',
      [start({ input_tokens: 5, output_tokens: 1 }), { type: 'error', ...error }],
      ['/usage'],
    ],
    [
      'of a failed response have none in chat',
      'responses',
      'chat-completions',
      [created, failed],
      ['/usage'],
    ],
    [
      'have no place in messages after the start',
      'chat-completions',
      'messages',
      [chunk, error],
      ['/usage'],
    ],
    ['are in the last event of responses', 'chat-completions', 'responses', [chunk, error], []],
    [
      'have no place when the stream was cut off',
      'chat-completions',
      'messages',
      [chunk],
      ['/usage'],
    ],
  ])('%s', (_, from, to, events, lost) => {
    const translator = createStreamTranslator({ from, to })
    const text =
      events.map(event => translator.push(`data: ${JSON.stringify(event)}\n\n`)).join('') +
      translator.end()
    expect(
      translator.notes
        .filter(({ code, path }) => code === 'field.unsupported' && path.startsWith('/usage'))
        .map(({ path }) => path),
    ).toEqual(lost)
    expect(text.includes('"total_tokens":6')).toBe(lost.length === 0)
  })

  test('are noted one by one where the start has the others', () => {
    const counts = { input: 5, output: 1, cacheRead: 0, cacheWrite: 0 }
    const state = messages.streamEncoder.initial()
    const out: unknown[] = []
    const emit = (wire: unknown) => out.push(wire)
    const step = (event: CanonicalEvent) => messages.streamEncoder.step(state, event, emit)
    step({ type: 'start', id: 'msg_1', model: 'm' })
    step({ type: 'usage', usage: counts })
    step({ type: 'message.start', candidate: 0, message: 0, role: 'assistant' })
    step({ type: 'usage', usage: { output: 9, reasoning: 4 } })
    step({ type: 'error', error: { status: 500, kind: 'internal', message: 'No.' } })
    expect(JSON.stringify(out[0])).toContain('"input_tokens":5')
    expect(report(state.notes)).toEqual([
      'field.unsupported /usage/output',
      'field.unsupported /usage/reasoning',
    ])
  })
})

const names = Object.keys(protocols) as ProtocolName[]
const pairs = names.flatMap(from => names.filter(to => to !== from).map(to => ({ from, to })))

describe.each(pairs)('next to an error of $from that reaches clients of $to', ({ from, to }) => {
  const headersOf = (headers: Record<string, string>) =>
    translateError(
      { status: 429, headers, body: { error: { message: 'Slow down.' } } },
      { from, to },
    ).headers

  test('declares that its body is JSON, as the SDK of Google requires before it reads one', () => {
    expect(headersOf({ 'content-type': 'text/html' })).toMatchObject({
      'content-type': 'application/json',
    })
  })

  // The name of the error is in a header of one protocol.
  const own = to === 'converse' ? ['x-amzn-errortype'] : []

  test('keeps the retry headers unchanged', () => {
    const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
    expect(headersOf({ 'X-Should-Retry': 'false', 'retry-after': date })).toMatchObject({
      'x-should-retry': 'false',
      'retry-after': date,
    })
    expect(headersOf({ 'retry-after-ms': '1500', 'retry-after': date })).toMatchObject({
      'retry-after': '2',
      'retry-after-ms': '1500',
    })
    expect(Object.keys(headersOf({}) ?? {})).toEqual(['content-type', ...own])
    expect(
      Object.keys(headersOf({ 'x-should-retry': 'perhaps', 'retry-after': 'soon 1' }) ?? {}),
    ).toEqual(['content-type', ...own])
  })
})

const logProbabilities = {
  content: [{ token: 'yes', logprob: -1, bytes: null, top_logprobs: [] }],
  refusal: null,
}
const failedThird = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      logprobs: logProbabilities,
      message: { role: 'assistant', content: 'yes' },
    },
    {
      index: 1,
      finish_reason: 'length',
      logprobs: logProbabilities,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    },
    {
      index: 2,
      finish_reason: 'error',
      error: { message: 'bad' },
      message: { role: 'assistant', content: 'no' },
    },
  ],
}

test.each([
  [
    'generate-content',
    [
      'field.unsupported /choices/0/finish_reason',
      'field.unsupported /choices/1/finish_reason',
      'field.unsupported /choices/1/logprobs',
    ],
  ],
  [
    'messages',
    [
      'field.unsupported /choices/0/finish_reason',
      'field.unsupported /choices/0/logprobs/content',
      'candidates.first-only /choices/1',
    ],
  ],
] as const)(
  'the finish reasons of other candidates are noted where a response fails in one, streamed to clients of %s',
  (to, expected) => {
    const { 'chat-completions': chat, [to]: target } = protocols
    const { text, notes } = encodeStream(target, explode(chat.decodeResponse(failedThird).value), {
      fieldNames: chat.fieldNames,
    })
    expect(report(notes)).toEqual(expect.arrayContaining([...expected]))
    // The logprobs of a text come after it.
    if (to === 'generate-content') expect(text).toContain('"logProbability":-1')
  },
)

test('makes no synthesized note for a chunk that is not written', () => {
  const failed: CanonicalEvent[] = [
    { type: 'start' },
    { type: 'error', error: { status: 500, kind: 'internal', message: 'bad' } },
    { type: 'end', clean: false },
  ]
  expect(report(encodeStream(protocols['chat-completions'], failed).notes)).toEqual([])
})
