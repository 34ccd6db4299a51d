import { expect, test } from 'vitest'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { chunk, codes, decodeStream } from './run.ts'

const call = (more: object) => ({
  tool_calls: [
    { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' }, ...more },
  ],
})
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const done = chunk({}, 'stop')
const called = chunk({}, 'tool_calls')
const sent = chunk({ role: 'assistant', content: 'a' })

/**
 * Each way in which servers differ in their streams, with its notes. Without a change there is no
 * note.
 */
test.each<[deviation: string, chunks: unknown[], notes: string[]]>([
  ['content as parts', [chunk({ content: [{ type: 'text', text: 'a' }] }), done], []],
  [
    'thinking among the parts',
    [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'r' }] }] }),
      sent,
      done,
    ],
    [],
  ],
  [
    'reasoning under both names',
    [chunk({ reasoning: 'r', reasoning_content: 'r' }), sent, done],
    [],
  ],
  ['a call without an index', [chunk(call({ index: undefined })), called], []],
  ['an index that begins at 1', [chunk(call({ index: 1 })), called], []],
  [
    'arguments as an object',
    [chunk(call({ function: { name: 'f', arguments: { a: 1 } } })), called],
    ['tool-call.input-object'],
  ],
  [
    'arguments that are null',
    [chunk(call({ function: { name: 'f', arguments: null } })), called],
    [],
  ],
  [
    'an empty id later',
    [
      chunk(call({})),
      chunk({ tool_calls: [{ index: 0, id: '', function: { arguments: '' } }] }),
      called,
    ],
    [],
  ],
  [
    'no delta',
    [sent, { ...done, choices: [{ index: 0, delta: null, finish_reason: 'stop' }] }],
    [],
  ],
  ['no choices', [sent, { ...done, choices: null }, done], []],
  ['an empty reason until the end', [chunk({ content: 'a' }, ''), done], []],
  ['no reason at all', [sent], ['finish.missing']],
  ['"stop" beside calls', [chunk(call({})), done], ['finish.repaired']],
  ['"tool_calls" without calls', [sent, called], ['finish.repaired']],
  [
    'usage in every chunk',
    [
      { ...sent, usage },
      { ...done, usage },
    ],
    [],
  ],
  [
    'counts as text',
    [sent, { ...done, usage: { ...usage, prompt_tokens: '1' } }],
    ['usage.repaired'],
  ],
  ['a first chunk of filters', [{ choices: [], prompt_filter_results: [] }, sent, done], []],
  [
    'the whole message once more',
    [
      sent,
      {
        ...done,
        choices: [{ index: 0, delta: {}, message: { content: 'a' }, finish_reason: 'stop' }],
      },
    ],
    [],
  ],
  ['another id later', [sent, { ...done, id: 'c2' }], []],
  ['an id that comes late', [{ ...sent, id: '' }, done], ['response.late']],
  [
    'head fields that come late',
    [{ choices: sent.choices }, done, done],
    ['response.late', 'response.late', 'response.late'],
  ],
  [
    'head fields that come before any choice does',
    [{ choices: [], id: '', model: '' }, sent, done],
    [],
  ],
  ['empty deltas', [sent, chunk({ content: '' }), done], []],
])('%s', (_, chunks, notes) => {
  const read = decodeStream([...chunks, '[DONE]', '[DONE]'])
  expect(codes(read.notes)).toEqual(notes)
  expect(read.events.at(-1)).toEqual({ type: 'end', clean: true })
})

const response = (message: object, more: object = {}, choice: object = {}) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'a', ...message },
      finish_reason: 'stop',
      ...choice,
    },
  ],
  ...more,
})
const ofCall = (fn: object, more: object = {}) =>
  response({
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', ...fn }, ...more }],
  })
const text = { type: 'text', text: 'a' }
const thought = { type: 'reasoning', segments: [{ kind: 'raw', text: 'r' }] }

/** The same of complete responses: the parts that are read, and the notes. */
test.each<[deviation: string, body: unknown, parts: object[], notes?: string[]]>([
  ['content as blocks', response({ content: [{ type: 'text', text: 'a' }] }), [text]],
  [
    'thinking among the blocks',
    response({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'r' }] },
        { type: 'text', text: 'a' },
      ],
    }),
    [thought, text],
  ],
  [
    'arguments as an object',
    ofCall({ arguments: { a: 1 } }),
    [{ type: 'tool-call', input: '{"a":1}' }],
    ['tool-call.input-object', 'finish.repaired'],
  ],
  [
    'arguments that are empty',
    ofCall({ arguments: '' }),
    [{ type: 'tool-call', input: '' }],
    ['finish.repaired'],
  ],
  [
    'arguments that are null',
    ofCall({ arguments: null }),
    [{ type: 'tool-call', input: '' }],
    ['finish.repaired'],
  ],
  [
    'a call without id and type',
    ofCall({ arguments: '{}' }, { id: undefined, type: undefined }),
    [{ type: 'tool-call', idOrigin: 'synthesized' }],
    ['finish.repaired'],
  ],
  ['calls that are null', response({ tool_calls: null }), [text]],
  ['content and a refusal', response({ refusal: 'no' }), [text, { type: 'refusal', text: 'no' }]],
  ['a speaker of another name', response({ role: 'model' }), [text]],
  ['reasoning_content', response({ reasoning_content: 'r' }), [thought, text]],
  [
    'reasoning under both names',
    response({ reasoning: 'r', reasoning_content: 'r' }),
    [thought, text],
  ],
  [
    'reasoning in details, with its signature',
    response({
      reasoning: 'r',
      reasoning_details: [{ type: 'reasoning.text', text: 'r', signature: 's', index: 0 }],
    }),
    [{ ...thought, signature: { value: 's' } }, text],
  ],
  [
    'a signature next to a call',
    ofCall({ arguments: '{}' }, { extra_content: { google: { thought_signature: 'QUJD' } } }),
    [{ type: 'tool-call', signature: { value: 'QUJD' } }],
    ['finish.repaired'],
  ],
  [
    'filters and timings',
    response({}, { prompt_filter_results: [], timings: {} }, { content_filter_results: {} }),
    [text],
  ],
  [
    'neither id nor time nor object',
    { choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] },
    [text],
  ],
  ['no reason', response({}, {}, { finish_reason: undefined }), [text], ['finish.missing']],
])('whole: %s', (_, body, parts, reported = []) => {
  const { value, notes } = chatCompletions.decodeResponse(JSON.parse(JSON.stringify(body)))
  expect(value.candidates[0]?.messages.flatMap(message => message.parts)).toMatchObject(parts)
  expect(codes(notes)).toEqual(reported)
})

test.each<[deviation: string, body: object, read: object, notes?: string[]]>([
  [
    'counts as text',
    { usage: { prompt_tokens: '9', completion_tokens: '5', total_tokens: '14' } },
    { input: 9, output: 5 },
    ['usage.repaired'],
  ],
  [
    'counts that are fractions',
    { usage: { prompt_tokens: 9.5, completion_tokens: 5, total_tokens: 14.5 } },
    { input: 9, output: 5 },
    ['usage.repaired'],
  ],
  [
    'cached tokens under another name',
    {
      usage: {
        prompt_tokens: 18,
        completion_tokens: 2,
        total_tokens: 20,
        prompt_cache_hit_tokens: 4,
        prompt_cache_miss_tokens: 14,
      },
    },
    { input: 18, cacheRead: 4 },
  ],
  [
    'reasoning beside the output',
    {
      usage: {
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 303,
        completion_tokens_details: { reasoning_tokens: 290 },
      },
    },
    { output: 291 },
  ],
  [
    'audio next to the input',
    {
      usage: {
        prompt_tokens: 9,
        completion_tokens: 248,
        total_tokens: 632,
        prompt_tokens_details: { audio_tokens: 375 },
      },
    },
    { input: 384, output: 248, inputAudio: 375 },
  ],
  [
    'a total that is larger',
    { usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 40 } },
    { output: 31 },
    ['usage.repaired'],
  ],
  [
    'counts in a field of the server',
    { x_groq: { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } } },
    { input: 1, output: 2 },
  ],
])('whole: %s', (_, more, read, reported = []) => {
  const { value, notes } = chatCompletions.decodeResponse(response({}, more))
  expect(value.usage).toMatchObject(read)
  expect(codes(notes)).toEqual(reported)
})

test.each<[deviation: string, body: unknown, error: object]>([
  [
    'an error in place of a response',
    { error: { message: 'x', type: 'server_error', code: 502 } },
    { status: 502, message: 'x' },
  ],
  [
    'an error in the choice',
    response({ content: '' }, {}, { finish_reason: 'error', error: { code: 502, message: 'x' } }),
    { status: 502, message: 'x' },
  ],
  ['no choices', { id: 'c1', choices: [] }, { kind: 'internal' }],
  ['choices that are null', { id: 'c1', choices: null }, { kind: 'internal' }],
])('whole: %s', (_, body, error) => {
  expect(chatCompletions.decodeResponse(body).value).toMatchObject({ error })
})

test.each([null, []])('a response with choices %j is written unchanged', choices => {
  const body = { id: 'c1', object: 'chat.completion', choices }
  expect(chatCompletions.encodeResponse(chatCompletions.decodeResponse(body).value)).toEqual({
    wire: body,
    notes: [],
  })
})

const asks = (message: object, more: object = {}) => ({ model: 'm', messages: [message], ...more })

/** The speaker and the text are not guessed. */
test.each<[what: string, body: unknown, path: string]>([
  ...['model', 'ai', 'human', 'function_call_output'].map((role): [string, unknown, string] => [
    `"${role}"`,
    asks({ role, content: 'a' }),
    '/messages/0/role',
  ]),
  ...[1, true].map((content): [string, unknown, string] => [
    `content ${content}`,
    asks({ role: 'user', content }),
    '/messages/0/content',
  ]),
])('%s is refused, with its path', (_, body, path) => {
  expect(() => chatCompletions.decodeRequest(body)).toThrow(
    expect.objectContaining({ code: 'malformed', path }),
  )
})

const two = {
  role: 'assistant',
  tool_calls: ['x', 'y'].map(id => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  })),
}

test.each<[deviation: string, body: unknown, read: object, notes?: string[]]>([
  [
    'calls that are null',
    asks({ role: 'assistant', content: 'a', tool_calls: null }),
    { messages: [{ parts: [text] }] },
  ],
  [
    'content and a refusal',
    asks({ role: 'assistant', content: 'a', refusal: 'no' }),
    { messages: [{ parts: [text, { type: 'refusal' }] }] },
  ],
  [
    'two limits',
    asks({ role: 'user', content: 'a' }, { max_tokens: 5, max_completion_tokens: 6 }),
    { maxOutputTokens: 6 },
  ],
  [
    'results without an id, for the oldest open calls',
    { model: 'm', messages: [two, { role: 'tool', content: 'r' }, { role: 'tool', content: 's' }] },
    { messages: [{}, { parts: [{ callId: 'x' }] }, { parts: [{ callId: 'y' }] }] },
    ['tool-result.call-id', 'tool-result.call-id'],
  ],
  [
    'tools under both names',
    asks(
      { role: 'user', content: 'a' },
      { tools: [{ type: 'function', function: { name: 'a' } }], functions: [{ name: 'b' }] },
    ),
    { tools: [{ name: 'a' }, { name: 'b' }] },
    ['tools.two-lists'],
  ],
])('requested: %s', (_, body, read, reported = []) => {
  const { value, notes } = chatCompletions.decodeRequest(body)
  expect(value).toMatchObject(read)
  expect(codes(notes)).toEqual(reported)
})
