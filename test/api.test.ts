import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  detectProtocol,
  TranslationError,
  textOf,
  toolCallsOf,
  translateStream,
  usageOf,
} from '../src/index.ts'
import { protocolNames } from '../src/protocols/index.ts'
import {
  collectStream,
  explodeResponse,
  historyOf,
  normalizeResponse,
  referencesOf,
  translateError,
  translateRequest,
  translateResponse,
} from './support/untyped.ts'

const chatRequest = { model: 'm', seed: 7, messages: [{ role: 'user', content: 'hi' }] }
const chatResponse = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'real-name',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}

const thrownBy = (act: () => unknown): TranslationError => {
  try {
    act()
  } catch (error) {
    if (TranslationError.is(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('between equal protocols', () => {
  test('returns a body unchanged without decoding it', () => {
    const odd = { not: 'a request' }
    expect(translateRequest(odd, { from: 'messages', to: 'messages' })).toMatchObject({ notes: [] })
    expect(translateRequest(odd, { from: 'messages', to: 'messages' }).body).toBe(odd)
    expect(translateResponse(odd, { from: 'responses', to: 'responses' }).body).toBe(odd)
  })

  test('decodes the body anyway when strict is set', () => {
    expect(
      thrownBy(() =>
        translateRequest({ not: 'a request' }, { from: 'messages', to: 'messages', strict: true }),
      ).code,
    ).toBe('malformed')
  })

  test('changes only the model name, in a copy, when a model is given', () => {
    expect(
      translateRequest(chatRequest, {
        from: 'chat-completions',
        to: 'chat-completions',
        model: 'other',
      }).body,
    ).toEqual({ ...chatRequest, model: 'other' })
    expect(chatRequest.model).toBe('m')
  })

  test.each(['chat-completions', 'responses', 'messages'] as const)(
    'passes a %s stream byte by byte, and fails one that was cut off',
    protocol => {
      const { body } = translateResponse(chatResponse, { from: 'chat-completions', to: protocol })
      const text = explodeResponse(protocol === 'chat-completions' ? chatResponse : body, {
        protocol,
      })
      const whole = createStreamTranslator({ from: protocol, to: protocol })
      expect(whole.push(text) + whole.end()).toBe(text)
      expect(whole).toMatchObject({ finished: true, usage: { input: 3, output: 1 }, notes: [] })

      const half = text.slice(0, text.indexOf('Hello') + 3)
      const cut = createStreamTranslator({ from: protocol, to: protocol })
      const out = cut.push(half) + cut.end()
      const frames = half.slice(0, half.lastIndexOf('\n\n') + 2)
      expect(out.startsWith(frames)).toBe(true)
      expect(out.slice(frames.length)).toMatch(
        /^\n\n(event: error\n)?data: \{.*upstream stream ended early/,
      )
      expect(cut.finished).toBe(false)
    },
  )

  test('writes the input tokens at the start of a messages stream made of a complete response', () => {
    const { body } = translateResponse(chatResponse, { from: 'chat-completions', to: 'messages' })
    const [, start = ''] =
      /^event: message_start\ndata: (.*)$/m.exec(explodeResponse(body, { protocol: 'messages' })) ??
      []
    expect(JSON.parse(start)).toMatchObject({
      message: { usage: { input_tokens: 3, output_tokens: 0 } },
    })
  })

  test.each(['chat-completions', 'responses', 'messages', 'generate-content'] as const)(
    'reports why the stream was cut when the caller gives a reason: %s',
    to => {
      const text = explodeResponse(chatResponse, { protocol: 'chat-completions' })
      const at = text.indexOf('Hello') + 3
      const why = { status: 504, kind: 'timeout', message: 'fell silent' } as const
      const cut = createStreamTranslator({ from: 'chat-completions', to })
      expect(cut.push(text.slice(0, at)) + cut.end(why)).toContain('fell silent')
      expect(cut).toMatchObject({ finished: false, error: why })
      const whole = createStreamTranslator({ from: 'chat-completions', to })
      expect(whole.push(text) + whole.end(why)).not.toContain('fell silent')
      expect(whole).toMatchObject({ finished: true, error: undefined })
    },
  )

  test('replaces the model name in every event of a stream that has one', () => {
    const text = explodeResponse(chatResponse, { protocol: 'chat-completions' })
    const renamed = createStreamTranslator({
      from: 'chat-completions',
      to: 'chat-completions',
      model: 'alias',
    })
    const out = renamed.push(text) + renamed.end()
    expect(out).toBe(text.replaceAll('"real-name"', '"alias"'))
    expect(out).toContain('"alias"')
  })
})

describe('between two protocols', () => {
  test('has the requested model when one is given', () => {
    const received = { from: 'messages', to: 'chat-completions' } as const
    const response = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'their-name',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    expect(translateResponse(response, received).body).toMatchObject({ model: 'their-name' })
    expect(translateResponse(response, { ...received, model: 'our-name' }).body).toMatchObject({
      model: 'our-name',
    })
  })

  test('refuses a reference that no resolver knows, with its path', () => {
    const request = {
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'now' }],
      thread: { type: 'continue', id: 'thr_1' },
    }
    expect(() => translateRequest(request, { from: 'messages', to: 'responses' })).toThrow(
      expect.objectContaining({ code: 'inexpressible', path: '/thread' }),
    )
  })
})

describe('strict', () => {
  const translate = (strict: true | ('dropped' | 'approximated' | 'synthesized')[]) => () =>
    translateRequest(chatRequest, { from: 'chat-completions', to: 'messages', strict })

  test('refuses what would be dropped, with all notes', () => {
    const error = thrownBy(translate(true))
    expect(error).toMatchObject({ code: 'inexpressible', path: '/seed' })
    expect(error.notes).toContainEqual(
      expect.objectContaining({ kind: 'synthesized', path: '/max_tokens' }),
    )
  })

  test('accepts a list of note kinds', () => {
    expect(thrownBy(translate(['synthesized'])).path).toBe('/max_tokens')
    expect(translate(['approximated'])).not.toThrow()
  })
})

describe('detectProtocol', () => {
  test.each([
    [
      { model: 'm', messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] },
      { protocol: 'chat-completions', kind: 'request' },
    ],
    [
      { model: 'm', input: 'hi', max_output_tokens: 20 },
      { protocol: 'responses', kind: 'request' },
    ],
    [
      { model: 'm', messages: [], system: 'be terse', stop_sequences: ['x'] },
      { protocol: 'messages', kind: 'request' },
    ],
    [chatResponse, { protocol: 'chat-completions', kind: 'response' }],
    [
      { type: 'response.created', response: {} },
      { protocol: 'responses', kind: 'event' },
    ],
    [
      { type: 'message_start', message: {} },
      { protocol: 'messages', kind: 'event' },
    ],
    [
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { protocol: 'messages', kind: 'event' },
    ],
  ] as const)('%j', (body, expected) => {
    const found = detectProtocol(body)
    expect(found).toMatchObject(expected)
    expect(found.reasons.length).toBeGreaterThan(0)
  })

  test.each([
    [null],
    [5],
    ['text'],
    [[]],
    [{}],
    [{ type: 'error', code: 'x', message: 'No', param: null, sequence_number: 1 }],
    [{ model: 'm', messages: [{ role: 'user', content: 'hi' }] }],
  ])('detects neither protocol nor kind of %j', body => {
    const { protocol, kind } = detectProtocol(body)
    expect([protocol, kind]).toEqual([undefined, undefined])
  })

  test('refuses a body of another protocol, with the path that serves it', () => {
    const error = thrownBy(() =>
      translateRequest(
        { model: 'm', messages: [], system: 'be terse' },
        { from: 'chat-completions', to: 'responses' },
      ),
    )
    expect(error).toMatchObject({
      code: 'malformed',
      message: expect.stringContaining('/v1/messages'),
    })
  })
})

describe('complete and streamed responses', () => {
  test('restores a response from its stream', async () => {
    const { body, notes } = await collectStream(
      [explodeResponse(chatResponse, { protocol: 'chat-completions' })],
      { protocol: 'chat-completions' },
    )
    expect(body).toMatchObject(chatResponse)
    expect(notes).toEqual([])
  })

  test('translateStream yields what the stream translator returns', async () => {
    const text = explodeResponse(chatResponse, { protocol: 'chat-completions' })
    async function* source() {
      for (const char of text) yield char
    }
    const chunks: Uint8Array[] = []
    for await (const chunk of translateStream(source(), {
      from: 'chat-completions',
      to: 'messages',
    }))
      chunks.push(chunk)
    const translator = createStreamTranslator({ from: 'chat-completions', to: 'messages' })
    expect(Buffer.concat(chunks).toString()).toBe(translator.push(text) + translator.end())
  })

  test('collects a failed stream as its error', async () => {
    const { body } = await collectStream(
      [
        'data: {"error":{"message":"Broke down","type":"server_error","param":null,"code":null}}\n\n',
      ],
      {
        protocol: 'chat-completions',
      },
    )
    expect(body).toMatchObject({ error: { message: 'Broke down' } })
  })

  test('never collects a cut-off stream as a complete response', async () => {
    const text = explodeResponse(chatResponse, { protocol: 'chat-completions' })
    await expect(
      collectStream([text.slice(0, text.indexOf('Hello') + 10)], { protocol: 'chat-completions' }),
    ).rejects.toMatchObject({ code: 'truncated' })
  })

  test('skips frames that are not JSON with a note, and fails after three', () => {
    const translator = createStreamTranslator({ from: 'chat-completions', to: 'messages' })
    translator.push('data: <html>\n\n')
    expect(translator.notes).toMatchObject([{ kind: 'dropped', code: 'stream.unreadable-frame' }])
    expect(translator.error).toBeUndefined()
    translator.push('data: <body>\n\ndata: </html>\n\n')
    expect(translator.error).toMatchObject({ status: 502 })
    expect(translator.end()).not.toContain('message_stop')
  })
})

test('a response is decoded without a dialect of a client', () => {
  const canonical = normalizeResponse(chatResponse, { protocol: 'chat-completions' })
  expect([textOf(canonical), toolCallsOf(canonical), usageOf(canonical)?.input]).toEqual([
    'Hello',
    [],
    3,
  ])
})

test.each([
  ['parsed', 'function', '{"q":"x"}', { q: 'x' }],
  ['an empty object when there are no arguments', 'function', '', {}],
  ['undefined when the text is not JSON', 'function', '{"q":', undefined],
  ['the text when the tool takes text', 'freeform', '{"q":"x"}', '{"q":"x"}'],
] as const)('gives the input of a tool call %s', (_, kind, inputText, input) => {
  const call =
    kind === 'function'
      ? { id: 'c1', type: 'function', function: { name: 'look', arguments: inputText } }
      : { id: 'c1', type: 'custom', custom: { name: 'look', input: inputText } }
  const response = {
    ...chatResponse,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: [call] },
        finish_reason: 'tool_calls',
      },
    ],
  }
  expect(toolCallsOf(normalizeResponse(response, { protocol: 'chat-completions' }))).toMatchObject([
    { id: 'c1', name: 'look', kind, input, inputText },
  ])
})

test('shows only the fields that an error has when it is printed', () => {
  expect(
    inspect(
      new TranslationError(
        { code: 'malformed', protocol: 'messages', path: '/messages' },
        'expected a list',
      ),
    ),
  ).not.toContain('undefined')
})

test('throws with the list of known names for an unknown protocol name', () => {
  expect(() => translateRequest({}, { from: 'chat' as 'messages', to: 'messages' })).toThrow(
    /chat-completions, responses, messages/,
  )
})

describe.each(protocolNames)('errors of %s', from => {
  const to = from === 'messages' ? 'responses' : 'messages'

  test.each([
    ['seconds', { 'Retry-After': '7' }, '7'],
    ['milliseconds', { 'Retry-After-Ms': '2500' }, '3'],
    ['a date', { 'retry-after': 'Thu, 01 Jan 1970 00:01:30 GMT' }, '30'],
    ['a number of digits that is never complete', { 'retry-after': '9'.repeat(400) }, undefined],
  ])(
    'reads the retry time from %s, in any case of the header name',
    (_, headers: Record<string, string>, expected) => {
      const { headers: written } = translateError(
        { status: 429, headers, body: { error: { message: 'slow down' } } },
        { from, to, now: 60 },
      )
      expect(written['retry-after']).toBe(expected)
    },
  )
})

describe('options', () => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  const translate = (options: object) => () =>
    translateRequest(request, { from: 'chat-completions', to: 'messages', ...options })

  test.each<[string, object, string | RegExp]>([
    [
      'an unknown name',
      { thinkng: 'auto' },
      'option thinkng: there is no such option; did you mean chatCompletions.thinking or messages.thinking or generateContent.thinking or converse.thinking?',
    ],
    [
      'an unknown name in a group',
      { messages: { thinkng: 'auto' } },
      'option messages.thinkng: there is no such option; did you mean messages.thinking?',
    ],
    [
      'the option of another group',
      { messages: { maxTokensField: 'max_tokens' } },
      'did you mean chatCompletions.maxTokensField?',
    ],
    [
      'a name with its group before it',
      { messagesThinking: 'auto' },
      'option messagesThinking: there is no such option; did you mean messages.thinking?',
    ],
    [
      'a name with a short prefix',
      { chatMaxTokensField: 'max_tokens' },
      'there is no such option; did you mean chatCompletions.maxTokensField?',
    ],
    [
      'a path as a name',
      { 'messages.autoCache': true },
      'option messages.autoCache: there is no such option; did you mean messages.autoCache?',
    ],
    [
      'a group by the name of its protocol',
      { 'generate-content': {} },
      'there is no such option; did you mean generateContent?',
    ],
    [
      'a group by the name of its maker',
      { anthropic: {} },
      'option anthropic: there is no such option; did you mean messages?',
    ],
    [
      'a maker of two protocols',
      { openAI: {} },
      'option openAI: there is no such option; did you mean chatCompletions or responses?',
    ],
    [
      'a part of a name',
      { messages: { cache: true } },
      'option messages.cache: there is no such option; did you mean messages.autoCache?',
    ],
    [
      'a name with two typing errors',
      { messages: { systemPlacment_: 'hoist', defaultMxTokns: 1 } },
      'did you mean messages.defaultMaxTokens?',
    ],
    ['another case', { messages: { AUTO_CACHE: true } }, 'did you mean messages.autoCache?'],
    [
      'a group in the singular',
      { tool: { repair: 'keep' } },
      'option tool: there is no such option; did you mean tools?',
    ],
    [
      'an option in a group that belongs outside',
      { messages: { strict: true } },
      'option messages.strict: there is no such option; did you mean strict, outside of groups?',
    ],
    ['a name that is like none', { zebra: 1 }, /^option zebra: there is no such option$/],
    [
      'a misspelled group',
      { mesages: { thinking: 'auto' } },
      'option mesages: there is no such option; did you mean messages?',
    ],
    [
      'a name of every object',
      { messages: { constructor: 1 } },
      'option messages.constructor: there is no such option',
    ],
    [
      'an unknown value',
      { messages: { thinking: 'maybe' } },
      'option messages.thinking: expected one of auto, adaptive, enabled',
    ],
    [
      'a value of another type',
      { messages: { autoCache: 'yes' } },
      'option messages.autoCache: expected a boolean',
    ],
    [
      'text for a function',
      { messages: { convertMedia: 'png' } },
      'option messages.convertMedia: expected a function',
    ],
    [
      'a group that is no object',
      { tools: 'keep' },
      'option tools: expected an object with options',
    ],
    [
      'an unknown value outside of groups',
      { onUnresolvable: 'guess' },
      'option onUnresolvable: expected one of throw, note',
    ],
    [
      'an option that only a gateway sets',
      { keepsResponse: true },
      'option keepsResponse: there is no such option',
    ],
    [
      'a misspelled protocol',
      { from: 'chatcompletions' },
      /^option from: expected one of chat-completions, .*; did you mean chat-completions\?$/,
    ],
    [
      'a protocol named like a property of every object',
      { to: 'toString' },
      'option to: expected one of chat-completions',
    ],
    ['no protocol', { to: undefined }, 'option to: expected one of chat-completions'],
    [
      'a misspelled vendor',
      { vendor: 'opnai' },
      /^option vendor: expected one of .*; did you mean openai\?$/,
    ],
    [
      'a word for strict',
      { strict: 'yes' },
      'option strict: expected true, false, or a list of dropped, approximated, synthesized',
    ],
    [
      'an unknown kind of note',
      { strict: ['lost'] },
      'option strict: expected true, false, or a list of',
    ],
    ['a word for renewId', { renewId: 'always' }, 'option renewId: expected a boolean'],
    [
      'a context that is none',
      { context: 5 },
      'option context: expected the context that translateRequest returned',
    ],
    [
      'NaN',
      { messages: { defaultMaxTokens: Number.NaN } },
      'option messages.defaultMaxTokens: expected a number',
    ],
    [
      'a parsed prototype',
      JSON.parse('{ "messages": { "__proto__": 1 } }'),
      'option messages.__proto__: there is no such option',
    ],
    [
      'every fault at once',
      { now: 'today', tools: { repair: 'no' } },
      'option now: expected a number\noption tools.repair: expected one of synthesize, keep',
    ],
  ])('%s throws a RangeError with its path', (_, options, message) => {
    expect(translate(options)).toThrow(RangeError)
    expect(translate(options)).toThrow(message)
  })

  test.each([undefined, null, 'messages'])(
    'throws a TypeError that names the required options for %j',
    options => {
      expect(() => translateRequest(request, options as never)).toThrow(
        new TypeError('options: expected an object with from and to'),
      )
      expect(() => normalizeResponse({}, options as never)).toThrow(
        new TypeError('options: expected an object with protocol'),
      )
    },
  )

  test('treats undefined as absent, and accepts a function in place of a number', () => {
    const options = {
      strict: undefined,
      messages: { thinking: undefined, defaultMaxTokens: () => 7 },
    } as object
    expect(translate(options)().body).toMatchObject({ max_tokens: 7 })
  })

  test.each<[string, (options: never) => unknown]>([
    ['translateResponse', options => translateResponse({}, options)],
    ['translateError', options => translateError({ status: 500, body: {} }, options)],
    ['createStreamTranslator', options => createStreamTranslator(options)],
    ['collectStream', options => collectStream([], options)],
    ['explodeResponse', options => explodeResponse({}, options)],
    ['normalizeResponse', options => normalizeResponse({}, options)],
    ['referencesOf', options => referencesOf({}, options)],
    ['historyOf', options => historyOf({}, {}, options)],
  ])('%s refuses unknown options', (_, call) => {
    const options = {
      from: 'messages',
      to: 'responses',
      protocol: 'messages',
      messages: { thinkng: 'auto' },
    }
    expect(() => call(options as never)).toThrow('option messages.thinkng')
  })
})
