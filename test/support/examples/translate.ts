import { type Example, makers } from './example.ts'
import { blocks, chat, gemini, items } from './wires.ts'

const { response, stream } = makers('chat-completions')
const itemsResponse = makers('responses').response

const toMessages = makers('messages').request('chat-completions')
const png = 'iVBORw0KGgo='
const user = { role: 'user', content: 'hi' }
const called = { role: 'assistant', tool_calls: [chat.call('c1', '{}')] }
const result = (content: string) => ({ role: 'tool', tool_call_id: 'c1', content })

const text = { type: 'text', text: '', at: '/2' }
const begin = { type: 'part.start', candidate: 0, message: 0, part: 0, head: text }
const give = { type: 'part.delta', candidate: 0, part: 0, delta: { kind: 'text', text: 'yes' } }
const ended = { type: 'part.end', candidate: 0, part: 0 }

/** A stream of one message, which no decoder emits. */
const strange = (...events: object[]) =>
  makers('generate-content').stream('canonical')([
    { type: 'start' },
    { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
    ...events,
    { type: 'message.end', candidate: 0, message: 0 },
    { type: 'finish', candidate: 0, finish: { reason: 'stop' } },
    { type: 'usage', usage: { input: 5, output: 2 } },
    { type: 'end', clean: true },
  ])

/** One for each note that is made between two protocols. */
export const examples: Record<string, Example> = {
  'stream.unreadable-frame': stream('messages')(
    blocks.stream(['<html>', ...blocks.block(0, { type: 'text', text: 'yes' })]),
    {},
    ['response.created'],
  ),
  'stream.trailing-arguments': makers('messages').stream('chat-completions')(
    [
      chat.chunk({ tool_calls: [{ index: 0, ...chat.call('c1', '{"a":1}') }] }),
      chat.chunk({ tool_calls: [{ index: 1, ...chat.call('c2', '{"b":2}') }] }),
      chat.chunk({ tool_calls: [{ index: 0, function: { arguments: ' so' } }] }),
      chat.chunk(
        {},
        { finish_reason: 'tool_calls' },
        { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
      ),
    ],
    {},
    ['usage.late'],
    {
      shows: {
        source: '/2/choices/0/delta/tool_calls/0/function/arguments',
        target: '/2/delta/partial_json',
      },
    },
  ),
  'stream.final-differs': stream('responses')(
    [
      ...items.opening,
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'ja' },
      ...items.ending('yes'),
    ],
    {},
    [],
    { shows: { target: '/1/choices/0/delta' } },
  ),
  'stream.stray-delta': strange(begin, give, ended, give),
  'stream.repeated-start': strange(begin, give, begin, ended),
  'freeform.unwrap-failed': response('messages')(
    blocks.response([blocks.call('c1', { cmd: 'ls' }, 'sh')], { stop_reason: 'tool_use' }),
    {
      context: {
        from: 'chat-completions',
        to: 'messages',
        tools: { sh: { name: 'sh', wrapped: true } },
      },
    },
    ['response.created'],
  ),
  'freeform.extra-arguments': stream('messages')(
    blocks.stream(
      blocks.block(0, blocks.call('c1', {}, 'sh'), {
        type: 'input_json_delta',
        partial_json: '{"input":"ls","timeout":5}',
      }),
      {
        stop_reason: 'tool_use',
      },
    ),
    {
      context: {
        from: 'chat-completions',
        to: 'messages',
        tools: { sh: { name: 'sh', wrapped: true } },
      },
    },
    ['response.created'],
    { shows: { source: '/2/delta/partial_json' } },
  ),
  'freeform.as-function': itemsResponse('chat-completions')(
    chat.response(
      { tool_calls: [chat.call('c1', '{"input":"ls"}', 'sh')] },
      { finish_reason: 'tool_calls' },
      { created: 1 },
    ),
    {
      context: {
        from: 'responses',
        to: 'chat-completions',
        tools: { sh: { name: 'sh', freeform: true } },
      },
    },
  ),
  'tool-call.unwrap-failed': itemsResponse('chat-completions')(
    chat.response(
      { tool_calls: [chat.call('c1', '{"items":["a"]}', 'look')] },
      { finish_reason: 'tool_calls' },
      { created: 1 },
    ),
    {
      context: {
        from: 'responses',
        to: 'chat-completions',
        tools: { look: { name: 'look', value: true } },
      },
    },
  ),
  'output.unwrap-failed': makers('generate-content').response('chat-completions')(
    chat.response({ content: '["a"]' }),
    {
      context: { from: 'generate-content', to: 'chat-completions', output: 'value' },
    },
  ),
  'tool-result.orphan-as-text': toMessages(
    chat.says(user, { role: 'tool', tool_call_id: 'c1', content: 'done' }),
  ),
  'system.not-text': makers('messages').request('responses')(
    items.says(
      {
        role: 'system',
        content: [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }],
      },
      user,
    ),
  ),
  'tool-result.moved': toMessages(chat.says(user, called, user, result('done'))),
  'tool-result.duplicate': toMessages(chat.says(user, called, result('old'), result('new'))),
  'tool.added-late': makers('messages').request('responses')(
    items.says(user, { type: 'additional_tools', role: 'developer', tools: [items.tool('look')] }),
  ),
  'tool.duplicate': toMessages({
    ...chat.says(user),
    tools: [
      chat.tool('look'),
      { ...chat.tool('look'), function: { name: 'look', parameters: {} } },
    ],
  }),
  'tool.too-many': toMessages(
    { ...chat.says(user), tools: [chat.tool('look'), chat.tool('find')] },
    { tools: { mostTools: 1 } },
  ),
  'tool.schema-root': toMessages({
    ...chat.says(user),
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          parameters: { type: 'object', anyOf: [{ required: ['day'] }, { required: ['hour'] }] },
        },
      },
    ],
  }),
  'output.property-renamed': toMessages({
    ...chat.says(user),
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'list',
        schema: {
          type: 'object',
          properties: { $top: { type: 'integer' } },
          additionalProperties: false,
        },
      },
    },
  }),
  'tool.arguments-wrapped': toMessages({
    ...chat.says(user),
    tools: [
      {
        type: 'function',
        function: { name: 'look', parameters: { type: 'array', items: { type: 'string' } } },
      },
    ],
  }),
  'tool.property-renamed': toMessages({
    ...chat.says(user),
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          parameters: { type: 'object', properties: { $top: { type: 'integer' } } },
        },
      },
    ],
  }),
  'schema.reference': makers('generate-content').request('chat-completions')({
    ...chat.says(user),
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          parameters: { type: 'object', properties: { inner: { $ref: '#' } } },
        },
      },
    ],
  }),
  'schema.keywords': makers('converse').request('chat-completions')({
    ...chat.says(user),
    model: 'amazon.nova-pro-v1:0',
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          parameters: { type: 'object', properties: {}, additionalProperties: false },
        },
      },
    ],
  }),
  'tool.strict': makers('chat-completions').request('messages')(
    blocks.request({
      messages: [{ role: 'user', content: 'hi' }],
      tools: [
        {
          name: 'look',
          strict: true,
          input_schema: {
            type: 'object',
            properties: { day: { type: 'string' } },
            additionalProperties: false,
          },
        },
      ],
    }),
  ),
  'schema.invalid': toMessages({
    ...chat.says(user),
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          parameters: { type: 'object', properties: { count: { type: 'int' } } },
        },
      },
    ],
  }),
  'tool-choice.strict-tools': makers('messages').request('generate-content')(
    gemini.heldToSchemas(),
    {},
    [],
    { shows: { target: '/tools/0/strict' } },
  ),
  'response.id-renewed': response('messages')(
    blocks.response([{ type: 'text', text: 'yes' }]),
    { renewId: true, newId: prefix => `${prefix}new` },
    ['response.created'],
  ),
  'max-tokens.lowered': makers('messages').request('chat-completions')(
    { model: 'claude-haiku-4-5', max_completion_tokens: 100_000, messages: [user] },
    {},
  ),
  'reasoning.budget-lowered': makers('generate-content').request('generate-content')(
    {
      model: 'gemini-2.5-pro',
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { thinkingConfig: { thinkingBudget: 50_000 } },
    },
    { vendor: 'gemini' },
  ),
  'model.unsupported': makers('chat-completions').request('chat-completions')(
    { model: 'm', messages: [user], logit_bias: { '1': 1 } },
    { vendor: 'groq' },
  ),
  'tool-call.empty-name': itemsResponse('chat-completions')(
    chat.response(
      { tool_calls: [chat.call('c1', '{}', '')] },
      { finish_reason: 'tool_calls' },
      { created: 1 },
    ),
    {},
    [],
    {
      shows: { source: '/choices/0/message/tool_calls/0/function/name', target: '/output/0/name' },
    },
  ),
}
