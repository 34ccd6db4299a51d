import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../../src/index.ts'
import { protocols } from '../../../src/protocols/index.ts'
import { collectStream, translateRequest, translateResponse } from '../../support/untyped.ts'
import { written } from '../../support/written.ts'

const source = protocols['chat-completions']
type Target = Exclude<keyof typeof protocols, 'chat-completions'>

const request = (rest: object) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  ...rest,
})
const say = (...messages: object[]) => ({ model: 'm', messages })
const response = (message: object, rest: object = {}) => ({
  id: 'c',
  choices: [
    { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...rest },
  ],
})
const cited = [
  {
    type: 'url_citation',
    url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://example.org/' },
  },
]
const odd = 'no name'

describe('what another protocol cannot express is noted at its path', () => {
  test.each<[string, Target, object, string]>([
    [
      'the name of a function',
      'responses',
      request({ tools: [{ type: 'function', function: { name: odd } }] }),
      'tool.renamed /tools/0',
    ],
    [
      'the name of a function',
      'messages',
      request({ tools: [{ type: 'function', function: { name: odd } }] }),
      'tool.renamed /tools/0',
    ],
    [
      'the name of a custom tool',
      'responses',
      request({ tools: [{ type: 'custom', custom: { name: odd } }] }),
      'tool.renamed /tools/0',
    ],
    [
      'the name of an older function',
      'responses',
      request({ functions: [{ name: odd }] }),
      'tool.renamed /functions/0/name',
    ],
    ...(['responses', 'messages', 'generate-content'] as const).flatMap(
      (target): [string, Target, object, string][] => [
        [
          'the name of a chosen function that is not declared',
          target,
          request({
            tools: [{ type: 'function', function: { name: 'f' } }],
            tool_choice: { type: 'function', function: { name: odd } },
          }),
          'tool.renamed /tool_choice',
        ],
        [
          'the name of an older choice that is not declared',
          target,
          request({ functions: [{ name: 'f' }], function_call: { name: odd } }),
          'tool.renamed /function_call/name',
        ],
        [
          'reasoning that is no list',
          target,
          say({ role: 'assistant', content: 'a', reasoning_details: 'hm' }),
          'field.unknown /messages/0/reasoning_details',
        ],
        [
          'signed reasoning that is no list',
          target,
          say({ role: 'assistant', content: 'a', thinking_blocks: 'hm' }),
          'field.unknown /messages/0/thinking_blocks',
        ],
      ],
    ),
    [
      'the name in a call',
      'responses',
      say({
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'custom', custom: { name: odd, input: 'x' } }],
      }),
      'tool.renamed /messages/0/tool_calls/0',
    ],
    [
      'the name in an older call',
      'responses',
      say({ role: 'assistant', function_call: { name: odd, arguments: '{}' } }),
      'tool.renamed /messages/0/function_call/name',
    ],
    [
      'the broken input of an older call',
      'messages',
      say({ role: 'assistant', function_call: { name: 'f', arguments: '{"a' } }),
      'tool-call.input /messages/0/function_call/arguments',
    ],
    [
      'the id of a result without a call',
      'responses',
      say({ role: 'tool', tool_call_id: 'with space', content: 'r' }),
      'tool-call.id /messages/0/tool_call_id',
    ],
    [
      'the name of a result without a call',
      'responses',
      say({ role: 'function', name: 'f', content: 'r' }),
      'field.unsupported /messages/0/name',
    ],
    [
      'what is kept beside an empty text',
      'responses',
      say({ role: 'user', content: [{ type: 'text', text: '', x: 1 }] }),
      'field.unknown /messages/0/content/0/x',
    ],
    [
      'sources of an empty text',
      'responses',
      say({ role: 'assistant', content: '', annotations: cited }),
      'citation.unsupported /messages/0/annotations',
    ],
    [
      'sources of an empty text',
      'messages',
      say({ role: 'assistant', content: '', annotations: cited }),
      'citation.foreign /messages/0/annotations',
    ],
    [
      'sources beside a blank text',
      'messages',
      say({ role: 'assistant', content: ' ', annotations: cited }),
      'citation.foreign /messages/0/annotations',
    ],
    [
      'an unknown key of a thought',
      'messages',
      say({ role: 'user', content: [{ type: 'thinking', thinking: 'a', x: 1 }] }),
      'field.unknown /messages/0/content/0/x',
    ],
    [
      'a thought of an unknown kind',
      'messages',
      say({ role: 'user', content: [{ type: 'thinking', thinking: [{ type: 'x' }] }] }),
      'field.unknown /messages/0/content/0/thinking/0/type',
    ],
    [
      'sources of a text',
      'messages',
      say({ role: 'assistant', content: 'a', annotations: cited }),
      'citation.foreign /messages/0/annotations',
    ],
    [
      'sources of a text among blocks',
      'messages',
      say({ role: 'assistant', content: [{ type: 'text', text: 'a' }], annotations: cited }),
      'citation.foreign /messages/0/annotations',
    ],
    [
      'an unknown key of a breakpoint',
      'responses',
      say({
        role: 'user',
        content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { x: 1 } }],
      }),
      'field.unknown /messages/0/content/0/prompt_cache_breakpoint/x',
    ],
    [
      'a lifetime',
      'messages',
      say({
        role: 'user',
        content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { ttl: '12h' } }],
      }),
      'cache.ttl /messages/0/content/0/prompt_cache_breakpoint/ttl',
    ],
    [
      'an unknown way to cache',
      'messages',
      request({ prompt_cache_options: { mode: 'x' } }),
      'field.unsupported /prompt_cache_options/mode',
    ],
    [
      'an unknown key of a forced tool',
      'responses',
      request({ tool_choice: { type: 'function', function: { name: 'f' }, x: 1 } }),
      'field.unknown /tool_choice/x',
    ],
    [
      'an unknown way to allow tools',
      'responses',
      request({
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'x', tools: [{ type: 'function', function: { name: 'f' } }] },
        },
      }),
      'tool-choice.unsupported /tool_choice',
    ],
    [
      'a mark of the messages protocol, with its lifetime',
      'responses',
      say({
        role: 'user',
        content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      }),
      'cache.ttl /messages/0/content/0/cache_control/ttl',
    ],
    [
      'such a mark on a tool',
      'responses',
      request({
        tools: [
          { type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } },
        ],
      }),
      'cache.unsupported /tools/0/cache_control',
    ],
    [
      "Google's signature on a call",
      'messages',
      say({
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c',
            type: 'function',
            function: { name: 'f', arguments: '{}' },
            extra_content: { google: { thought_signature: 'AAAA' } },
          },
        ],
      }),
      'reasoning.foreign-signature /messages/0/tool_calls/0/extra_content/google/thought_signature',
    ],
    [
      'the same as proxies have it',
      'messages',
      say({
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c',
            type: 'function',
            function: {
              name: 'f',
              arguments: '{}',
              provider_specific_fields: { thought_signature: 'AAAA' },
            },
          },
        ],
      }),
      'reasoning.foreign-signature /messages/0/tool_calls/0/function/provider_specific_fields/thought_signature',
    ],
    [
      "Google's signature on a text",
      'messages',
      say({
        role: 'assistant',
        content: 'a',
        extra_content: { google: { thought_signature: 'AAAA' } },
      }),
      'reasoning.foreign-signature /messages/0/extra_content/google/thought_signature',
    ],
    [
      'an unknown key of an older forced function',
      'messages',
      request({ function_call: { name: 'f', x: 1 } }),
      'field.unknown /function_call/x',
    ],
    [
      'an unknown key of a grammar',
      'responses',
      request({
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'f',
              format: { type: 'grammar', grammar: { definition: 'a', syntax: 'lark', x: 1 } },
            },
          },
        ],
      }),
      'field.unknown /tools/0/custom/format/grammar/x',
    ],
    [
      'an unknown format of a custom tool',
      'responses',
      request({ tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'x' } } }] }),
      'field.unknown /tools/0/custom/format/type',
    ],
  ])('%s, in a request to %s', (_, target, wire, note) => {
    const { value, fieldNames } = source.decodeRequest(wire)
    const { notes } = written(value, protocols[target], {
      fieldNames: { ...source.fieldNames, ...fieldNames },
    })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(note)
  })

  test.each<[string, Target, object, string]>([
    [
      'spoken words without a transcript',
      'messages',
      response({ content: null, audio: { id: 'a', data: 'x', transcript: '', expires_at: 9 } }),
      'media.unsupported /choices/0/message/audio',
    ],
    [
      'probabilities of a text',
      'messages',
      response({ content: 'a' }, { logprobs: { content: [{ token: 'a', logprob: -1 }] } }),
      'field.unsupported /choices/0/logprobs/content',
    ],
    [
      'probabilities of a refusal',
      'messages',
      response({ refusal: 'a' }, { logprobs: { refusal: [{ token: 'a', logprob: -1 }] } }),
      'field.unsupported /choices/0/logprobs/refusal',
    ],
    ...(['responses', 'messages', 'generate-content'] as const).flatMap(
      (target): [string, Target, object, string][] => [
        [
          'counts that are a text',
          target,
          { ...response({ content: 'a' }), usage: 'many' },
          'field.unknown /usage',
        ],
        [
          'details of counts that are a text',
          target,
          {
            ...response({ content: 'a' }),
            usage: {
              prompt_tokens: 1,
              completion_tokens: 1,
              total_tokens: 2,
              prompt_tokens_details: 'none',
            },
          },
          'field.unknown /usage/prompt_tokens_details',
        ],
        [
          'a total that is less than its parts',
          target,
          {
            ...response({ content: 'a' }),
            usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 3 },
          },
          'field.unknown /usage/total_tokens',
        ],
        [
          'logprobs that are a text',
          target,
          response({ content: 'a' }, { logprobs: 'low' }),
          'field.unknown /choices/0/logprobs',
        ],
        [
          'logprobs that are no list of tokens',
          target,
          response({ content: 'a' }, { logprobs: { content: [{ token: 'a', logprob: -1 }, 7] } }),
          'field.unknown /choices/0/logprobs/content',
        ],
      ],
    ),
    [
      'bytes that are none',
      'generate-content',
      response(
        { content: 'a' },
        { logprobs: { content: [{ token: 'a', logprob: -1, bytes: [97, 300] }] } },
      ),
      'field.unknown /choices/0/logprobs/content/0/bytes',
    ],
    [
      'the place of a source that is no number',
      'generate-content',
      response({
        content: 'a',
        annotations: [
          {
            type: 'url_citation',
            url_citation: {
              start_index: '0',
              end_index: 1,
              title: 't',
              url: 'https://example.org/',
            },
          },
        ],
      }),
      'field.unknown /choices/0/message/annotations',
    ],
  ])('%s, in a response to %s', (_, target, wire, note) => {
    const { notes } = protocols[target].encodeResponse(source.decodeResponse(wire).value, {
      fieldNames: source.fieldNames,
    })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(note)
  })
})

describe('unknown fields of this protocol are written back unchanged', () => {
  test.each<[string, object]>([
    [
      'a breakpoint with an unknown key',
      say({
        role: 'user',
        content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { x: 1, ttl: '1h' } }],
      }),
    ],
    [
      'a grammar with an unknown key',
      request({
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'f',
              format: { type: 'grammar', grammar: { definition: 'a', syntax: 'lark', x: 1 } },
            },
          },
        ],
      }),
    ],
    [
      'a grammar beside the format of a text',
      request({
        tools: [
          { type: 'custom', custom: { name: 'f', format: { type: 'text', grammar: { x: 1 } } } },
        ],
      }),
    ],
    [
      'a thought with unknown keys',
      say({
        role: 'user',
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a', x: 1 }], y: 2 }],
      }),
    ],
    [
      'forced tools with unknown keys',
      request({ tool_choice: { type: 'custom', custom: { name: 'f', x: 1 }, y: 2 } }),
    ],
    [
      'an unknown format',
      request({ tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'x' } } }] }),
    ],
  ])('%s', (_, wire) => {
    expect(source.encodeRequest(source.decodeRequest(wire).value)).toMatchObject({
      wire,
      notes: [],
    })
  })
})

test.each(['messages', 'generate-content'] as const)(
  'notes the id of a reasoning part at its path, for %s',
  to => {
    const message = {
      role: 'assistant',
      content: 'a',
      reasoning_details: [{ type: 'reasoning.summary', summary: 'b', id: 'rs_1', index: 0 }],
    }
    const response = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    }
    const { notes } = translateResponse(response, { from: 'chat-completions', to })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'message.envelope /choices/0/message/reasoning_details/0/id',
    )
  },
)

test('notes dropped fields of a web search at their path', () => {
  const place = { type: 'approximate', approximate: { city: 'Bern' } }
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'a' }],
    web_search_options: { search_context_size: 'low', user_location: place },
  }
  const { notes } = translateRequest(body, {
    from: 'chat-completions',
    to: 'generate-content',
    tools: { serverTools: 'map' },
  })
  expect(notes.map(({ path }) => path)).toEqual([
    '/web_search_options',
    '/web_search_options/search_context_size',
    '/web_search_options/user_location',
  ])
})

test.each(['responses', 'messages'] as const)(
  'logprobs of a refusal are noted at their path, and those of the text are not, for %s',
  to => {
    const logprobs = (token: string) => [{ token, logprob: -1, bytes: null, top_logprobs: [] }]
    const message = { role: 'assistant', content: 'a', refusal: 'b' }
    const choice = {
      index: 0,
      message,
      finish_reason: 'stop',
      logprobs: { content: logprobs('a'), refusal: logprobs('b') },
    }
    const { notes } = translateResponse(
      { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] },
      { from: 'chat-completions', to },
    )
    const lost = notes.filter(({ path }) => path.includes('logprobs')).map(({ path }) => path)
    expect(lost).toEqual(
      to === 'messages'
        ? ['/choices/0/logprobs/content', '/choices/0/logprobs/refusal']
        : ['/choices/0/logprobs/refusal'],
    )
  },
)

test('notes the fields of a text document except its title', () => {
  const { encodeRequest } = source
  const document = {
    type: 'media',
    kind: 'document',
    source: { type: 'text', text: 'a', mime: 'text/plain' },
    title: 't',
    filename: 'f.txt',
    detail: 'low',
    at: '/doc',
  } as const
  const { wire, notes } = encodeRequest({
    model: 'm',
    messages: [{ role: 'user', origin: 'message', parts: [document] }],
  })
  expect(wire).toMatchObject({ messages: [{ content: [{ text: 't' }, { text: 'a' }] }] })
  expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(
    expect.arrayContaining(['field.unsupported /doc/filename', 'field.unsupported /doc/detail']),
  )
})

test.each(['messages', 'responses'] as const)(
  'treats an empty id of a response of %s as absent',
  from => {
    const body =
      from === 'messages'
        ? {
            id: '',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [],
            stop_reason: 'end_turn',
          }
        : { id: '', status: 'completed', output: [] }
    const { wire } = protocols[from].encodeResponse(protocols[from].decodeResponse(body).value)
    expect(wire).toMatchObject({ id: '' })
    const { body: written, notes } = translateResponse(body, { from, to: 'chat-completions' })
    expect(written).toMatchObject({ id: 'chatcmpl-0' })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain('response.id /id')
  },
)

test('numbers choices by position when their indexes are invalid or repeated', () => {
  const choice = (index: number) => ({
    index,
    message: { role: 'assistant', content: 'a' },
    finish_reason: 'stop',
  })
  const body = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [choice(-1), choice(1.5), choice(0)],
  }
  expect(source.encodeResponse(source.decodeResponse(body).value).wire).toMatchObject(body)
  const { body: written } = translateResponse(body, {
    from: 'chat-completions',
    to: 'generate-content',
  })
  expect(written).toMatchObject({ candidates: [{ index: 0 }, { index: 1 }, { index: 2 }] })
})

const chunk = (delta: object, finish_reason: string | null) => ({
  id: 'c',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})

test('the id of audio is noted where it is dropped, in a stream as in a complete response', () => {
  const translator = createStreamTranslator({ from: 'chat-completions', to: 'generate-content' })
  const audio = { id: 'audio_1', data: 'QUJD', transcript: 'a' }
  for (const wire of [chunk({ audio }, null), chunk({}, 'stop')])
    translator.push(`data: ${JSON.stringify(wire)}\n\n`)
  translator.end()
  const whole = translateResponse(response({ content: null, audio }, {}), {
    from: 'chat-completions',
    to: 'generate-content',
  })
  for (const { notes } of [translator, whole])
    expect(notes.map(({ path }) => path)).toContain('/choices/0/message/audio/id')
})

test('the model as the caller cannot be expressed here, and other fields of its caller are noted', () => {
  const say = (caller: object) => [
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', caller },
    { type: 'function_call_output', call_id: 'c', output: 'a', caller },
  ]
  const reported = (caller: object) =>
    translateRequest(
      { model: 'm', input: say(caller) },
      { from: 'responses', to: 'chat-completions' },
    ).notes
  expect(reported({ type: 'direct' })).toEqual([])
  expect(reported({ type: 'direct', x: 1 }).map(({ path }) => path)).toEqual([
    '/input/0/caller',
    '/input/1/caller',
  ])
})

test.each([
  ['that comes late', {}],
  ['that is another one', { id: 'audio_0' }],
])('an id of audio %s is noted in a stream, and a repeated one is not', (_, first) => {
  const idsOf = (chunks: object[]) => {
    const translator = createStreamTranslator({ from: 'chat-completions', to: 'generate-content' })
    for (const audio of chunks)
      translator.push(`data: ${JSON.stringify(chunk({ audio }, null))}\n\n`)
    translator.push(`data: ${JSON.stringify(chunk({}, 'stop'))}\n\n`)
    translator.end()
    return translator.notes.filter(({ path }) => path === '/choices/0/message/audio/id')
  }
  const later = [
    { id: 'audio_1', data: 'QUJD' },
    { id: 'audio_1', data: 'RUZH' },
  ]
  expect(idsOf([{ ...first, data: 'QUJD' }, ...later])).not.toEqual(
    idsOf([{ ...first, data: 'QUJD' }]),
  )
  expect(idsOf(later)).toHaveLength(1)
})

test('collects an audio id that comes late', async () => {
  const chunks = [{ data: 'QUJD' }, { id: 'audio_1' }].map(audio => chunk({ audio }, null))
  const wires = [...chunks, chunk({}, 'stop')].map(wire => `data: ${JSON.stringify(wire)}\n\n`)
  const { body } = await collectStream(wires, { protocol: 'chat-completions' })
  expect(body).toMatchObject({ choices: [{ message: { audio: { id: 'audio_1', data: 'QUJD' } } }] })
})
