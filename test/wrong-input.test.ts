import { describe, expect, test } from 'vitest'
import { translateBetween } from '../src/between.ts'
import * as api from '../src/index.ts'
import { chatCompletions } from '../src/protocols/chat-completions/client.ts'
import { messages } from '../src/protocols/messages/upstream.ts'
import * as testing from '../src/testing/index.ts'

/** As plain JavaScript, which no type check precedes. */
type Untyped = Record<string, (...values: unknown[]) => unknown>
const root = api as unknown as Untyped
const call = (name: string, ...values: unknown[]) => root[name]?.(...values)
const between = translateBetween(chatCompletions, messages) as unknown as Untyped
const unchecked = translateBetween as unknown as (...values: unknown[]) => unknown

const pair = { from: 'chat-completions', to: 'messages' } as const
const equal = { from: 'messages', to: 'messages' } as const
const one = { protocol: 'chat-completions' } as const

const notBodies: [what: string, body: unknown, but: string][] = [
  ['null', null, 'but got null'],
  ['undefined', undefined, 'but got undefined'],
  ['a list', [], 'but got Array'],
  ['JSON text', '{"model":"m","messages":[]}', 'but got String; parse it first'],
  ['a number', 5, 'but got Number'],
  ['a boolean', true, 'but got Boolean'],
  ['a function', () => ({}), 'but got Function'],
  ['bytes', new TextEncoder().encode('{}'), 'but got Uint8Array; parse its text first'],
  ['a Buffer', Buffer.from('{}'), 'but got Uint8Array; parse its text first'],
  ['an ArrayBuffer', new ArrayBuffer(2), 'but got ArrayBuffer; parse its text first'],
  ['a promise', Promise.resolve({}), 'but got Promise; await it first'],
  ['a Response', new Response('{}'), 'but got Response; await its json() first'],
  [
    'a Request',
    new Request('http://a.test', { method: 'POST', body: '{}' }),
    'but got Request; await its json() first',
  ],
]

const functionsOfBodies: [name: string, act: (body: unknown) => unknown][] = [
  ['translateRequest', body => call('translateRequest', body, pair)],
  ['translateRequest between equal protocols', body => call('translateRequest', body, equal)],
  [
    'translateRequest to a vendor',
    body => call('translateRequest', body, { ...pair, vendor: 'anthropic' }),
  ],
  ['translateResponse', body => call('translateResponse', body, pair)],
  ['translateResponse between equal protocols', body => call('translateResponse', body, equal)],
  ['normalizeResponse', body => call('normalizeResponse', body, one)],
  ['explodeResponse', body => call('explodeResponse', body, one)],
  ['referencesOf', body => call('referencesOf', body, one)],
  ['historyOf', body => call('historyOf', body, {}, one)],
  ['translateBetween, translateRequest', body => between['translateRequest']?.(body)],
  ['translateBetween, translateResponse', body => between['translateResponse']?.(body)],
]

describe.each(functionsOfBodies)('%s', (_, act) => {
  test.each(notBodies)('throws for %s with advice', (_, body, but) => {
    expect(() => act(body)).toThrow(
      expect.objectContaining({
        code: 'malformed',
        path: '',
        message: expect.stringContaining(`expected an object, ${but}`),
      }),
    )
  })
})

describe('a body that is no plain JSON', () => {
  const names = [
    'chat-completions',
    'responses',
    'messages',
    'generate-content',
    'converse',
  ] as const
  const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
  const bodies: Record<(typeof names)[number], object> = {
    'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
    responses: { model: 'm', input: 'Hello' },
    messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] },
    'generate-content': { contents },
    converse: { messages: [{ role: 'user', content: [{ text: 'Hello' }] }] },
  }

  test.each(names.flatMap(from => names.map(to => [from, to] as const)))(
    '%s to %s: never overflows the stack',
    (from, to) => {
      const round: Record<string, unknown> = { ...bodies[from] }
      round['odd'] = [{ self: round }]
      let deep: Record<string, unknown> = { ...bodies[from] }
      const top = deep
      for (let depth = 0; depth < 20_000; depth++) deep = deep['odd'] = {}
      for (const body of [round, top])
        try {
          call('translateRequest', body, { from, to, model: 'm' })
        } catch (error) {
          const [path, message] =
            body === round
              ? ['/odd/0/self', 'this contains itself']
              : ['', 'it is nested too deeply']
          expect(error).toMatchObject({
            name: 'TranslationError',
            code: 'malformed',
            path,
            message: expect.stringContaining(message),
          })
        }
    },
  )

  /** As many objects inside each other. */
  const nested = (levels: number, top: object) => {
    let deep: Record<string, unknown> = { ...top }
    const body = deep
    for (let level = 1; level < levels; level++) deep = deep['odd'] = {}
    return body
  }
  const tooDeep = expect.objectContaining({
    name: 'TranslationError',
    code: 'malformed',
    path: '',
    message: expect.stringContaining('it is nested too deeply'),
  })
  const examined = [
    ...names.map(name => [name, name] as const),
    ['generate-content', 'messages'] as const,
  ]
  test.each(examined)('%s to %s: is refused before the stack overflows', (from, to) => {
    const translate = (levels: number) =>
      call('translateRequest', nested(levels, bodies[from]), { from, to, model: 'm' })
    expect(() => translate(1001)).toThrow(tooDeep)
    expect(() => translate(1000)).not.toThrow()
  })

  test.each(['translateResponse', 'normalizeResponse', 'explodeResponse'])(
    'is refused as a response: %s',
    name => {
      const response = nested(1100, {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
      })
      const options =
        name === 'translateResponse'
          ? { from: 'generate-content', to: 'messages' }
          : { protocol: 'generate-content' }
      expect(() => call(name, response, options)).toThrow(tooDeep)
    },
  )

  test('as an event of a stream ends the stream with an error that says so', () => {
    const event = nested(1100, {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }],
    })
    const translator = api.createStreamTranslator({ from: 'generate-content', to: 'messages' })
    translator.push(`data: ${JSON.stringify(event)}\n\n`)
    expect(translator.error?.message).toContain('it is nested too deeply')
  })

  test('is refused with its path', () => {
    const round: Record<string, unknown> = { contents }
    round['odd'] = { self: round }
    expect(() =>
      call('translateRequest', round, { from: 'generate-content', to: 'messages', model: 'm' }),
    ).toThrow(
      expect.objectContaining({
        code: 'malformed',
        path: '/odd/self',
        message: expect.stringContaining('this contains itself'),
      }),
    )
  })
})

describe('a body with a fault', () => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
  test.each<[string, unknown, string]>([
    [
      'a misspelled key',
      { model: 'm', mesages: [] },
      'chat-completions at /messages: missing, expected a list; is its name misspelled?',
    ],
    ['a missing key', { model: 'm' }, 'chat-completions at /messages: missing, expected a list'],
    [
      'a value of another type',
      { ...request, messages: 'Hello' },
      'chat-completions at /messages: expected a list',
    ],
    [
      'a word for a number',
      { ...request, logit_bias: { 5: 'x' } },
      'chat-completions at /logit_bias/5: expected a number',
    ],
    [
      'null in a list',
      { ...request, messages: [null] },
      'chat-completions at /messages/0: expected an object',
    ],
    [
      'a misspelled role',
      { ...request, messages: [{ role: 'asistant', content: 'Hello' }] },
      'chat-completions at /messages/0/role: expected one of developer, system, user, assistant, tool, function; did you mean assistant?',
    ],
    [
      'a missing role',
      { ...request, messages: [{ content: 'Hello' }] },
      'chat-completions at /messages/0/role: missing, expected one of developer, system',
    ],
    [
      'a value of none of several types',
      { ...request, messages: [{ role: 'user', content: 5 }] },
      'chat-completions at /messages/0/content: expected a list or text',
    ],
    [
      'a fraction for a whole number',
      { ...request, seed: 0.5 },
      'chat-completions at /seed: expected a whole number',
    ],
    ['a bigint', { ...request, seed: 5n }, 'chat-completions at /seed: expected a whole number'],
  ])('is refused with its path: %s', (_, body, message) => {
    expect(() => call('translateRequest', body, pair)).toThrow(message)
  })
})

describe('translateError', () => {
  const functions: [string, (error: unknown) => unknown][] = [
    ['of the root', error => call('translateError', error, pair)],
    ['of translateBetween', error => between['translateError']?.(error)],
  ]
  describe.each(functions)('%s', (_, act) => {
    test.each<[string, unknown, string]>([
      ['null', null, 'error.status: expected a number'],
      ['text', 'overloaded', 'error.status: expected a number'],
      ['a list', [], 'error.status: expected a number'],
      ['the body alone', { error: { message: 'busy' } }, 'error.status: expected a number'],
      ['a status in quotes', { status: '529', body: {} }, 'error.status: expected a number'],
      ['NaN', { status: Number.NaN, body: {} }, 'error.status: expected a number'],
      [
        'headers of another type',
        { status: 529, headers: 'retry-after: 7', body: {} },
        'error.headers: expected an object or Headers',
      ],
    ])('throws a TypeError with the path for %s', (_, error, message) => {
      expect(() => act(error)).toThrow(TypeError)
      expect(() => act(error)).toThrow(message)
    })

    test.each<[string, object]>([
      ['Headers', new Headers({ 'Retry-After': '7' })],
      ['an object', { 'Retry-After': '7' }],
      ['a Map', new Map([['Retry-After', '7']])],
    ])('reads headers from %s', (_, headers) => {
      expect(act({ status: 429, headers, body: { error: { message: 'busy' } } })).toMatchObject({
        headers: { 'retry-after': '7' },
      })
    })

    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    test.each<[string, unknown]>([
      ['null', null],
      ['undefined', undefined],
      ['text', 'busy'],
      ['a function', () => 1],
      ['a symbol', Symbol('x')],
      ['a bigint', { count: 5n }],
      ['a cyclic object', cyclic],
      ['bytes', new Uint8Array(2)],
    ])('keeps the status for any body: %s', (_, body) => {
      expect(act({ status: 429, body })).toMatchObject({ status: 429 })
    })
  })
})

describe('values that are not a stream', () => {
  const collected = async (name: string, source: unknown, options: object) => {
    for await (const _ of call(name, source, options) as AsyncIterable<unknown>);
  }
  const functions: [string, (source: unknown) => Promise<unknown>][] = [
    ['collectStream', async source => call('collectStream', source, one)],
    ['readStream', source => collected('readStream', source, one)],
    ['translateStream', source => collected('translateStream', source, pair)],
    [
      'translateStream between equal protocols',
      source => collected('translateStream', source, equal),
    ],
  ]
  describe.each(functions)('%s', (_, act) => {
    test.each<[string, unknown, string]>([
      [
        'undefined',
        undefined,
        'stream: expected a stream, text, bytes, or a list of these, but got undefined',
      ],
      ['an ArrayBuffer', new ArrayBuffer(2), 'but got ArrayBuffer; pass a Uint8Array of it'],
      ['a Response', new Response('data: {}\n\n'), 'but got Response; pass its body'],
      ['a promise', Promise.resolve([]), 'but got Promise; await it first'],
      ['a number', 5, 'but got Number'],
      ['an object', {}, 'but got Object'],
      [
        'a list of objects',
        [{ type: 'message_start' }],
        'chunk: expected text or bytes, but got Object',
      ],
      ['a list of numbers', [1], 'chunk: expected text or bytes, but got Number'],
      ['a list of null', [null], 'chunk: expected text or bytes, but got null'],
    ])('rejects with a TypeError for %s', async (_, source, message) => {
      await expect(act(source)).rejects.toThrow(TypeError)
      await expect(act(source)).rejects.toThrow(message)
    })
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 5],
    ['an object', {}],
    ['a list', ['data: {}']],
  ])('push throws a TypeError for %s', (_, chunk) => {
    for (const options of [pair, equal]) {
      const translator = call('createStreamTranslator', options) as { push(chunk: unknown): string }
      expect(() => translator.push(chunk)).toThrow(TypeError)
      expect(() => translator.push(chunk)).toThrow('chunk: expected text or bytes, but got')
    }
  })
})

test.each<[string, (text: string) => string | Uint8Array]>([
  ['text', text => text],
  ['bytes', text => new TextEncoder().encode(text)],
  ['a Buffer', text => Buffer.from(text)],
])('a whole stream may be %s', async (_, whole) => {
  const response = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }],
  }
  const source = whole(api.explodeResponse(response, one))
  expect((await api.collectStream(source, one)).body).toMatchObject({
    choices: [{ message: { content: 'Hi!' } }],
  })
  const translated = []
  for await (const chunk of api.translateStream(source, pair)) translated.push(chunk)
  expect(Buffer.concat(translated).toString()).toContain('Hi!')
})

describe('helpers for canonical responses', () => {
  const wire = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3 },
  }
  test.each(['textOf', 'reasoningOf', 'toolCallsOf', 'usageOf'])(
    '%s throws for a value that is not a canonical response',
    name => {
      const message = `${name}: expected a canonical response, such as normalizeResponse returns`
      for (const value of [null, undefined, 'text', [], {}, wire])
        expect(() => call(name, value)).toThrow(new TypeError(message))
    },
  )
})

describe('the testing kit', () => {
  const kit = testing as unknown as Untyped
  test.each([
    'requestOf',
    'responseOf',
    'streamOf',
    'cutStreamOf',
    'brokenStreamOf',
    'strictOf',
    'splitProperty',
  ])('%s throws for an unknown protocol', name => {
    for (const wrong of ['mesages', undefined, 5, 'toString'])
      expect(() => kit[name]?.(wrong, () => {})).toThrow(RangeError)
    expect(() => kit[name]?.('mesages', () => {})).toThrow(
      /^protocol: expected one of chat-completions, .*; did you mean messages\?$/,
    )
  })
})

describe('translateBetween', () => {
  const message =
    'translateBetween: expected the client half of a protocol, and the upstream half of another'
  test.each<[string, unknown[]]>([
    ['nothing', []],
    ['null', [null, messages]],
    ['a name', ['chat-completions', messages]],
    ['a name for the upstream', [chatCompletions, 'messages']],
    ['two names', ['chat-completions', 'messages']],
    ['halves in the other order', [messages, chatCompletions]],
    ['a client half for the upstream', [chatCompletions, chatCompletions]],
    ['a module', [{ chatCompletions }, { messages }]],
  ])('throws for %s', (_, halves) => {
    expect(() => unchecked(...halves)).toThrow(message)
  })

  test.each([
    'translateRequest',
    'translateResponse',
    'translateError',
    'createStreamTranslator',
    'createTransformStream',
  ])('%s throws for invalid options', name => {
    const act = (options: unknown) =>
      name.startsWith('create')
        ? between[name]?.(options)
        : between[name]?.({ status: 500, body: {} }, options)
    for (const options of [null, 'messages', []])
      expect(() => act(options)).toThrow(new TypeError('options: expected an object'))
  })
})
