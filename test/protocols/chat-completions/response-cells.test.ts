import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  translateError,
  translateRequest,
  translateResponse,
} from '../../../src/index.ts'
import { protocols } from '../../../src/protocols/index.ts'

type Other = 'responses' | 'messages'

const chat = (message: object, more: object = {}, choice: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 7,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'hi', refusal: null, ...message },
      logprobs: null,
      finish_reason: 'stop',
      ...choice,
    },
  ],
  ...more,
})
const text = (content: object = {}) => ({
  type: 'output_text',
  text: 'hi',
  annotations: [],
  ...content,
})
const item = (...content: object[]) => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content,
})
const items = (more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 7,
  model: 'm',
  status: 'completed',
  output: [item(text())],
  ...more,
})
const blocks = (more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 2 },
  ...more,
})
/**
 * Item ids have no place in a chat completion, whose responses report it once; and messages has no
 * time.
 */
const common = [
  'message.ids /output/0/id',
  'response.created /created',
  'field.unsupported /created',
]
function cross(body: unknown, from: 'chat-completions' | Other, to: 'chat-completions' | Other) {
  const { body: written, notes } = translateResponse(body, { from, to, now: 7 })
  return {
    written,
    notes: notes
      .filter(({ path }) => !path.startsWith('/usage'))
      .map(({ code, path }) => `${code} ${path}`)
      .filter(note => !common.includes(note)),
  }
}

describe('citations', () => {
  const url = { url: 'https://example.org/', title: 't' }
  const nested = { type: 'url_citation', url_citation: { start_index: 0, end_index: 2, ...url } }
  const flat = { type: 'url_citation', start_index: 0, end_index: 2, ...url }

  test('converts URL citations between the nested form and the flat form of responses', () => {
    const there = cross(chat({ annotations: [nested] }), 'chat-completions', 'responses')
    expect(there.written).toMatchObject({ output: [{ content: [{ annotations: [flat] }] }] })
    expect(there.notes).toEqual([])
    const back = cross(
      items({ output: [item(text({ annotations: [flat] }))] }),
      'responses',
      'chat-completions',
    )
    expect(back.written).toMatchObject({ choices: [{ message: { annotations: [nested] } }] })
    expect(back.notes).toEqual([])
  })

  test('converts citations of messages to spans of the text that they cover', () => {
    const web = {
      type: 'web_search_result_location',
      ...url,
      cited_text: 'ct',
      encrypted_index: 'E',
    }
    const { written, notes } = cross(
      blocks({ content: [{ type: 'text', text: 'hi', citations: [web] }] }),
      'messages',
      'chat-completions',
    )
    expect(written).toMatchObject({ choices: [{ message: { annotations: [nested] } }] })
    expect(notes).toEqual(['citation.whole-part /content/0/citations'])
  })

  test.each<[string, Other, object, string]>([
    [
      'a file',
      'responses',
      { type: 'file_citation', file_id: 'f', filename: 'a', index: 0 },
      '/output/0/content/0/annotations',
    ],
    [
      'a file of a container',
      'responses',
      {
        type: 'container_file_citation',
        file_id: 'f',
        container_id: 'c',
        filename: 'a',
        start_index: 0,
        end_index: 1,
      },
      '/output/0/content/0/annotations',
    ],
    [
      'a path',
      'responses',
      { type: 'file_path', file_id: 'f', index: 0 },
      '/output/0/content/0/annotations',
    ],
    [
      'characters of a document',
      'messages',
      {
        type: 'char_location',
        document_index: 0,
        document_title: 'd',
        start_char_index: 0,
        end_char_index: 3,
        cited_text: 'x',
      },
      '/content/0/citations',
    ],
    [
      'pages of a document',
      'messages',
      {
        type: 'page_location',
        document_index: 0,
        document_title: 'd',
        start_page_number: 1,
        end_page_number: 2,
        cited_text: 'x',
      },
      '/content/0/citations',
    ],
  ])('drops citations of %s with a note', (_, from, citation, path) => {
    const body =
      from === 'responses'
        ? items({ output: [item(text({ annotations: [citation] }))] })
        : blocks({ content: [{ type: 'text', text: 'hi', citations: [citation] }] })
    const { written, notes } = cross(body, from, 'chat-completions')
    expect(written).not.toMatchObject({
      choices: [{ message: { annotations: expect.anything() } }],
    })
    expect(notes).toEqual([`citation.unsupported ${path}`])
  })
})

describe('refusals', () => {
  test('converts refusals of the model to refusal parts in responses, both ways', () => {
    const there = cross(chat({ content: null, refusal: 'no' }), 'chat-completions', 'responses')
    expect(there.written).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'no' }] }],
    })
    expect(there.notes).toEqual([])
    const back = cross(
      items({ output: [item({ type: 'refusal', refusal: 'no' })] }),
      'responses',
      'chat-completions',
    )
    expect(back.written).toMatchObject({
      choices: [{ message: { content: null, refusal: 'no' }, finish_reason: 'stop' }],
    })
    expect(back.notes).toEqual([])
  })

  test('writes refusals of the model as text in messages with the stop reason refusal', () => {
    const { written, notes } = cross(
      chat({ content: null, refusal: 'no' }),
      'chat-completions',
      'messages',
    )
    expect(written).toMatchObject({
      content: [{ type: 'text', text: 'no' }],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'no' },
    })
    expect(notes).toEqual([
      'refusal.as-text /choices/0/message/refusal',
      'finish.refusal /choices/0/message/refusal',
    ])
  })

  test('keeps the text before a filter refusal', () => {
    const { written } = cross(
      blocks({
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: null, explanation: 'No.' },
      }),
      'messages',
      'chat-completions',
    )
    expect(written).toMatchObject({
      choices: [{ message: { content: 'hi', refusal: null }, finish_reason: 'content_filter' }],
    })
  })

  test('adds a text to a filter refusal without one', () => {
    const details = {
      stop_reason: 'refusal',
      content: [],
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
    }
    expect(cross(blocks(details), 'messages', 'chat-completions').written).toMatchObject({
      choices: [{ message: { content: null, refusal: 'No.' }, finish_reason: 'content_filter' }],
    })
    expect(
      cross(blocks({ ...details, stop_details: null }), 'messages', 'chat-completions'),
    ).toMatchObject({
      written: { choices: [{ message: { refusal: 'The request was refused.' } }] },
      notes: expect.arrayContaining(['refusal.synthesized /choices/0/message/refusal']),
    })
  })
})

describe('the finish reason of a response', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const incomplete = (reason: string) => ({ status: 'incomplete', incomplete_details: { reason } })
  test.each<[word: string | null, called: boolean, items: object, blocks: string, notes: string[]]>(
    [
      ['stop', false, { status: 'completed' }, 'end_turn', []],
      ['stop', true, { status: 'completed' }, 'tool_use', ['finish.repaired']],
      ['length', false, incomplete('max_output_tokens'), 'max_tokens', []],
      ['tool_calls', true, { status: 'completed' }, 'tool_use', []],
      ['tool_calls', false, { status: 'completed' }, 'end_turn', ['finish.repaired']],
      [
        'content_filter',
        false,
        incomplete('content_filter'),
        'refusal',
        ['finish.approximated (messages)'],
      ],
      ['function_call', true, { status: 'completed' }, 'tool_use', []],
      ['', false, { status: 'completed' }, 'end_turn', ['finish.missing', 'finish.approximated']],
      [null, false, { status: 'completed' }, 'end_turn', ['finish.missing', 'finish.approximated']],
      ['eos', false, { status: 'completed' }, 'end_turn', []],
      ['eos_token', false, { status: 'completed' }, 'end_turn', []],
      ['COMPLETE', false, { status: 'completed' }, 'end_turn', []],
      ['end_turn', false, { status: 'completed' }, 'end_turn', []],
      ['model_length', false, incomplete('max_output_tokens'), 'max_tokens', []],
      ['max_tokens', false, incomplete('max_output_tokens'), 'max_tokens', []],
      ['tool_use', true, { status: 'completed' }, 'tool_use', []],
      [
        'sensitive',
        false,
        incomplete('content_filter'),
        'refusal',
        ['finish.approximated (messages)'],
      ],
      ['brand_new', false, { status: 'completed' }, 'end_turn', ['finish.approximated']],
    ],
  )('"%s", with calls: %s', (finish_reason, called, whole, stop_reason, codes) => {
    const body = chat(called ? { content: null, tool_calls: [call] } : {}, {}, { finish_reason })
    for (const [to, expected] of [
      ['responses', whole],
      ['messages', { stop_reason }],
    ] as const) {
      const { written, notes } = cross(body, 'chat-completions', to)
      expect(written).toMatchObject(expected)
      const noted = codes
        .filter(code => !code.endsWith(')') || code.endsWith(`(${to})`))
        .map(code => `${code.split(' ')[0]} /choices/0/finish_reason`)
      expect(notes).toEqual(noted)
    }
  })

  test.each(['error', 'insufficient_system_resource', 'abort', 'network_error'])(
    '"%s" is a failure',
    finish_reason => {
      const body = chat({}, {}, { finish_reason })
      expect(cross(body, 'chat-completions', 'responses').written).toMatchObject({
        status: 'failed',
        error: { code: 'server_error' },
      })
      expect(cross(body, 'chat-completions', 'messages').written).toMatchObject({
        type: 'error',
        error: { type: 'api_error' },
      })
    },
  )

  test.each<[string, object, string, string[]]>([
    ['completed', {}, 'stop', []],
    ['cut by the limit', incomplete('max_output_tokens'), 'length', []],
    ['filtered', incomplete('content_filter'), 'content_filter', []],
    [
      'stopped by the caller',
      incomplete('steered'),
      'stop',
      ['finish.approximated /incomplete_details/reason'],
    ],
    [
      'with too many messages',
      incomplete('max_messages'),
      'length',
      ['finish.approximated /incomplete_details/reason'],
    ],
    ['cancelled', { status: 'cancelled' }, 'stop', ['finish.approximated /status']],
  ])('from responses: %s', (_, more, finish_reason, notes) => {
    const reported = cross(items(more), 'responses', 'chat-completions')
    expect(reported.written).toMatchObject({ choices: [{ finish_reason }] })
    expect(reported.notes).toEqual(notes)
  })

  test('from responses: tool_calls for a response with a call', () => {
    const output = [
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'f',
        arguments: '{}',
        status: 'completed',
      },
    ]
    expect(cross(items({ output }), 'responses', 'chat-completions').written).toMatchObject({
      choices: [{ finish_reason: 'tool_calls' }],
    })
  })

  test('from responses: an error body for a failed response', () => {
    const failed = items({
      status: 'failed',
      output: [],
      error: { code: 'server_error', message: 'gone' },
    })
    expect(cross(failed, 'responses', 'chat-completions').written).toMatchObject({
      error: { message: 'gone', type: 'server_error' },
    })
  })

  test.each<[string, object, string, string[]]>([
    [
      'a stop sequence, which is lost',
      { stop_reason: 'stop_sequence', stop_sequence: 'X' },
      'stop',
      ['finish.approximated /stop_reason', 'finish.details /stop_sequence'],
    ],
    [
      'a full context',
      { stop_reason: 'model_context_window_exceeded' },
      'length',
      ['finish.approximated /stop_reason'],
    ],
    ['a pause', { stop_reason: 'pause_turn' }, 'stop', ['finish.approximated /stop_reason']],
    ['a compaction', { stop_reason: 'compaction' }, 'stop', ['finish.approximated /stop_reason']],
    ['the limit', { stop_reason: 'max_tokens' }, 'length', []],
  ])('from messages: %s', (_, more, finish_reason, notes) => {
    const reported = cross(blocks(more), 'messages', 'chat-completions')
    expect(reported.written).toMatchObject({ choices: [{ finish_reason }] })
    expect(reported.notes).toEqual(notes)
  })
})

describe('usage', () => {
  const details = {
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 5 },
  }
  const counts = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29, ...details }
  test('converts usage of responses with the same sums, both ways', () => {
    const theirs = {
      input_tokens: 20,
      output_tokens: 9,
      total_tokens: 29,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      output_tokens_details: { reasoning_tokens: 5 },
    }
    expect(
      cross(chat({}, { usage: counts }), 'chat-completions', 'responses').written,
    ).toMatchObject({ usage: theirs })
    expect(cross(items({ usage: theirs }), 'responses', 'chat-completions').written).toMatchObject({
      usage: counts,
    })
  })

  test('converts usage of messages, which counts cached input separately, both ways', () => {
    const theirs = {
      input_tokens: 14,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 2,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 5 },
    }
    expect(
      cross(chat({}, { usage: counts }), 'chat-completions', 'messages').written,
    ).toMatchObject({ usage: theirs })
    expect(cross(blocks({ usage: theirs }), 'messages', 'chat-completions').written).toMatchObject({
      usage: counts,
    })
  })

  test('leaves out absent usage, or writes 0 when clients require counts', () => {
    expect(cross(items(), 'responses', 'chat-completions').written).not.toHaveProperty('usage')
    expect(cross(chat({}), 'chat-completions', 'responses').written).toMatchObject({
      usage: { input_tokens: 0, output_tokens: 0 },
    })
  })

  test.each<[string, object, string[]]>([
    [
      'predicted tokens',
      { completion_tokens_details: { accepted_prediction_tokens: 3 } },
      ['/usage/completion_tokens_details/accepted_prediction_tokens'],
    ],
    [
      'tokens of audio',
      { prompt_tokens_details: { audio_tokens: 3 } },
      ['/usage/prompt_tokens_details/audio_tokens'],
    ],
    [
      'tokens of images',
      { prompt_tokens_details: { image_tokens: 3 } },
      ['/usage/prompt_tokens_details/image_tokens'],
    ],
    [
      'tokens of text that are no rest',
      { prompt_tokens_details: { text_tokens: 3 } },
      ['/usage/prompt_tokens_details/text_tokens'],
    ],
    ['what it cost', { cost: 0.1 }, ['/usage/cost']],
    [
      'tokens of text that are all',
      { prompt_tokens_details: { text_tokens: 20 }, completion_tokens_details: { text_tokens: 9 } },
      [],
    ],
    [
      'tokens of text that are all but the reasoning',
      { completion_tokens_details: { text_tokens: 5, reasoning_tokens: 4 } },
      [],
    ],
    [
      'counts of nothing',
      {
        prompt_tokens_details: { audio_tokens: 0 },
        completion_tokens_details: { accepted_prediction_tokens: 0 },
      },
      [],
    ],
  ])('%s are noted for other protocols', (_, more, paths) => {
    const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29, ...more }
    for (const to of ['responses', 'messages'] as const) {
      const { notes } = translateResponse(chat({}, { usage }), { from: 'chat-completions', to })
      expect(notes.map(({ path }) => path).filter(path => path.startsWith('/usage'))).toEqual(paths)
    }
  })
})

test('maps image tokens to generate-content, both ways', () => {
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 9,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 0, image_tokens: 12, audio_tokens: 3, text_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 0, text_tokens: 9 },
  }
  const there = translateResponse(chat({}, { usage }), {
    from: 'chat-completions',
    to: 'generate-content',
  })
  const promptTokensDetails = [
    { modality: 'TEXT', tokenCount: 5 },
    { modality: 'AUDIO', tokenCount: 3 },
    { modality: 'IMAGE', tokenCount: 12 },
  ]
  expect(there.body).toMatchObject({ usageMetadata: { promptTokenCount: 20, promptTokensDetails } })
  expect(there.notes.filter(({ path }) => path.startsWith('/usage'))).toEqual([])
  const back = translateResponse(there.body, { from: 'generate-content', to: 'chat-completions' })
  expect(back.body).toMatchObject({
    usage: { prompt_tokens_details: { image_tokens: 12, audio_tokens: 3 } },
  })
  expect(back.notes.filter(({ path }) => path.startsWith('/usage'))).toEqual([])
})

test('notes unsupported counts of messages unless they are 0', () => {
  const more = {
    server_tool_use: { web_search_requests: 2 },
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 3 },
  }
  const none = {
    server_tool_use: { web_search_requests: 0 },
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  }
  const noted = (usage: object) =>
    translateResponse(blocks({ usage: { input_tokens: 1, output_tokens: 2, ...usage } }), {
      from: 'messages',
      to: 'chat-completions',
    }).notes.flatMap(({ path }) => (path.startsWith('/usage') ? [path] : []))
  expect(noted(more).sort()).toEqual(['/usage/cache_creation', '/usage/server_tool_use'])
  expect(noted(none)).toEqual([])
})

describe('tiers of a response', () => {
  test.each<[string, string, string[]]>([
    ['standard', 'default', []],
    ['priority', 'priority', []],
    ['batch', 'default', ['tier.nearest /usage/service_tier']],
  ])('from messages: %s', (service_tier, ours, notes) => {
    const { body, notes: made } = translateResponse(
      blocks({ usage: { input_tokens: 1, output_tokens: 2, service_tier } }),
      {
        from: 'messages',
        to: 'chat-completions',
      },
    )
    expect(body).toMatchObject({ service_tier: ours })
    expect(
      made.map(({ code, path }) => `${code} ${path}`).filter(note => !common.includes(note)),
    ).toEqual(notes)
  })

  test.each(['responses', 'messages', 'generate-content', 'converse'] as const)(
    'one that stands only in the counts is noted there toward %s, whole and streamed',
    to => {
      const head = { id: 'c', created: 1, model: 'm' }
      const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, service_tier: 'X' }
      const [choice, end] = [{ index: 0 }, { finish_reason: 'stop' }]
      const message = { role: 'assistant', content: 'ok' }
      const whole = translateResponse(
        { ...head, object: 'chat.completion', choices: [{ ...choice, ...end, message }], usage },
        { from: 'chat-completions', to },
      )
      const stream = createStreamTranslator({ from: 'chat-completions', to })
      const chunk = (more: object) =>
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`
      stream.push(chunk({ choices: [{ ...choice, ...end, delta: message }] }))
      stream.push(chunk({ choices: [], usage }))
      stream.push('data: [DONE]\n\n')
      stream.end()
      for (const made of [whole.notes, stream.notes])
        expect(made.filter(({ code }) => code.startsWith('tier.')).map(({ path }) => path)).toEqual(
          ['/usage/service_tier'],
        )
    },
  )

  test.each(['default', 'flex', 'priority', 'scale'])(
    'from responses, both ways: %s',
    service_tier => {
      expect(cross(items({ service_tier }), 'responses', 'chat-completions')).toMatchObject({
        written: { service_tier },
        notes: [],
      })
      expect(cross(chat({}, { service_tier }), 'chat-completions', 'responses')).toMatchObject({
        written: { service_tier },
        notes: [],
      })
    },
  )

  test.each<[string, string, string[]]>([
    ['default', 'standard', []],
    ['priority', 'priority', []],
  ])('toward messages: %s', (service_tier, theirs, notes) => {
    expect(cross(chat({}, { service_tier }), 'chat-completions', 'messages')).toMatchObject({
      written: { usage: { service_tier: theirs } },
      notes,
    })
  })

  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, service_tier: 'flex' }
  const tiers = [undefined, 'default', 'flex'].flatMap(tier =>
    (['responses', 'messages', 'generate-content', 'converse'] as const).map(to => ({ tier, to })),
  )

  test.each(tiers)('toward $to: that of the usage, next to $tier', ({ to, tier }) => {
    const both = { service_tier: tier, usage }
    const response = translateResponse(chat({}, both), { from: 'chat-completions', to })
    const stream = createStreamTranslator({ from: 'chat-completions', to })
    const delta = { index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }
    const chunk = { id: 'c', created: 7, model: 'm', choices: [delta], ...both }
    const text = stream.push(`data: ${JSON.stringify(chunk)}\n\n`) + stream.end()
    for (const [written, notes] of [
      [JSON.stringify(response.body), response.notes],
      [text, stream.notes],
    ] as const) {
      const isNoted = notes.some(({ path }) => path.endsWith('/service_tier'))
      expect(isNoted).toBe(!written.includes('flex'))
    }
  })

  test('within its protocol: that of the usage, next to another one', () => {
    const body = chat({}, { service_tier: 'default', usage })
    const response = protocols['chat-completions'].decodeResponse(body).value
    expect(protocols['chat-completions'].encodeResponse(response).wire).toMatchObject({ usage })
  })
})

describe('errors', () => {
  const ours = (status: number, error: object, headers: Record<string, string> = {}) => ({
    status,
    headers,
    body: { error: { message: 'm', type: 't', param: null, code: null, ...error } },
  })
  const theirs = (status: number, type: string) => ({
    status,
    headers: {},
    body: { type: 'error', error: { type, message: 'm' } },
  })
  test.each<
    [
      kind: string,
      status: number,
      error: object,
      toMessages: [number, string],
      toResponses: [number, string, string | null],
    ]
  >([
    [
      'a bad request',
      400,
      { type: 'invalid_request_error' },
      [400, 'invalid_request_error'],
      [400, 'invalid_request_error', null],
    ],
    [
      'a full context',
      400,
      { code: 'context_length_exceeded' },
      [400, 'invalid_request_error'],
      [400, 'invalid_request_error', 'context_length_exceeded'],
    ],
    [
      'a policy',
      400,
      { code: 'content_policy_violation' },
      [400, 'invalid_request_error'],
      [400, 'invalid_request_error', 'content_policy_violation'],
    ],
    [
      'an unknown field',
      400,
      { code: 'unsupported_parameter' },
      [400, 'invalid_request_error'],
      [400, 'invalid_request_error', 'unsupported_parameter'],
    ],
    [
      'a broken signature',
      400,
      { code: 'invalid_encrypted_content' },
      [400, 'invalid_request_error'],
      [400, 'invalid_request_error', 'invalid_encrypted_content'],
    ],
    [
      'a wrong key',
      401,
      { code: 'invalid_api_key' },
      [401, 'authentication_error'],
      [401, 'invalid_request_error', 'invalid_api_key'],
    ],
    ['a bill', 402, {}, [402, 'billing_error'], [429, 'insufficient_quota', 'insufficient_quota']],
    ['no permission', 403, {}, [403, 'permission_error'], [403, 'permission_error', null]],
    [
      'no such model',
      404,
      { code: 'model_not_found' },
      [404, 'not_found_error'],
      [404, 'invalid_request_error', 'model_not_found'],
    ],
    ['a conflict', 409, {}, [409, 'conflict_error'], [409, 'conflict_error', null]],
    [
      'too much',
      413,
      {},
      [413, 'request_too_large'],
      [413, 'invalid_request_error', 'request_too_large'],
    ],
    [
      'what cannot be processed',
      422,
      {},
      [422, 'invalid_request_error'],
      [422, 'invalid_request_error', null],
    ],
    [
      'too often',
      429,
      { type: 'requests', code: 'rate_limit_exceeded' },
      [429, 'rate_limit_error'],
      [429, 'rate_limit_error', 'rate_limit_exceeded'],
    ],
    [
      'no quota',
      429,
      { type: 'insufficient_quota', code: 'insufficient_quota' },
      [429, 'rate_limit_error'],
      [429, 'insufficient_quota', 'insufficient_quota'],
    ],
    ['a fault', 500, { type: 'server_error' }, [500, 'api_error'], [500, 'server_error', null]],
    [
      'no service',
      503,
      { code: 'service_unavailable' },
      [503, 'api_error'],
      [503, 'server_error', 'service_unavailable'],
    ],
    [
      'an overload',
      503,
      { code: 'overloaded' },
      [529, 'overloaded_error'],
      [503, 'server_error', 'server_is_overloaded'],
    ],
    [
      'a call to slow down',
      503,
      { code: 'slow_down' },
      [529, 'overloaded_error'],
      [503, 'server_error', 'slow_down'],
    ],
    ['no time left', 504, {}, [504, 'timeout_error'], [504, 'server_error', 'timeout']],
  ])('%s', (_, status, error, [theirStatus, type], [otherStatus, otherType, code]) => {
    const to = (target: Other) =>
      translateError(ours(status, error), { from: 'chat-completions', to: target })
    expect(to('messages')).toMatchObject({
      status: theirStatus,
      body: { type: 'error', error: { type, message: expect.stringMatching(/m$/) } },
    })
    expect(to('responses')).toMatchObject({
      status: otherStatus,
      body: { error: { type: otherType, code, message: 'm' } },
    })
  })

  test.each<[type: string, status: number, written: number, ours: string, code: string | null]>([
    ['invalid_request_error', 400, 400, 'invalid_request_error', null],
    ['authentication_error', 401, 401, 'invalid_request_error', 'invalid_api_key'],
    ['billing_error', 402, 429, 'insufficient_quota', 'insufficient_quota'],
    ['permission_error', 403, 403, 'permission_error', null],
    ['not_found_error', 404, 404, 'invalid_request_error', 'model_not_found'],
    ['conflict_error', 409, 409, 'conflict_error', null],
    ['request_too_large', 413, 413, 'invalid_request_error', 'request_too_large'],
    ['rate_limit_error', 429, 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['api_error', 500, 500, 'server_error', null],
    ['overloaded_error', 529, 503, 'server_error', 'overloaded'],
    ['timeout_error', 504, 504, 'server_error', 'timeout'],
  ])('from messages: %s', (type, status, written, ourType, code) => {
    const reported = translateError(theirs(status, type), {
      from: 'messages',
      to: 'chat-completions',
    })
    expect(reported).toMatchObject({
      status: written,
      body: { error: { message: 'm', type: ourType, code, param: null } },
    })
  })

  test('the field at fault, the request id and the retry time are reported', () => {
    const wire = ours(
      429,
      { param: 'messages[1]' },
      { 'x-request-id': 'req_1', 'retry-after': '2' },
    )
    const reported = translateError(wire, { from: 'chat-completions', to: 'responses' })
    expect(reported).toMatchObject({
      headers: { 'x-request-id': 'req_1', 'retry-after': '2' },
      body: { error: { param: 'messages[1]' } },
    })
    expect(translateError(wire, { from: 'chat-completions', to: 'messages' })).toMatchObject({
      headers: { 'request-id': 'req_1', 'retry-after': '2' },
      body: { request_id: 'req_1' },
    })
  })

  test('sends a retry time with fractions of a second, both ways', () => {
    const reported = translateError(ours(429, {}, { 'retry-after-ms': '1500' }), {
      from: 'chat-completions',
      to: 'chat-completions',
    })
    expect(reported.headers).toMatchObject({ 'retry-after-ms': '1500' })
    expect(
      translateError(ours(429, {}, { 'retry-after-ms': '1500' }), {
        from: 'chat-completions',
        to: 'responses',
      }).headers,
    ).toMatchObject({
      'retry-after': '2',
      'retry-after-ms': '1500',
    })
  })
})

describe('request fields that a response repeats', () => {
  test('repeats requested fields, and defaults for the rest', () => {
    const request = {
      input: 'hi',
      model: 'm',
      temperature: 0.2,
      max_output_tokens: 50,
      metadata: { a: 'b' },
      text: { verbosity: 'low' },
    }
    const { context } = translateRequest(request, { from: 'responses', to: 'chat-completions' })
    const { body } = translateResponse(chat({}, { service_tier: 'flex' }), {
      from: 'chat-completions',
      to: 'responses',
      context,
    })
    expect(body).toMatchObject({
      temperature: 0.2,
      top_p: 1,
      max_output_tokens: 50,
      metadata: { a: 'b' },
      text: { format: { type: 'text' }, verbosity: 'low' },
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      truncation: 'disabled',
      background: false,
      previous_response_id: null,
      service_tier: 'flex',
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
    })
  })

  test.each<[string, object, string]>([
    ['the fingerprint', { system_fingerprint: 'fp' }, '/system_fingerprint'],
    ['moderation', { moderation: { input: {} } }, '/moderation'],
  ])('notes %s of a response for other protocols', (_, more, path) => {
    for (const to of ['responses', 'messages'] as const)
      expect(cross(chat({}, more), 'chat-completions', to).notes).toEqual([`field.unknown ${path}`])
  })

  test('writes the model, the id and the time', () => {
    expect(cross(chat({}), 'chat-completions', 'responses').written).toMatchObject({
      model: 'm',
      created_at: 7,
      id: 'resp_chatcmpl-1',
    })
    expect(cross(items(), 'responses', 'chat-completions').written).toMatchObject({
      model: 'm',
      created: 7,
      id: 'resp_1',
      object: 'chat.completion',
    })
  })
})
