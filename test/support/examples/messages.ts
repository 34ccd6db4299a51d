import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { type Example, makers } from './example.ts'
import { blocks, canonical, chat, gemini, items, png, seal, user } from './wires.ts'

const { request, response, stream, error } = makers('messages')
const fromChat = request('chat-completions')
const fromItems = request('responses')
const chatResponse = response('chat-completions')
const itemsResponse = response('responses')
const chatStream = stream('chat-completions')
const lost = makers('chat-completions')
const think = { model: 'claude-sonnet-4-5', messages: [], maxOutputTokens: 5000 }

const assistant = { role: 'assistant', content: 'yes' }
const called = (...ids: string[]) => ({
  role: 'assistant',
  tool_calls: ids.map(id => chat.call(id, '{}')),
})
const long = '{"id":1234567890123456789}'
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'done' })
const older = { model: 'claude-sonnet-4-5', max_completion_tokens: 2000 }
const cited = {
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://example.org' },
}
const marked = (text: string, ttl?: string) => ({
  type: 'text',
  text,
  prompt_cache_breakpoint: { mode: 'explicit', ...(ttl && { ttl }) },
})
const signedThought = {
  type: 'reasoning.encrypted',
  data: wrapSignature({ signature: { value: seal, issuer: 'messages' } }),
}
const speaks = {
  ...chat.request({
    messages: [
      user,
      {
        role: 'user',
        content: [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
      },
    ],
  }),
}
const done = chat.chunk(
  {},
  { finish_reason: 'stop' },
  { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
)

/** One for each note that the codecs of messages make. */
export const examples: Record<string, Example> = {
  'usage.merged': makers('messages').response('generate-content')(
    gemini.response([{ text: 'yes' }], {
      usageMetadata: {
        promptTokenCount: 5,
        toolUsePromptTokenCount: 2,
        candidatesTokenCount: 2,
        totalTokenCount: 9,
      },
    }),
    {},
    ['field.unsupported'],
  ),
  'tool-result.error-flag': request('generate-content')(gemini.brokenWithImage()),
  'system.billing-line': lost.request('messages')(
    blocks.request({ system: 'x-anthropic-billing-header: cch=71fea;\nBe terse.' }),
    {
      messages: { billingLine: 'drop' },
    },
  ),
  'message.trailing-user': fromChat({ ...chat.says(user, assistant), model: 'claude-opus-4-6' }),
  'text.trimmed': fromChat(chat.says(user, { role: 'assistant', content: 'yes ' })),
  'message.leading-user': fromChat(chat.says(assistant, user), {
    messages: { leadingUser: 'synthesize' },
  }),
  'text.blank': fromChat(chat.says(user, { role: 'user', content: ' ' })),
  'refusal.as-text': fromChat(chat.says(user, { role: 'assistant', refusal: 'no' })),
  'media.unsupported': fromChat(speaks),
  'media.converted': fromChat(
    chat.says({
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/bmp;base64,Qk0=' } }],
    }),
    {
      messages: { convertMedia: () => ({ mime: 'image/png', data: png }) },
    },
  ),
  'media.mime': request('canonical')(
    canonical.request([
      { type: 'media', kind: 'document', source: { type: 'base64', data: 'JVBERi0=' } },
    ]),
  ),
  'media.transcript': chatResponse(
    chat.response({ audio: { id: 'a1', data: 'UklGRg==', transcript: 'hello', expires_at: 9 } }),
  ),
  'media.file-as-document': fromChat(
    chat.says({
      role: 'user',
      content: [{ type: 'file', file: { file_data: 'data:text/csv;base64,YSxi' } }],
    }),
  ),
  'media.detail-dropped': fromChat(
    chat.says({
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'high' } },
      ],
    }),
  ),
  'media.filename-as-title': fromChat(
    chat.says({
      role: 'user',
      content: [
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
        },
      ],
    }),
  ),
  'citation.foreign': fromChat(chat.says(user, { ...assistant, annotations: [cited] })),
  'citation.span': chatResponse(
    chat.response({
      content: 'yes',
      annotations: [{ ...cited, url_citation: { ...cited.url_citation, start_index: 1 } }],
    }),
    {},
    ['citation.encrypted-index'],
  ),
  'citation.encrypted-index': chatResponse(chat.response({ content: 'y', annotations: [cited] })),
  'reasoning.foreign-signature': fromItems(
    items.says(
      user,
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: seal },
      items.text('yes'),
      user,
    ),
  ),
  'reasoning.unsigned': fromChat(chat.says(user, { ...assistant, reasoning_content: 'hm' })),
  'reasoning.signature-empty': chatResponse(
    chat.response({ content: 'yes', reasoning_content: 'hm' }),
  ),
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
    {},
    ['reasoning.signature-empty'],
  ),
  'reasoning.disabled-unsigned-loop': fromChat(
    chat.request({
      ...older,
      reasoning_effort: 'low',
      messages: [user, called('c1'), result('c1')],
    }),
  ),
  'reasoning.forced-tool': fromChat(
    chat.request({ reasoning_effort: 'low', tools: [chat.tool('look')], tool_choice: 'required' }),
  ),
  'reasoning.off': request('generate-content')({
    ...gemini.request({
      generationConfig: {
        maxOutputTokens: 50,
        thinkingConfig: { thinkingBudget: 0, thinkingLevel: 'LOW' },
      },
    }),
    model: 'claude-sonnet-4-5',
  }),
  'reasoning.effort': fromChat(chat.request({ reasoning_effort: 'minimal' })),
  'reasoning.effort-as-budget': fromChat(
    chat.request({ ...older, max_completion_tokens: 4000, reasoning_effort: 'low' }),
  ),
  'reasoning.no-room': fromChat(
    chat.request({ ...older, max_completion_tokens: 500, reasoning_effort: 'low' }),
  ),
  'reasoning.always-on': fromChat(
    chat.request({ model: 'claude-mythos-5', reasoning_effort: 'none' }),
  ),
  'tool-choice.not-forced': fromChat(
    chat.request({ model: 'claude-fable-5', tools: [chat.tool('look')], tool_choice: 'required' }),
  ),
  'reasoning.summary': fromItems(
    items.request({ reasoning: { effort: 'low', summary: 'detailed' } }),
  ),
  'tool-call.number': fromChat(
    chat.says(user, { role: 'assistant', tool_calls: [chat.call('c1', long)] }, result('c1')),
  ),
  'tool-call.cut': chatResponse(
    chat.response({ tool_calls: [chat.call('c1', '{"city":"Par')] }, { finish_reason: 'length' }),
  ),
  'tool-call.input': fromChat(
    chat.says(user, { role: 'assistant', tool_calls: [chat.call('c1', '[1]')] }, result('c1')),
  ),
  'tool.server': fromItems(items.request({ tools: [items.tool('look'), { type: 'web_search' }] })),
  'tool.loaded': fromItems(
    items.request({
      tools: [items.tool('look', { defer_loading: true }), { type: 'tool_search' }],
    }),
    {},
    ['tool.server'],
  ),
  'tool.server-mapped': fromItems(items.request({ tools: [{ type: 'web_search' }] }), {
    tools: { serverTools: 'map' },
  }),
  'tool.max-uses': fromItems(
    items.request({ tools: [{ type: 'web_search' }], max_tool_calls: 3 }),
    { tools: { serverTools: 'map' } },
    ['tool.server-mapped'],
  ),
  'server-tool.dropped': fromItems(
    items.says(user, {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'q' },
    }),
  ),
  'server-tool.search': itemsResponse(
    items.response([
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q' },
      },
    ]),
  ),
  'tool.no-approval': fromItems(
    items.request({
      tools: [{ type: 'mcp', server_label: 'docs', server_url: 'https://example.org/mcp' }],
    }),
    { tools: { serverTools: 'map' } },
    ['tool.server-mapped'],
  ),
  'tool-choice.subset-filtered': fromChat(
    chat.request({
      tools: [chat.tool('a'), chat.tool('b')],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'a' } }] },
      },
    }),
  ),
  'tool-choice.subset-not-enforced': fromChat(
    chat.request({
      messages: [user, { ...assistant, reasoning_details: [signedThought] }, user],
      tools: [chat.tool('a'), chat.tool('b')],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'a' } }] },
      },
    }),
  ),
  'tool-choice.without-tools': fromItems(items.request({ tool_choice: 'required' })),
  'output.enum': makers('messages').request('generate-content')(gemini.oneWord(), {}, [], {
    shows: { target: '/output_config/format' },
  }),
  'output.strict': fromChat(
    chat.request({
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'result',
          schema: { type: 'object', additionalProperties: false },
          strict: false,
        },
      },
    }),
  ),
  'schema.keywords': fromChat(
    chat.request({
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
  ),
  'tool.strict': request('responses')(
    items.request({
      tools: [
        {
          type: 'function',
          name: 'look',
          parameters: {
            type: 'object',
            properties: { a: { type: 'integer', minimum: 1 } },
            required: ['a'],
            additionalProperties: false,
          },
        },
      ],
    }),
  ),
  'output.closed': fromChat(
    chat.request({
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'result',
          schema: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
    }),
  ),
  'output.json-instructed': fromChat(chat.request({ response_format: { type: 'json_object' } }), {
    messages: { jsonMode: 'instruct' },
  }),
  'sampling.temperature-clamped': fromChat(chat.request({ temperature: 1.5 })),
  'sampling.with-thinking': fromChat(chat.request({ temperature: 0.5, reasoning_effort: 'low' })),
  'sampling.model': fromChat(chat.request({ model: 'claude-sonnet-5', temperature: 0.5 })),
  'max-tokens.default': fromChat({ model: 'm', messages: [user] }),
  'cache.ttl': fromChat(chat.says({ role: 'user', content: [marked('long', '12h')] })),
  'cache.ttl-order': fromChat(
    chat.says({ role: 'user', content: [marked('a'), marked('b', '1h')] }),
  ),
  'cache.too-many': fromChat(
    chat.says({ role: 'user', content: ['a', 'b', 'c', 'd', 'e'].map(text => marked(text)) }),
  ),
  'cache.unsupported': chatResponse(
    chat.response({
      content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }],
    }),
  ),
  'cache.auto': fromChat(chat.request({}), { messages: { autoCache: true } }),
  'tier.nearest': fromChat(chat.request({ service_tier: 'priority' })),
  'user.hashed': fromChat(chat.request({ user: 'u'.repeat(513) })),
  'finish.approximated': chatResponse(
    chat.response({ content: 'y' }, { finish_reason: 'content_filter' }),
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
  'finish.refusal': chatResponse(chat.response({ refusal: 'no' }), {}, ['refusal.as-text']),
  'response.id': chatResponse(chat.response({ content: 'yes' }, {}, { id: undefined })),
  'response.model': chatResponse(chat.response({ content: 'yes' }, {}, { model: undefined })),
  'usage.missing': chatResponse(chat.response({ content: 'yes' }, {}, { usage: undefined })),
  'usage.late': chatStream([chat.chunk({ content: 'yes' }), done]),
  'tool-call.input-text': lost.request('messages')(
    blocks.request({
      messages: [
        user,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: '{"q":"x"}' }],
        },
      ],
    }),
    { tools: { repair: 'keep' } },
  ),
  'reasoning.signature-orphaned': lost.request('messages')(
    blocks.says(
      user,
      {
        role: 'assistant',
        content: [
          {
            type: 'redacted_thinking',
            data: wrapSignature({ signature: { value: seal, issuer: 'messages' }, attach: 'next' }),
          },
        ],
      },
      user,
    ),
  ),
  'reasoning.trailing-signature': response('generate-content')(
    gemini.response([{ text: 'yes' }, { text: '', thoughtSignature: seal }]),
    { messages: { lastSignature: 'drop' } },
    ['field.unsupported'],
  ),
  'reasoning.other-model': request('canonical')({
    ...canonical.request([{ type: 'text', text: 'hi' }], { model: 'claude-sonnet-5' }),
    messages: [
      {
        role: 'assistant',
        origin: 'message',
        parts: [
          {
            type: 'reasoning',
            segments: [{ kind: 'summary', text: 'hm' }],
            signature: { value: seal, issuer: 'messages', model: 'claude-opus-4-8' },
            at: '/messages/0/parts/0',
          },
        ],
      },
      {
        role: 'user',
        origin: 'message',
        parts: [{ type: 'text', text: 'continue', at: '/messages/1/parts/0' }],
      },
    ],
  }),
  'reasoning.dropped-upstream': lost.response('messages')(
    blocks.response([{ type: 'text', text: 'yes' }], {
      input_transformations: [{ type: 'thinking_dropped' }],
    }),
    {},
    ['response.created'],
  ),
  'reasoning.prefix-mismatch': lost.response('messages')(
    blocks.response([{ type: 'text', text: 'yes' }], {
      input_transformations: [{ type: 'thinking_kept' }],
    }),
    {},
    ['response.created'],
  ),
  'tool-choice.not-allowed': lost.response('messages')(
    blocks.response([blocks.call('c1')], { stop_reason: 'tool_use' }),
    {
      context: {
        from: 'chat-completions',
        to: 'messages',
        request: {
          messages: [],
          toolChoice: {
            mode: 'allowed',
            require: false,
            tools: [{ kind: 'function', name: 'other' }],
          },
        },
      },
    },
    ['response.created'],
  ),
  'stop.blank': fromChat(chat.request({ stop: ['END', ' '] })),
  'reasoning.budget-as-effort': request('canonical')({
    ...think,
    model: 'm',
    reasoning: { budgetTokens: 4000 },
  }),
  'reasoning.budget-raised': request('canonical')({ ...think, reasoning: { budgetTokens: 500 } }),
  'reasoning.budget-room': request('canonical')({ ...think, reasoning: { budgetTokens: 6000 } }),
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
  'stream.stray-delta': lost.stream('messages')(
    blocks.stream(
      blocks.block(
        0,
        { type: 'text', text: 'yes' },
        { type: 'input_json_delta', partial_json: '{' },
      ),
    ),
    {},
    ['response.created'],
  ),
  'stream.repeated-start': lost.stream('messages')(
    blocks.stream([
      { type: 'message_start', message: blocks.response([]) },
      ...blocks.block(0, { type: 'text', text: 'yes' }),
    ]),
    {},
    ['response.created'],
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
  'stream.trailing-arguments': chatStream(
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
    ['usage.late'],
    { shows: { source: '/1/choices/0/delta/tool_calls/0/function/arguments' } },
  ),
  'finish.truncated-as-length': chatStream(
    [chat.chunk({ content: 'ye' })],
    { truncated: 'length' },
    ['usage.late', 'usage.missing'],
  ),
  'reasoning.no-effort': request('messages')(
    { ...blocks.request({ output_config: { effort: 'low' } }), model: 'claude-sonnet-4-5' },
    { vendor: 'anthropic' },
  ),
}
