import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { type Example, makers } from './example.ts'
import { blocks, canonical, chat, gemini, items, png, seal, user } from './wires.ts'

const { request, error, ...named } = makers('converse')
/** Responses of all other protocols have an id and a model. */
const unnamed =
  (maker: typeof named.response): typeof maker =>
  from =>
  (body, options, also = [], more) =>
    maker(from)(body, options, [...also, 'response.unnamed'], more)
const response = unnamed(named.response)
const stream = unnamed(named.stream)
const fromChat = request('chat-completions')
const fromItems = request('responses')
const chatResponse = response('chat-completions')
const itemsResponse = response('responses')
const lost = makers('chat-completions')

const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const adaptive = 'anthropic.claude-opus-4-6-v1'
const llama = 'meta.llama3-3-70b-instruct-v1:0'
const gptOss = 'openai.gpt-oss-120b-1:0'
const path = (model: string) => `/model/${encodeURIComponent(model)}/converse`

const assistant = { role: 'assistant', content: 'yes' }
const called = (...ids: string[]) => ({
  role: 'assistant',
  tool_calls: ids.map(id => chat.call(id, '{}')),
})
const result = (id: string, content: unknown = 'done') => ({
  role: 'tool',
  tool_call_id: id,
  content,
})
const file = (filename: string) => ({
  type: 'file',
  file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename },
})
const cited = {
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://example.org' },
}
const marked = (text: string, ttl?: string) => ({
  type: 'text',
  text,
  prompt_cache_breakpoint: { mode: 'explicit', ...(ttl && { ttl }) },
})
const think = { model: claude, maxOutputTokens: 5000 }
const subset = {
  tools: [chat.tool('a'), chat.tool('b')],
  tool_choice: {
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'a' } }] },
  },
}
const schema = (body: object, more: object = {}) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'result', schema: body, ...more } },
})
const events = (...inside: object[]) => [
  { messageStart: { role: 'assistant' } },
  ...inside,
  { messageStop: { stopReason: 'end_turn' } },
  {
    metadata: {
      usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
      metrics: { latencyMs: 0 },
    },
  },
]
const says = { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'yes' } } }
const made = ['response.created', 'response.id', 'response.model']

/** One for each note that the codecs of converse make. */
export const examples: Record<string, Example> = {
  'schema.keywords': fromChat({
    ...chat.request({
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'result',
          schema: {
            type: 'object',
            properties: { a: { type: 'integer', minimum: 1 } },
            additionalProperties: false,
          },
        },
      },
    }),
    model: claude,
  }),
  'tool-result.error-flag': request('generate-content')(gemini.brokenWithImage(claude), {}, [
    'tool.from-history',
  ]),
  'message.leading-user': fromChat({ ...chat.says(assistant, user), model: llama }),
  'message.separator': fromChat({
    ...chat.says(user, called('c1'), result('c1'), user),
    model: llama,
    tools: [chat.tool('look')],
  }),
  'text.blank': fromChat(chat.says(user, { role: 'user', content: ' ' })),
  'text.trimmed': fromChat(chat.says(user, { role: 'assistant', content: 'yes ' })),
  'refusal.as-text': fromChat(chat.says(user, { role: 'assistant', refusal: 'no' })),
  'media.unsupported': fromChat(
    chat.says({
      role: 'user',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
      ],
    }),
    {
      onUnresolvable: 'note',
    },
  ),
  'media.converted': fromChat(
    chat.says({
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/bmp;base64,Qk0=' } }],
    }),
    {
      converse: { convertMedia: () => ({ mime: 'image/png', data: png }) },
    },
  ),
  'media.transcript': chatResponse(
    chat.response({ audio: { id: 'a1', data: 'UklGRg==', transcript: 'hello', expires_at: 9 } }),
  ),
  'media.file-as-document': fromChat(
    chat.says({
      role: 'user',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'file', file: { file_data: 'data:text/x-python;base64,YSxi' } },
      ],
    }),
  ),
  'media.detail-dropped': fromChat(
    chat.says({
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'high' } },
      ],
    }),
  ),
  'media.filename-as-title': fromChat(
    chat.says({ role: 'user', content: [{ type: 'text', text: 'hi' }, file('a.pdf')] }),
  ),
  'media.document-name': fromChat(
    chat.says({ role: 'user', content: [{ type: 'text', text: 'hi' }, file('a_b!.pdf')] }),
  ),
  'media.document-text': fromChat(
    chat.says({
      role: 'user',
      content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }],
    }),
  ),
  'citation.approximated': response('messages')(
    blocks.response([
      {
        type: 'text',
        text: 'yes',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://example.org',
            title: 't',
            cited_text: 'y',
            encrypted_index: 'e',
          },
        ],
      },
    ]),
  ),
  'citation.foreign': fromChat(chat.says(user, { ...assistant, annotations: [cited] })),
  'citation.span': stream('chat-completions')([
    chat.chunk({ content: 'yes' }),
    chat.chunk({ annotations: [cited] }),
    chat.chunk(
      {},
      { finish_reason: 'stop' },
      { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
    ),
  ]),
  'reasoning.foreign-signature': fromItems(
    items.says(
      user,
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: seal },
      items.text('yes'),
    ),
  ),
  'reasoning.unsigned': fromChat({
    ...chat.says(user, { ...assistant, reasoning_content: 'hm' }),
    model: claude,
  }),
  'reasoning.joined': itemsResponse(
    items.response([
      {
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: 'hm' },
          { type: 'summary_text', text: 'so' },
        ],
      },
      items.text('yes'),
    ]),
  ),
  'reasoning.signature-orphaned': lost.request('converse')(
    {
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            {
              reasoningContent: {
                redactedContent: btoa(
                  wrapSignature({ signature: { value: seal, issuer: 'messages' }, attach: 'next' }),
                ),
              },
            },
          ],
        },
        { role: 'user', content: [{ text: 'hi' }] },
      ],
    },
    { path: path(claude) },
  ),
  'reasoning.other-model': request('canonical')({
    ...canonical.request([{ type: 'text', text: 'hi' }], { model: 'anthropic.claude-sonnet-5' }),
    messages: [
      { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        origin: 'message',
        parts: [
          {
            type: 'reasoning',
            segments: [{ kind: 'summary', text: 'hm' }],
            signature: { value: seal, issuer: 'messages', model: 'claude-opus-4-8' },
            at: '/messages/1/parts/0',
          },
        ],
      },
      {
        role: 'user',
        origin: 'message',
        parts: [{ type: 'text', text: 'next', at: '/messages/1/parts/0' }],
      },
    ],
  }),
  'reasoning.effort': fromChat(chat.request({ model: gptOss, reasoning_effort: 'minimal' })),
  'reasoning.no-effort': fromChat(chat.request({ model: llama, reasoning_effort: 'low' })),
  'reasoning.off': request('generate-content')({
    ...gemini.request({
      generationConfig: {
        maxOutputTokens: 50,
        thinkingConfig: { thinkingBudget: 0, thinkingLevel: 'LOW' },
      },
    }),
    model: claude,
  }),
  'reasoning.disabled-unsigned-loop': fromChat({
    model: claude,
    max_completion_tokens: 4000,
    messages: [user, called('c1'), result('c1')],
    tools: [chat.tool('look')],
    reasoning_effort: 'low',
  }),
  'reasoning.effort-as-budget': fromChat({
    model: claude,
    max_completion_tokens: 4000,
    messages: [user],
    reasoning_effort: 'low',
  }),
  'reasoning.budget-as-effort': request('canonical')({
    ...canonical.request([{ type: 'text', text: 'hi' }]),
    ...think,
    model: adaptive,
    reasoning: { budgetTokens: 4000 },
  }),
  'reasoning.budget-raised': request('canonical')({
    ...canonical.request([{ type: 'text', text: 'hi' }]),
    ...think,
    reasoning: { budgetTokens: 500 },
  }),
  'reasoning.budget-room': request('canonical')({
    ...canonical.request([{ type: 'text', text: 'hi' }]),
    ...think,
    reasoning: { budgetTokens: 6000 },
  }),
  'reasoning.mode-as-effort': request('messages')(
    { ...blocks.request({ thinking: { type: 'between_tools' } }), model: gptOss },
    {},
    ['reasoning.effort'],
  ),
  'reasoning.always-on': fromChat(
    chat.request({ model: 'anthropic.claude-mythos-5', reasoning_effort: 'none' }),
  ),
  'reasoning.summary': fromItems(
    items.request({ model: adaptive, reasoning: { effort: 'low', summary: 'detailed' } }),
  ),
  'tool-call.number': fromChat({
    ...chat.says(
      user,
      { role: 'assistant', tool_calls: [chat.call('c1', '{"id":1234567890123456789}')] },
      result('c1'),
    ),
    tools: [chat.tool('look')],
  }),
  'tool-call.cut': chatResponse(
    chat.response({ tool_calls: [chat.call('c1', '{"city":"Par')] }, { finish_reason: 'length' }),
  ),
  'tool-call.input': fromChat({
    ...chat.says(user, { role: 'assistant', tool_calls: [chat.call('c1', '[1]')] }, result('c1')),
    tools: [chat.tool('look')],
  }),
  'tool-call.input-text': lost.request('converse')(
    {
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'c1', name: 'look', input: '{"q":"x"}' } }],
        },
      ],
    },
    { tools: { repair: 'keep' } },
  ),
  'tool-result.empty': request('messages')(
    blocks.request({
      tools: [blocks.tool('look')],
      messages: [
        user,
        { role: 'assistant', content: [blocks.call('c1')] },
        { role: 'user', content: [blocks.result('c1', [], { is_error: true })] },
      ],
    }),
  ),
  'tool.loaded': fromItems(
    items.request({
      tools: [items.tool('look', { defer_loading: true }), { type: 'tool_search' }],
    }),
    {},
    ['tool.server'],
  ),
  'tool.strict': fromChat(
    chat.request({
      model: 'anthropic.claude-opus-5',
      tools: [
        {
          type: 'function',
          function: {
            name: 'look',
            parameters: { type: 'object', properties: {}, additionalProperties: false },
            strict: true,
          },
        },
      ],
    }),
  ),
  'tool.expanded': request('messages')(
    blocks.request({ model: llama, tools: [{ type: 'bash_20250124', name: 'bash' }] }),
    {
      tools: { expandClientTools: true },
    },
  ),
  'tool.server': fromItems(items.request({ tools: [items.tool('look'), { type: 'web_search' }] })),
  'tool.server-mapped': fromItems(
    items.request({ model: 'amazon.nova-2-lite-v1:0', tools: [{ type: 'web_search' }] }),
    { tools: { serverTools: 'map' } },
  ),
  'tool.from-history': fromChat(chat.says(user, called('c1'), result('c1'))),
  'cache.auto': request('chat-completions')(chat.request({ model: claude }), {
    converse: { autoCache: true },
  }),
  'server-tool.image-only': response('responses')(
    items.response([
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' },
    ]),
  ),
  'server-tool.dropped': fromItems(
    items.says(user, {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'q' },
    }),
  ),
  'tool-choice.subset-filtered': fromChat(chat.request(subset)),
  'tool-choice.not-forced': fromChat(
    chat.request({ model: llama, tools: [chat.tool('look')], tool_choice: 'required' }),
  ),
  'tool-choice.none': fromChat(chat.request({ tools: [chat.tool('look')], tool_choice: 'none' })),
  'tool-choice.none-not-enforced': fromChat({
    ...chat.says(user, called('c1'), result('c1')),
    tools: [chat.tool('look')],
    tool_choice: 'none',
  }),
  'tool-choice.without-tools': fromItems(items.request({ tool_choice: 'required' })),
  'output.enum': request('generate-content')(gemini.oneWord(), {}, [], {
    shows: { target: '/outputConfig/textFormat' },
  }),
  'output.strict': fromChat(
    chat.request(schema({ type: 'object', additionalProperties: false }, { strict: false })),
  ),
  'output.closed': fromChat(
    chat.request(schema({ type: 'object', properties: { a: { type: 'string' } } })),
  ),
  'output.format-instructed': fromChat(chat.request(schema({ type: 'object' }))),
  'output.wrapped': fromChat(
    chat.request(schema({ type: 'array', items: { type: 'string' } }, { strict: true })),
  ),
  'output.json-instructed': fromChat(chat.request({ response_format: { type: 'json_object' } }), {
    converse: { jsonMode: 'instruct' },
  }),
  'stop.blank': fromChat(chat.request({ stop: ['END', ''] })),
  'sampling.temperature-clamped': fromChat(chat.request({ temperature: 1.5 })),
  'sampling.with-thinking': fromChat(
    chat.request({ model: adaptive, temperature: 0.5, reasoning_effort: 'low' }),
  ),
  'sampling.model': fromChat(
    chat.request({ model: 'anthropic.claude-sonnet-5', temperature: 0.5 }),
  ),
  'cache.ttl': fromChat({
    ...chat.says({ role: 'user', content: [marked('long', '12h')] }),
    model: claude,
  }),
  'cache.ttl-order': fromChat({
    ...chat.says({ role: 'user', content: [marked('a'), marked('b', '1h')] }),
    model: claude,
  }),
  'cache.too-many': fromChat({
    ...chat.says({ role: 'user', content: ['a', 'b', 'c', 'd', 'e'].map(text => marked(text)) }),
    model: claude,
  }),
  'cache.unsupported': fromChat({
    ...chat.says({ role: 'user', content: [marked('a')] }),
    model: llama,
  }),
  'tier.nearest': fromChat(chat.request({ service_tier: 'fast' })),
  'tier.unsupported': fromChat(chat.request({ service_tier: 'scale' })),
  'finish.approximated': response('messages')(
    blocks.response([{ type: 'text', text: 'yes' }], { stop_reason: 'pause_turn' }),
  ),
  'finish.tool-use': response('canonical')(
    canonical.response([
      { type: 'tool-call', id: 'c1', kind: 'function', name: 'look', input: '{}' },
    ]),
  ),
  'stop.no-call': itemsResponse(
    items.response([
      {
        type: 'mcp_approval_request',
        id: 'mcpr_1',
        server_label: 's',
        name: 'look',
        arguments: '{}',
      },
    ]),
    {},
    ['server-tool.dropped'],
  ),
  'usage.missing': chatResponse(chat.response({ content: 'yes' }, {}, { usage: undefined })),
  'usage.merged': chatResponse(
    chat.response(
      { content: 'yes' },
      {},
      {
        usage: {
          prompt_tokens: 5,
          completion_tokens: 2,
          total_tokens: 7,
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      },
    ),
  ),
  'usage.overlap': chatResponse(
    chat.response(
      { content: 'yes' },
      {},
      {
        usage: {
          prompt_tokens: 5,
          completion_tokens: 2,
          total_tokens: 7,
          prompt_tokens_details: { cached_tokens: 9 },
        },
      },
    ),
  ),
  'usage.ttl': itemsResponse(
    items.response([items.text('yes')], {
      usage: {
        input_tokens: 5,
        output_tokens: 2,
        total_tokens: 7,
        input_tokens_details: {
          cache_write_tokens: 4,
          cache_write_tokens_details: { ttl_30m_tokens: 4 },
        },
      },
    }),
  ),
  'error.reworded': error('chat-completions')(
    {
      status: 400,
      headers: {},
      body: {
        error: {
          message: 'Your input is larger than the window.',
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
          param: null,
        },
      },
    },
    {},
    ['field.unsupported'],
  ),
  'stream.trailing-arguments': stream('chat-completions')(
    [
      chat.chunk({ tool_calls: [{ index: 0, ...chat.call('c1', '{"a":1}') }] }),
      chat.chunk({ tool_calls: [{ index: 0, function: { arguments: ' so' } }] }),
      chat.chunk(
        {},
        { finish_reason: 'tool_calls' },
        { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
      ),
    ],
    {},
    [],
    { shows: { source: '/1/choices/0/delta/tool_calls/0/function/arguments' } },
  ),
  'stream.stray-delta': lost.stream('converse')(
    events(
      says,
      { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{' } } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
    ),
    {},
    made,
  ),
  'stream.repeated-start': lost.stream('converse')(
    events({ messageStart: { role: 'assistant' } }, says, {
      contentBlockStop: { contentBlockIndex: 0 },
    }),
    {},
    made,
  ),
  'response.unnamed': { ...chatResponse(chat.response({ content: 'yes' })), also: [] },
  'finish.truncated-as-length': stream('chat-completions')(
    [chat.chunk({ content: 'ye' })],
    { truncated: 'length' },
    ['usage.missing'],
  ),
}
