import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../../src/index.ts'

type Options = Partial<Parameters<typeof translateRequest>[1]>
type Other = 'responses' | 'messages'
/**
 * What is written has at least this; a key that holds `undefined` is not written. Notes: code and
 * path.
 */
type Row = [cell: string, given: object, written: object, notes: string[], options?: Options]

const sent = [{ role: 'user', content: 'hi' }]
const blank = {
  responses: { model: 'm', input: 'hi' },
  messages: { model: 'm', max_tokens: 99, messages: sent },
}
const reported = (body: object, options: Parameters<typeof translateRequest>[1]) => {
  const { body: written, notes } = translateRequest(body, options)
  return {
    written: written as Record<string, unknown>,
    notes: notes.map(({ code, path }) => `${code} ${path}`),
  }
}
const toChat = (from: Other, given: object, options: Options = {}) =>
  reported({ ...blank[from], ...given }, { from, to: 'chat-completions', ...options })
/** What every request without more to say gets has rows of its own. */
const common = [
  'store.default /store',
  'reasoning.include-encrypted /include',
  'max-tokens.default /max_tokens',
]
const fromChat = (to: Other, given: object, options: Options = {}) => {
  const { written, notes } = reported(
    { model: 'm', messages: sent, ...given },
    { from: 'chat-completions', to, ...options },
  )
  return { written, notes: notes.filter(note => !common.includes(note)) }
}
const hold = (
  { written, notes }: ReturnType<typeof reported>,
  expected: object,
  noted: string[],
) => {
  expect(written).toMatchObject(
    Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)),
  )
  for (const [key, value] of Object.entries(expected))
    if (value === undefined) expect(written).not.toHaveProperty(key)
  expect(notes).toEqual(noted)
}

describe('structured output', () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false }
  const named = { name: 'n', description: 'd', schema, strict: true }
  test.each<Row>([
    ['text', { text: { format: { type: 'text' } } }, { response_format: { type: 'text' } }, []],
    [
      'json',
      { text: { format: { type: 'json_object' } } },
      { response_format: { type: 'json_object' } },
      [],
    ],
    [
      'a schema, flat there and nested here',
      { text: { format: { type: 'json_schema', ...named } } },
      { response_format: { type: 'json_schema', json_schema: named } },
      [],
    ],
    [
      'verbosity',
      { text: { verbosity: 'low' } },
      { verbosity: 'low', response_format: undefined },
      [],
    ],
    [
      'a grammar',
      { text: { format: { type: 'grammar', grammar: 'start: "a"' } } },
      { response_format: undefined },
      ['field.unsupported /text/format'],
    ],
  ])('from responses: %s', (_, given, expected, notes) =>
    hold(toChat('responses', given), expected, notes),
  )

  test.each<Row>([
    [
      'a schema, which gets a name',
      { output_config: { format: { type: 'json_schema', schema } } },
      { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } },
      ['schema.name /response_format/json_schema/name'],
    ],
    [
      'its older spelling',
      { output_format: { type: 'json_schema', schema } },
      { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } },
      ['schema.name /response_format/json_schema/name'],
    ],
  ])('from messages: %s', (_, given, expected, notes) =>
    hold(toChat('messages', given), expected, notes),
  )

  test.each<Row>([
    ['text', { response_format: { type: 'text' } }, { text: { format: { type: 'text' } } }, []],
    [
      'json',
      { response_format: { type: 'json_object' } },
      { text: { format: { type: 'json_object' } } },
      [],
    ],
    [
      'a schema',
      { response_format: { type: 'json_schema', json_schema: named } },
      { text: { format: { type: 'json_schema', ...named } } },
      [],
    ],
    [
      'a schema without a name',
      { response_format: { type: 'json_schema', json_schema: { schema } } },
      { text: { format: { type: 'json_schema', name: 'response', schema } } },
      ['schema.name /text/format/name'],
    ],
    ['verbosity', { verbosity: 'high' }, { text: { verbosity: 'high' } }, []],
    [
      'text as the only modality is the default',
      { modalities: ['text'] },
      { modalities: undefined },
      [],
    ],
    [
      'audio',
      { modalities: ['text', 'audio'], audio: { voice: 'ash', format: 'wav' } },
      { modalities: undefined, audio: undefined },
      ['field.unsupported /audio', 'field.unsupported /modalities'],
    ],
    [
      'a prediction',
      { prediction: { type: 'content', content: 'x' } },
      { prediction: undefined },
      ['field.unsupported /prediction'],
    ],
  ])('toward responses: %s', (_, given, expected, notes) =>
    hold(fromChat('responses', given), expected, notes),
  )
})

describe('sampling and limits', () => {
  test.each<Row>([
    [
      'temperature and top_p',
      { temperature: 1.7, top_p: 0.3 },
      { temperature: 1.7, top_p: 0.3 },
      [],
    ],
    [
      'penalties, which the open dialect has',
      { frequency_penalty: -1, presence_penalty: 2 },
      { frequency_penalty: -1, presence_penalty: 2 },
      [],
    ],
    [
      'the limit',
      { max_output_tokens: 5 },
      { max_completion_tokens: 5, max_tokens: undefined },
      [],
    ],
    ['no limit', {}, { max_completion_tokens: undefined, max_tokens: undefined }, []],
    [
      'the older name of the limit, as requested',
      { max_output_tokens: 5 },
      { max_tokens: 5, max_completion_tokens: undefined },
      [],
      { chatCompletions: { maxTokensField: 'max_tokens' } },
    ],
    [
      'probabilities',
      { top_logprobs: 3, include: ['message.output_text.logprobs'] },
      { logprobs: true, top_logprobs: 3 },
      [],
    ],
    [
      'probabilities of no other tokens',
      { include: ['message.output_text.logprobs'] },
      { logprobs: true, top_logprobs: undefined },
      [],
    ],
    ['no probabilities', { top_logprobs: 0 }, { logprobs: undefined, top_logprobs: undefined }, []],
    [
      'other tokens without probabilities, which servers refuse',
      { top_logprobs: 3 },
      { logprobs: undefined, top_logprobs: undefined },
      ['field.unsupported /top_logprobs'],
    ],
  ])('from responses: %s', (_, given, expected, notes, options) =>
    hold(toChat('responses', given, options), expected, notes),
  )

  test.each<Row>([
    [
      'temperature and top_p',
      { temperature: 0.7, top_p: 0.3 },
      { temperature: 0.7, top_p: 0.3 },
      [],
    ],
    ['top_k', { top_k: 5 }, { top_k: undefined }, ['field.unsupported /top_k']],
    [
      'top_k, for servers that know it',
      { top_k: 5 },
      { top_k: 5 },
      [],
      { chatCompletions: { topK: 'write' } },
    ],
    [
      'four stop sequences',
      { stop_sequences: ['a', 'b', 'c', 'd'] },
      { stop: ['a', 'b', 'c', 'd'] },
      [],
    ],
    [
      'five stop sequences',
      { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
      { stop: ['a', 'b', 'c', 'd'] },
      ['stop.too-many /stop_sequences'],
    ],
    [
      'a limit of nothing, which warms the cache',
      { max_tokens: 0 },
      { max_completion_tokens: 1 },
      ['max-tokens.raised /max_tokens'],
    ],
  ])('from messages: %s', (_, given, expected, notes, options) =>
    hold(toChat('messages', given, options), expected, notes),
  )

  test.each<Row>([
    [
      'temperature and top_p',
      { temperature: 1.7, top_p: 0.3 },
      { temperature: 1.7, top_p: 0.3 },
      [],
    ],
    [
      'penalties',
      { frequency_penalty: 1 },
      { frequency_penalty: undefined },
      ['field.unsupported /frequency_penalty'],
    ],
    [
      'penalties of nothing are the default',
      { frequency_penalty: 0, presence_penalty: 0 },
      { presence_penalty: undefined },
      [],
    ],
    ['a seed', { seed: 7 }, { seed: undefined }, ['field.unsupported /seed']],
    [
      'a bias',
      { logit_bias: { 5: 10 } },
      { logit_bias: undefined },
      ['field.unsupported /logit_bias'],
    ],
    ['stop sequences', { stop: 'a' }, { stop: undefined }, ['field.unsupported /stop']],
    ['the limit', { max_completion_tokens: 50 }, { max_output_tokens: 50 }, []],
    ['the older limit', { max_tokens: 50 }, { max_output_tokens: 50 }, []],
    [
      'a low limit',
      { max_tokens: 5 },
      { max_output_tokens: 16 },
      ['max-tokens.raised /max_tokens'],
    ],
    [
      'both limits',
      { max_tokens: 70, max_completion_tokens: 50 },
      { max_output_tokens: 50 },
      ['field.unknown /max_tokens'],
    ],
    ['two candidates', { n: 2 }, { n: undefined }, ['field.unsupported /n']],
    ['one candidate is the default', { n: 1 }, { n: undefined }, []],
    [
      'probabilities',
      { logprobs: true, top_logprobs: 3 },
      { top_logprobs: 3, include: expect.arrayContaining(['message.output_text.logprobs']) },
      [],
    ],
    [
      'no probabilities',
      { logprobs: false },
      {
        top_logprobs: undefined,
        include: expect.not.arrayContaining(['message.output_text.logprobs']),
      },
      [],
    ],
  ])('toward responses: %s', (_, given, expected, notes, options) =>
    hold(fromChat('responses', given, options), expected, notes),
  )

  test.each<Row>([
    [
      'a high temperature is clamped, never scaled',
      { temperature: 1.7 },
      { temperature: 1 },
      ['sampling.temperature-clamped /temperature'],
    ],
    ['a common temperature', { temperature: 0.7 }, { temperature: 0.7 }, []],
    [
      'penalties',
      { presence_penalty: 1 },
      { presence_penalty: undefined },
      ['field.unsupported /presence_penalty'],
    ],
    ['a seed', { seed: 7 }, { seed: undefined }, ['field.unsupported /seed']],
    [
      'a bias',
      { logit_bias: { 5: 10 } },
      { logit_bias: undefined },
      ['field.unsupported /logit_bias'],
    ],
    ['a stop sequence', { stop: 'a' }, { stop_sequences: ['a'] }, []],
    ['the limit', { max_tokens: 5 }, { max_tokens: 5 }, []],
    [
      'both limits',
      { max_tokens: 70, max_completion_tokens: 50 },
      { max_tokens: 50 },
      ['field.unknown /max_tokens'],
    ],
    ['two candidates', { n: 2 }, { n: undefined }, ['candidates.first-only /n']],
    [
      'probabilities',
      { logprobs: true, top_logprobs: 3 },
      { logprobs: undefined },
      ['field.unsupported /logprobs', 'field.unsupported /top_logprobs'],
    ],
  ])('toward messages: %s', (_, given, expected, notes) =>
    hold(fromChat('messages', { model: 'claude-sonnet-4-5', ...given }), expected, notes),
  )
})

describe('prompt caching', () => {
  const marked = (ttl?: string) => ({
    prompt_cache_breakpoint: { mode: 'explicit', ...(ttl && { ttl }) },
  })
  const item = (mark: object) => ({
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'a', ...mark }] }],
  })
  const message = (mark: object) => ({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'a', ...mark }] }],
  })
  const fields = {
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    prompt_cache_retention: '24h',
  }
  test.each<Row>([
    [
      'key, options and retention, written on request',
      fields,
      fields,
      [],
      { chatCompletions: { optionalFields: 'write' } },
    ],
    [
      'key, options and retention, which many servers refuse',
      fields,
      {
        prompt_cache_key: undefined,
        prompt_cache_options: undefined,
        prompt_cache_retention: undefined,
      },
      [
        'field.optional /prompt_cache_key',
        'field.optional /prompt_cache_options/mode',
        'field.optional /prompt_cache_options/ttl',
        'field.optional /prompt_cache_retention',
      ],
    ],
    ['a mark', item(marked()), message(marked()), [], { chatCompletions: { cacheMarks: 'write' } }],
    [
      'a mark, which many servers refuse',
      item(marked()),
      { messages: [{ role: 'user', content: 'a' }] },
      ['cache.unsupported /input/0/content/0/prompt_cache_breakpoint'],
    ],
    [
      'a mark of 30m',
      item(marked('30m')),
      message(marked('30m')),
      [],
      { chatCompletions: { cacheMarks: 'write' } },
    ],
    [
      'a mark of 12h',
      item(marked('12h')),
      message(marked('12h')),
      [],
      { chatCompletions: { cacheMarks: 'write' } },
    ],
    [
      'a lifetime of all marks that is no word here',
      { prompt_cache_options: { mode: 'explicit', ttl: '12h' } },
      { prompt_cache_options: expect.not.objectContaining({ ttl: expect.anything() }) },
      ['cache.ttl /prompt_cache_options/ttl'],
      { chatCompletions: { optionalFields: 'write' } },
    ],
    [
      'the response that the cache is compared with',
      { prompt_cache_options: { comparison_response_id: 'resp_1' } },
      { prompt_cache_options: undefined },
      ['field.unsupported /prompt_cache_options/comparison_response_id'],
    ],
  ])('from responses: %s', (_, given, expected, notes, options) =>
    hold(toChat('responses', given, options), expected, notes),
  )

  test.each<Row>([
    ['key, options and retention', fields, fields, []],
    ['a mark of 12h', message(marked('12h')), item(marked('12h')), []],
    [
      'a mark as servers took it from messages',
      message({ cache_control: { type: 'ephemeral' } }),
      item(marked()),
      [],
    ],
  ])('toward responses: %s', (_, given, expected, notes) =>
    hold(fromChat('responses', given), expected, notes),
  )

  test.each<Row>([
    [
      'an hour is the common lifetime',
      { cache_control: { type: 'ephemeral', ttl: '1h' } },
      {},
      ['cache.ttl /cache_control/ttl'],
    ],
    [
      'what is compared',
      { diagnostics: { previous_message_id: 'msg_1' } },
      {},
      ['field.unsupported /diagnostics'],
    ],
  ])('from messages: %s', (_, given, expected, notes) =>
    hold(toChat('messages', given), expected, notes),
  )
})

describe('tiers, users and metadata', () => {
  const long = 'u'.repeat(65)
  test.each(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])(
    'maps the tier %s to the same one of responses',
    tier => {
      hold(toChat('responses', { service_tier: tier }), { service_tier: tier }, [])
      hold(fromChat('responses', { service_tier: tier }), { service_tier: tier }, [])
    },
  )

  test.each<Row>([
    [
      'a tier of its own',
      { service_tier: 'ultrafast' },
      { service_tier: undefined },
      ['tier.unsupported /service_tier'],
    ],
    [
      'ids of users',
      { safety_identifier: 's', user: 'u' },
      { safety_identifier: undefined, user: 'u' },
      ['field.optional /safety_identifier'],
    ],
    ['metadata', { metadata: { a: 'b' } }, { metadata: undefined }, ['field.optional /metadata']],
    [
      'moderation',
      { moderation: { model: 'omni' } },
      { moderation: undefined },
      ['field.optional /moderation'],
    ],
  ])('from responses: %s', (_, given, expected, notes) =>
    hold(toChat('responses', given), expected, notes),
  )

  test.each<Row>([
    [
      'ids of users',
      { safety_identifier: 's', user: 'u' },
      { safety_identifier: 's', user: 'u' },
      [],
    ],
    ['metadata', { metadata: { a: 'b' } }, { metadata: { a: 'b' } }, []],
    ['moderation', { moderation: { model: 'omni' } }, { moderation: { model: 'omni' } }, []],
    ['storing', { store: true }, { store: true }, []],
    ['not storing, which is the default', { store: false }, { store: undefined }, []],
  ])('from responses with `optionalFields: write`: %s', (_, given, expected, notes) =>
    hold(
      toChat('responses', given, { chatCompletions: { optionalFields: 'write' } }),
      expected,
      notes,
    ),
  )

  test.each<Row>([
    [
      'ids of users',
      { safety_identifier: 's', user: 'u' },
      { safety_identifier: 's', user: 'u' },
      [],
    ],
    ['metadata', { metadata: { a: 'b' } }, { metadata: { a: 'b' } }, []],
    ['moderation', { moderation: { model: 'omni' } }, { moderation: { model: 'omni' } }, []],
  ])('toward responses: %s', (_, given, expected, notes) =>
    hold(fromChat('responses', given), expected, notes),
  )

  test.each<Row>([
    ['the tier auto', { service_tier: 'auto' }, { service_tier: 'auto' }, []],
    ['the standard tier', { service_tier: 'standard_only' }, { service_tier: 'default' }, []],
    ['a faster mode', { speed: 'fast' }, { service_tier: undefined }, ['field.unsupported /speed']],
    ['the standard mode is the default', { speed: 'standard' }, { service_tier: undefined }, []],
    [
      'the user',
      { metadata: { user_id: 'u1' } },
      { safety_identifier: 'u1', metadata: undefined, user: undefined },
      [],
      { chatCompletions: { optionalFields: 'write' } },
    ],
    [
      'the user, which many servers refuse',
      { metadata: { user_id: 'u1' } },
      { safety_identifier: undefined },
      ['field.optional /metadata/user_id'],
    ],
    [
      'a user whose id is long',
      { metadata: { user_id: long } },
      { safety_identifier: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ['user.hashed /metadata/user_id'],
      { chatCompletions: { optionalFields: 'write' } },
    ],
    [
      'where it is computed',
      { inference_geo: 'eu' },
      { inference_geo: undefined },
      ['field.unknown /inference_geo'],
    ],
  ])('from messages: %s', (_, given, expected, notes, options) =>
    hold(toChat('messages', given, options), expected, notes),
  )

  test.each<Row>([
    [
      'the safety id goes first',
      { safety_identifier: 's', user: 'u' },
      { metadata: { user_id: 's' } },
      ['field.unsupported /user'],
    ],
    ['the user where it is alone', { user: 'u' }, { metadata: { user_id: 'u' } }, []],
    [
      'metadata',
      { metadata: { a: 'b' } },
      { metadata: undefined },
      ['field.unsupported /metadata'],
    ],
    [
      'moderation',
      { moderation: { model: 'omni' } },
      { moderation: undefined },
      ['field.unsupported /moderation'],
    ],
  ])('toward messages: %s', (_, given, expected, notes) =>
    hold(fromChat('messages', given), expected, notes),
  )
})

describe('references to content that a provider stores', () => {
  const item = (type: string, more: object = {}) => ({
    input: [
      { type, ...more },
      { role: 'user', content: 'hi' },
    ],
  })
  test.each<[string, object, string]>([
    ['an earlier response', { previous_response_id: 'resp_1' }, 'previous_response_id'],
    ['a stored conversation', { conversation: 'conv_1' }, 'conversation'],
    ['a stored prompt', { prompt: { id: 'p' } }, 'prompt'],
    ['work in the background', { background: true }, 'background'],
    ['an item that is kept', item('item_reference', { id: 'msg_1' }), 'input/0'],
    [
      'a conversation that was made short',
      item('compaction', { id: 'c', encrypted_content: 'E' }),
      'input/0',
    ],
  ])('refuses %s, or notes it on request', (_, given, path) => {
    expect(() => toChat('responses', given)).toThrow(
      expect.objectContaining({ code: 'inexpressible', path: `/${path}` }),
    )
    expect(toChat('responses', given, { onUnresolvable: 'note' }).notes).toEqual([
      `state.unresolvable /${path}`,
    ])
  })

  test.each<Row>([
    ['storing', { store: true }, { store: undefined }, ['field.optional /store']],
    ['not storing', { store: false }, { store: undefined }, []],
    ['nothing about storing', {}, { store: undefined }, []],
    ['no work in the background', { background: false }, {}, []],
    [
      'what is included anyway',
      { include: ['reasoning.encrypted_content'] },
      { include: undefined },
      [],
    ],
    [
      'results of searches',
      {
        include: [
          'reasoning.encrypted_content',
          'message.output_text.logprobs',
          'file_search_call.results',
        ],
      },
      { logprobs: true },
      ['field.unsupported /include/2'],
    ],
    ['no truncation is the default', { truncation: 'disabled' }, { truncation: undefined }, []],
    [
      'truncation',
      { truncation: 'auto' },
      { truncation: undefined },
      ['field.unsupported /truncation'],
    ],
    [
      'a conversation kept short',
      { context_management: [{ type: 'compaction' }] },
      {},
      ['field.unsupported /context_management'],
    ],
    ['a limit of calls', { max_tool_calls: 3 }, {}, ['field.unsupported /max_tool_calls']],
    [
      'fields of its own',
      { access_programs: ['a'], personality: 'p' },
      {},
      ['field.unknown /access_programs', 'field.unknown /personality'],
    ],
  ])('from responses: %s', (_, given, expected, notes) =>
    hold(toChat('responses', given), expected, notes),
  )

  test.each<Row>([
    [
      'a container',
      { container: 'c1' },
      { container: undefined },
      ['field.unsupported /container'],
    ],
    [
      'a context that is edited',
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      {},
      ['field.unsupported /context_management'],
    ],
    [
      'fallbacks',
      { fallbacks: [{ model: 'x' }] },
      { fallbacks: undefined },
      ['field.unknown /fallbacks'],
    ],
  ])('from messages: %s', (_, given, expected, notes) =>
    hold(toChat('messages', given), expected, notes),
  )

  test.each<[string, object, boolean, string[]]>([
    ['nothing, since the defaults differ', {}, false, ['store.default /store']],
    ['storing', { store: true }, true, []],
    ['not storing', { store: false }, false, []],
  ])('toward responses: %s', (_, given, store, notes) => {
    const { written, notes: made } = reported(
      { model: 'm', messages: sent, ...given },
      { from: 'chat-completions', to: 'responses' },
    )
    hold({ written, notes: made.filter(note => note.endsWith('/store')) }, { store }, notes)
  })

  test.each<Row>([
    ['storing', { store: true }, { store: undefined }, ['field.unsupported /store']],
    ['not storing, which it never does', { store: false }, { store: undefined }, []],
  ])('toward messages: %s', (_, given, expected, notes) =>
    hold(fromChat('messages', given), expected, notes),
  )
})

describe('tool choices', () => {
  const names = ['f', 'g']
  const ours = names.map(name => ({
    type: 'function',
    function: { name, parameters: { type: 'object' } },
  }))
  const theirs = names.map(name => ({
    type: 'function',
    name,
    parameters: { type: 'object' },
    strict: false,
  }))
  const blocks = names.map(name => ({ name, input_schema: { type: 'object' } }))
  const custom = { type: 'custom', custom: { name: 'h' } }
  const nested = (mode: string, ...allowed: string[]) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: allowed.map(name => ({ type: 'function', function: { name } })) },
  })
  const flat = (mode: string, ...allowed: string[]) => ({
    type: 'allowed_tools',
    mode,
    tools: allowed.map(name => ({ type: 'function', name })),
  })
  const words: [string, unknown, unknown][] = [
    ['auto', 'auto', 'auto'],
    ['none', 'none', 'none'],
    ['required', 'required', 'required'],
    ['a function', { type: 'function', function: { name: 'f' } }, { type: 'function', name: 'f' }],
    ['a freeform tool', { type: 'custom', custom: { name: 'h' } }, { type: 'custom', name: 'h' }],
    ['some tools', nested('auto', 'f'), flat('auto', 'f')],
    ['one of some tools', nested('required', 'f', 'g'), flat('required', 'f', 'g')],
  ]
  test.each(words)('%s, both ways', (_, tool_choice, other) => {
    hold(
      fromChat('responses', { tools: [...ours, custom], tool_choice }),
      { tool_choice: other },
      [],
    )
    hold(
      toChat(
        'responses',
        { tools: [...theirs, { type: 'custom', name: 'h' }], tool_choice: other },
        { chatCompletions: { customTools: 'write' } },
      ),
      { tool_choice },
      [],
    )
  })

  test.each<[string, object, object]>([
    ['auto', { type: 'auto' }, { tool_choice: 'auto' }],
    ['none', { type: 'none' }, { tool_choice: 'none' }],
    ['any', { type: 'any' }, { tool_choice: 'required' }],
    [
      'a tool',
      { type: 'tool', name: 'f' },
      { tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    [
      'one call at a time',
      { type: 'auto', disable_parallel_tool_use: true },
      { tool_choice: 'auto', parallel_tool_calls: false },
    ],
  ])('from messages: %s', (_, tool_choice, expected) =>
    hold(toChat('messages', { tools: blocks, tool_choice }), expected, []),
  )

  const kept = { tools: [{ name: 'f' }, { name: 'g' }] }
  test.each<Row>([
    [
      'some tools',
      { tool_choice: nested('auto', 'f') },
      { tools: [{ name: 'f' }], tool_choice: { type: 'auto' } },
      ['tool-choice.subset-filtered /tool_choice', 'tool-choice.subset-filtered /tools/1'],
    ],
    [
      'one of one tool',
      { tool_choice: nested('required', 'f') },
      { ...kept, tool_choice: { type: 'tool', name: 'f' } },
      [],
    ],
    [
      'one call at a time',
      { parallel_tool_calls: false },
      { ...kept, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      [],
    ],
    [
      'several calls at a time',
      { parallel_tool_calls: true },
      { ...kept, tool_choice: undefined },
      [],
    ],
  ])('toward messages: %s', (_, given, expected, notes, options) =>
    hold(fromChat('messages', { tools: ours, ...given }, options), expected, notes),
  )

  test.each<Row>([
    [
      'functions',
      { functions: [{ name: 'f', parameters: { type: 'object' } }] },
      { tools: [theirs[0]] },
      [],
    ],
    [
      'auto',
      { functions: [{ name: 'f', parameters: { type: 'object' } }], function_call: 'auto' },
      { tool_choice: 'auto' },
      [],
    ],
    [
      'none',
      { functions: [{ name: 'f', parameters: { type: 'object' } }], function_call: 'none' },
      { tool_choice: 'none' },
      [],
    ],
    [
      'a function',
      { functions: [{ name: 'f', parameters: { type: 'object' } }], function_call: { name: 'f' } },
      { tool_choice: { type: 'function', name: 'f' } },
      [],
    ],
    [
      'both spellings of the choice',
      { tools: ours, tool_choice: 'auto', function_call: 'none' },
      { tool_choice: 'auto', function_call: undefined },
      ['field.unknown /function_call'],
    ],
  ])('older spelling, toward responses: %s', (_, given, expected, notes) =>
    hold(fromChat('responses', given), expected, notes),
  )

  test('converts a past function call and its result', () => {
    const history = [
      ...sent,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'done' },
    ]
    const { written, notes } = fromChat('responses', { messages: history })
    expect(written).toMatchObject({
      input: [
        {},
        { type: 'function_call', call_id: 'call_fn_0', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_fn_0', output: 'done' },
      ],
    })
    expect(notes).toEqual([])
  })
})
