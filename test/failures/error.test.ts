import { describe, expect, test } from 'vitest'
import { translateError, translateResponse } from '../../src/api.ts'
import { protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { asking, hostsOf, one, sendJson, sendStream, upstream } from '../gateway/support.ts'
import { type Covered, covered } from '../support/covered.ts'
import { valueAt } from '../support/cross.ts'
import {
  begun,
  chunk,
  done,
  frame,
  others,
  pairs,
  report,
  responsesResponse,
  responsesStream,
  shown,
  textBlock,
  textEvents,
} from './support.ts'

const all = covered.flatMap(from => covered.map(to => ({ from, to })))

/** Where each protocol's clients look for the words. */
const errorOf = (body: unknown) =>
  (body as { error: { message: string; type: string; code?: string | null } }).error

describe('failures in the middle of a response', () => {
  const half: Record<Covered, unknown[]> = {
    'chat-completions': [chunk({ role: 'assistant', content: 'Half an' })],
    responses: responsesStream(textEvents(0, 'Half an').slice(0, 3), undefined),
    messages: [begun(), ...textBlock(0, 'Half an').slice(0, 2)],
    'generate-content': [frame([{ text: 'Half an' }])],
  }
  const failures: { from: Covered; what: string; wires: unknown[] }[] = [
    {
      from: 'chat-completions',
      what: 'a frame that is an error',
      wires: [
        { error: { message: 'Engine on fire', type: 'server_error', code: null, param: null } },
      ],
    },
    {
      from: 'chat-completions',
      what: 'an error beside a choice',
      wires: [
        { ...chunk({ content: '' }, 'error'), error: { message: 'Engine on fire', code: 502 } },
        done,
      ],
    },
    {
      from: 'chat-completions',
      what: 'an error that is a text, then [DONE]',
      wires: [{ error: 'Engine on fire' }, done],
    },
    {
      from: 'messages',
      what: 'an error event',
      wires: [{ type: 'error', error: { type: 'overloaded_error', message: 'Engine on fire' } }],
    },
    {
      from: 'generate-content',
      what: 'a frame that is an error',
      wires: [{ error: { code: 503, message: 'Engine on fire', status: 'UNAVAILABLE' } }],
    },
    {
      from: 'responses',
      what: 'a flat error event',
      wires: [
        {
          type: 'error',
          sequence_number: 4,
          code: 'server_error',
          message: 'Engine on fire',
          param: null,
        },
      ],
    },
    {
      from: 'responses',
      what: 'a nested error event and response.failed',
      wires: [
        {
          type: 'error',
          sequence_number: 4,
          error: {
            type: 'server_error',
            code: 'server_error',
            message: 'Engine on fire',
            param: null,
          },
        },
        {
          type: 'response.failed',
          sequence_number: 5,
          response: responsesResponse([], {
            status: 'failed',
            error: { code: 'server_error', message: 'Engine on fire' },
          }),
        },
      ],
    },
    {
      from: 'responses',
      what: 'response.failed alone',
      wires: [
        {
          type: 'response.failed',
          sequence_number: 4,
          response: responsesResponse([], {
            status: 'failed',
            error: { code: 'server_error', message: 'Engine on fire' },
          }),
        },
      ],
    },
  ]

  test.each(
    failures.flatMap(({ from, ...failure }) => others(from).map(to => ({ from, to, ...failure }))),
  )(
    '$what of $from is a failure for a client of $to, in its own form, after the text so far',
    async ({ from, to, wires }) => {
      const { outcome, events, text, response } = report([...half[from], ...wires], { from, to })
      expect(outcome).toBe('failed')
      expect(text).toContain('Half an')
      const failed = events.filter(event => (event as { error?: unknown }).error)
      expect(failed).toHaveLength(1)
      expect(errorOf(failed[0]).message).toBe('Engine on fire')
      expect(text).not.toMatch(
        /"finish_reason":"|"finishReason"|message_stop|message_delta|response\.completed|response\.incomplete/,
      )
      if (to === 'chat-completions') expect(text).not.toContain('[DONE]')
      await expect(response()).rejects.toThrow('Engine on fire')
    },
  )

  test.each(pairs)(
    'a complete response of $from that is an error is an error body of $to',
    ({ from, to }) => {
      const bodies: Record<Covered, object> = {
        'chat-completions': { error: { message: 'Engine on fire', code: 502 } },
        responses: responsesResponse([], {
          status: 'failed',
          error: { code: 'server_error', message: 'Engine on fire' },
        }),
        messages: { type: 'error', error: { type: 'api_error', message: 'Engine on fire' } },
        'generate-content': { error: { code: 500, message: 'Engine on fire', status: 'INTERNAL' } },
      }
      const { body } = translateResponse(bodies[from], { from, to })
      expect(strictOf(to).checkError(body)).toEqual([])
      expect(errorOf(body).message).toBe('Engine on fire')
    },
  )
})

describe('a context overflow', () => {
  /** What the client that shortens its history looks for. */
  const detector = /prompt is too long[^0-9]*(\d+)\s*tokens?\s*>\s*(\d+)/i

  test.each<[from: Covered, message: string, code: string | number | null]>([
    [
      'chat-completions',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      'context_length_exceeded',
    ],
    [
      'chat-completions',
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8800 in the messages, 200 in the completion).",
      null,
    ],
    [
      'chat-completions',
      "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens.",
      400,
    ],
    [
      'chat-completions',
      'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it',
      400,
    ],
    [
      'chat-completions',
      'Prompt contains 9000 tokens and 0 draft tokens, too large for model with 8192 maximum context length',
      null,
    ],
    [
      'chat-completions',
      "This model's maximum prompt length is 8192 but the request contains 9000 tokens.",
      null,
    ],
    [
      'chat-completions',
      'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
      null,
    ],
    [
      'responses',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      'context_length_exceeded',
    ],
    [
      'responses',
      "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens.",
      null,
    ],
  ])('from %s as "%s" reaches a messages client with both token counts', (from, message, code) => {
    const { status, body, notes } = translateError(
      {
        status: 400,
        body: { error: { message, type: 'invalid_request_error', param: null, code } },
      },
      { from, to: 'messages' },
    )
    expect(status).toBe(400)
    expect(errorOf(body).type).toBe('invalid_request_error')
    expect(detector.exec(errorOf(body).message)?.slice(1)).toEqual(['9000', '8192'])
    expect(errorOf(body).message).toContain(message)
    expect(shown(notes)).toContain('approximated /error/message error.reworded')
  })

  test.each<[from: Covered, message: string, code: string | null]>([
    [
      'chat-completions',
      'Please reduce the length of the messages or completion.',
      'context_length_exceeded',
    ],
    [
      'responses',
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'context_length_exceeded',
    ],
    [
      'responses',
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      null,
    ],
  ])(
    'from %s as "%s" reaches a messages client without synthesized token counts',
    (from, message, code) => {
      const { body } = translateError(
        {
          status: 400,
          body: { error: { message, type: 'invalid_request_error', param: null, code } },
        },
        { from, to: 'messages' },
      )
      expect(errorOf(body).message).toBe(`prompt is too long: ${message}`)
    },
  )

  test.each(['chat-completions', 'responses'] as const)(
    'from messages has the code that clients of %s recognize',
    to => {
      const { status, body } = translateError(
        {
          status: 400,
          body: {
            type: 'error',
            error: {
              type: 'invalid_request_error',
              message: 'prompt is too long: 9000 tokens > 8192 maximum',
            },
          },
        },
        { from: 'messages', to },
      )
      expect(status).toBe(400)
      expect(errorOf(body)).toMatchObject({
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        message: 'prompt is too long: 9000 tokens > 8192 maximum',
      })
    },
  )

  test('is not confused with a limit of tokens per minute', () => {
    const { status, body } = translateError(
      {
        status: 429,
        body: {
          error: {
            message: 'Limit 30000 tokens per min, used 29000, requested 9000',
            type: 'tokens',
            param: null,
            code: 'rate_limit_exceeded',
          },
        },
      },
      { from: 'chat-completions', to: 'messages' },
    )
    expect(status).toBe(429)
    expect(errorOf(body)).toEqual({
      type: 'rate_limit_error',
      message: 'Limit 30000 tokens per min, used 29000, requested 9000',
    })
  })
})

const wordOf: Record<string, [code: number, status: string]> = {
  invalid_request_error: [400, 'INVALID_ARGUMENT'],
  authentication_error: [401, 'UNAUTHENTICATED'],
  permission_error: [403, 'PERMISSION_DENIED'],
  not_found_error: [404, 'NOT_FOUND'],
  request_too_large: [413, 'INVALID_ARGUMENT'],
  rate_limit_error: [429, 'RESOURCE_EXHAUSTED'],
  timeout_error: [504, 'DEADLINE_EXCEEDED'],
  overloaded_error: [503, 'UNAVAILABLE'],
}

/** An error as each protocol's servers write it. */
const bodyOf: Record<Covered, (type: string, message: string) => object> = {
  'chat-completions': (type, message) => ({ error: { message, type, param: null, code: null } }),
  responses: (type, message) => ({ error: { message, type, param: null, code: null } }),
  messages: (type, message) => ({ type: 'error', error: { type, message } }),
  'generate-content': (type, message) => ({
    error: { code: wordOf[type]?.[0] ?? 500, message, status: wordOf[type]?.[1] ?? 'INTERNAL' },
  }),
}

test.each(pairs)(
  'the status of a proxy between is the same for clients of $to as for those of $from',
  ({ from, to }) => {
    for (const status of [500, 502, 520]) {
      const reported = translateError(
        { status, headers: {}, body: '<html>Bad gateway</html>' },
        { from, to },
      )
      expect(reported).toMatchObject({ status, notes: [] })
    }
  },
)

test.each(pairs)('notes fields of an error of $from that $to cannot express', ({ from, to }) => {
  const bodies: Record<Covered, object> = {
    'chat-completions': {
      error: {
        message: 'Full',
        type: 'server_error',
        param: 'model',
        code: 'server_is_overloaded',
        hint: 'later',
      },
    },
    responses: {
      error: {
        message: 'Full',
        type: 'server_error',
        param: 'model',
        code: 'server_is_overloaded',
        hint: 'later',
      },
    },
    messages: {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Full', details: { hint: 'later' } },
    },
    'generate-content': {
      error: {
        code: 503,
        message: 'Full',
        status: 'UNAVAILABLE',
        details: [{ '@type': 'type.test/Hint', hint: 'later' }],
      },
    },
  }
  const { notes } = translateError(
    { status: from === 'messages' ? 529 : 503, body: bodies[from] },
    { from, to },
  )
  // Only messages has a status for an overloaded server; generate-content does not distinguish it
  // from an outage.
  const status =
    from === 'messages' || (to === 'messages' && from !== 'generate-content')
      ? ['approximated /status error.status']
      : []
  const words: Record<Covered, string[]> = {
    messages: ['param', 'code'],
    'generate-content': ['code'],
    'chat-completions': [],
    responses: [],
  }
  const named =
    from === 'chat-completions' || from === 'responses'
      ? words[to].map(word => `dropped /error/${word} field.unsupported`)
      : []
  expect(new Set(shown(notes))).toEqual(
    new Set([
      ...status,
      ...named,
      `dropped /error/${named.length > 0 || (to === 'responses' && from === 'chat-completions') || (to === 'chat-completions' && from === 'responses') ? 'hint' : 'details'} error.details`,
    ]),
  )
})

const inner = {
  message: 'No.',
  type: 'invalid_request_error',
  status: 'INVALID_ARGUMENT',
  param: 'model',
  code: 'novel',
  details: { hint: 'later' },
}

test.each<[string, unknown]>([
  ['an object', { error: inner }],
  ['a list of one', [{ error: inner }]],
  ['an object without a name', inner],
  ['a list of one such', [inner]],
])('notes on an error that is %s have a path', (_, body) => {
  const names = Object.keys(protocols) as (keyof typeof protocols)[]
  for (const from of names)
    for (const to of names.filter(name => name !== from)) {
      const { notes } = translateError({ status: 400, body }, { from, to })
      expect(notes.length, `${from} → ${to}`).toBeGreaterThan(0)
      for (const { path, code } of notes)
        expect(valueAt(body, path), `${from} → ${to}: ${code} ${path}`).toBeDefined()
    }
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  /**
   * A client of one protocol with an upstream of the other that sends these scripts, one after
   * another.
   */
  const connect = async (from: Covered, to: Covered, ...scripts: Parameters<typeof upstream>) => {
    const { url } = await upstream(...scripts)
    const ask = await start(one(url, from))
    return (stream = false) => ask(...asking(to, { stream }))
  }

  /**
   * Status by status: what a client gets for the status of an upstream. Only one protocol has 529.
   */
  test.each(all)('keeps the status of $from distinct for a client of $to', async ({ from, to }) => {
    const statuses = [
      [400, 'invalid_request_error'],
      [403, 'permission_error'],
      [404, 'not_found_error'],
      [413, 'request_too_large'],
      [429, 'rate_limit_error'],
      [500, 'api_error'],
      [503, 'api_error'],
      [504, 'timeout_error'],
      [529, 'overloaded_error'],
    ] as const
    const ask = await connect(
      from,
      to,
      ...statuses.map(([status, type]) => sendJson(status, bodyOf[from](type, `error ${status}`))),
    )
    for (const [status, type] of statuses) {
      const response = await ask()
      // Its own servers never send it, so no client handles one of them.
      if (status === 529 && from === 'generate-content') continue
      expect(response.status).toBe(
        status === 529 && to !== 'messages' && from !== to ? 503 : status,
      )
      const body: unknown = await response.json()
      expect(strictOf(to).checkError(body)).toEqual([])
      expect(errorOf(body).message).toBe(`error ${status}`)
      if (to === 'messages' && from !== to) expect(errorOf(body).type).toBe(type)
    }
  })

  test.each(all)(
    'a key that the upstream of $from refuses is no fault of a client of $to',
    async ({ from, to }) => {
      const ask = await connect(
        from,
        to,
        sendJson(401, bodyOf[from]('authentication_error', 'Bad key.')),
      )
      const response = await ask()
      const body: unknown = await response.json()
      expect(response.status).toBe(502)
      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(strictOf(to).checkError(body)).toEqual([])
      expect(errorOf(body).message).toBe('the upstream refuses the key of the gateway: Bad key.')
    },
  )

  test.each(all)(
    'the retry hint of $from reaches a client of $to, complete or streamed',
    async ({ from, to }) => {
      const limit = sendJson(429, bodyOf[from]('rate_limit_error', 'Slow down'), {
        'retry-after': '7',
        'x-ratelimit-limit-requests': '60',
        'anthropic-ratelimit-requests-remaining': '0',
        'x-should-retry': 'true',
      })
      const ask = await connect(from, to, limit)
      for (const stream of [false, true]) {
        const { status, headers } = await ask(stream)
        expect(status).toBe(429)
        expect(headers.get('retry-after')).toBe('7')
        expect(headers.get('x-ratelimit-limit-requests')).toBe('60')
        expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('0')
        expect(headers.get('x-should-retry')).toBe('true')
      }
    },
  )

  test.each(pairs)(
    'returns a retry date or milliseconds to a client of $to from $from',
    async ({ from, to }) => {
      const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
      const limit = (headers: Record<string, string>) =>
        sendJson(429, bodyOf[from]('rate_limit_error', 'Slow down'), headers)
      const ask = await connect(
        from,
        to,
        limit({ 'retry-after': date }),
        limit({ 'retry-after-ms': '1500' }),
      )
      expect((await ask()).headers.get('retry-after')).toBe(date)
      expect((await ask()).headers.get('retry-after-ms')).toBe('1500')
    },
  )

  const odd: [what: string, body: string, message: string | RegExp][] = [
    [
      'an error in a list',
      '[{"error":{"code":400,"message":"bad field","status":"INVALID_ARGUMENT"}}]',
      'bad field',
    ],
    [
      'a message at the top',
      '{"object":"error","message":"bad field","type":"BadRequestError","param":null,"code":400}',
      'bad field',
    ],
    ['an error that is a text', '{"error":"bad field"}', 'bad field'],
    ['a detail', '{"detail":"bad field"}', 'bad field'],
    ['a message alone', '{"message":"bad field"}', 'bad field'],
    ['plain words', 'bad field', 'bad field'],
    ['JSON that is a text', '"bad field"', /bad field/],
    ['nothing', '', /./],
    ['null', 'null', /./],
    ['an empty object', '{}', /./],
    ['a page', '<html><body>secret</body></html>', /^(?!.*secret)./],
    ['broken JSON', '{"error":{"message":"bad fi', /./],
    ['an error without a message', '{"error":{"code":400}}', /./],
    ['a message that is an object', '{"error":{"message":{"text":"bad field"}}}', /./],
  ]

  test.each(pairs)(
    'returns an unusual error of $from to a client of $to with its message',
    async ({ from, to }) => {
      const ask = await connect(from, to, ...odd.map(([, body]) => sendJson(400, body)))
      for (const [what, , message] of odd) {
        const response = await ask()
        expect(response.status, what).toBe(400)
        const result: unknown = await response.json()
        expect(strictOf(to).checkError(result), what).toEqual([])
        expect(errorOf(result).message, what).not.toContain('[object Object]')
        if (typeof message === 'string') expect(errorOf(result).message, what).toBe(message)
        else expect(errorOf(result).message, what).toMatch(message)
      }
    },
  )

  test.each(pairs)(
    'returns an error status when a stream of $from fails at once, to a client of $to',
    async ({ from, to }) => {
      const failure = bodyOf[from](
        from === 'messages' ? 'overloaded_error' : 'server_error',
        'Engine on fire',
      )
      const frame =
        from === 'chat-completions' || from === 'generate-content'
          ? `data: ${JSON.stringify(failure)}\n\n`
          : `event: error\ndata: ${JSON.stringify({ ...failure, type: 'error' })}\n\n`
      const ask = await connect(from, to, sendStream([frame]))
      const response = await ask(true)
      expect(response.status).toBeGreaterThanOrEqual(500)
      expect(errorOf(await response.json()).message).toBe('Engine on fire')
    },
  )
})
