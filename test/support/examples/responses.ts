import { translateRequest } from '../../../src/api.ts'
import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { type Example, makers } from './example.ts'
import { blocks, canonical, chat, gemini, items, parameters, png, seal, user } from './wires.ts'

const { request, response } = makers('responses')
const fromChat = request('chat-completions')
const fromBlocks = request('messages')
const chatResponse = response('chat-completions')
const blocksResponse = response('messages')
const elsewhere = makers('messages')

/** Others store responses only on request. */
const stateless = ['store.default', 'reasoning.include-encrypted']
/** Responses of messages have no time. */
const timeless = ['response.created']
const text = { type: 'text', text: 'yes' }
const encrypted = {
  type: 'reasoning.encrypted',
  data: wrapSignature({ signature: { value: seal, issuer: 'responses' } }),
  format: 'xs1',
  index: 0,
}
const thought = { type: 'thinking', thinking: 'hm', signature: seal }
const owned = (value: string, thinking = '') => ({
  type: 'thinking',
  thinking,
  signature: wrapSignature({ signature: { value, issuer: 'responses' }, id: 'rs_1' }),
})
const asks = (...parts: object[]) => [user, { role: 'assistant', content: parts }]
const responses = (...parts: object[]) => ({ role: 'user', content: parts })
const says = (...content: object[]) => blocks.says({ role: 'user', content })
const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
const chatAsks = (body: object) => chat.request({ store: true, ...body })
const chatSays = (...messages: object[]) => chat.request({ store: true, messages })
const timed = (message: object, choice: object = {}, body: object = {}) =>
  chat.response(message, choice, { created: 1, ...body })
const location = {
  type: 'char_location',
  cited_text: 'a',
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 1,
}

/** One for each note that the codecs of responses make. */
export const examples: Record<string, Example> = {
  'usage.merged': makers('responses').response('generate-content')(
    gemini.response([{ text: 'yes' }], {
      usageMetadata: {
        promptTokenCount: 5,
        toolUsePromptTokenCount: 2,
        candidatesTokenCount: 2,
        totalTokenCount: 9,
      },
    }),
    {},
    [],
  ),
  'store.default': fromChat(chat.request({}), {}, ['reasoning.include-encrypted']),
  'reasoning.dropped-upstream': makers('chat-completions').response('responses')(
    items.response([items.text('yes')], {
      created_at: 1,
      input_transformations: [
        { id: 'rs_1', type: 'reasoning', action: 'removed', reason: 'model_mismatch' },
      ],
    }),
  ),
  'reasoning.older-summary': elsewhere.request('responses')(
    items.request({ reasoning: { effort: 'low', generate_summary: 'auto' } }),
    {},
    ['reasoning.summary'],
  ),
  'reasoning.include-encrypted': fromChat(chatAsks({ store: false })),
  'reasoning.foreign-signature': fromBlocks(blocks.says(...asks(thought, text)), {}, stateless),
  'reasoning.loose': fromChat(
    chatSays(user, { role: 'assistant', content: '', reasoning_details: [encrypted] }, user),
  ),
  'reasoning.repeated': fromBlocks(
    blocks.says(...asks(owned(seal), text, owned(seal, 'hm'), text)),
    {},
    stateless,
  ),
  'reasoning.id-twice': fromBlocks(
    blocks.says(...asks(owned(seal), text, owned(`${seal}x`), text)),
    {},
    stateless,
    { shows: { target: '/input/3' } },
  ),
  'reasoning.kind': chatResponse(timed({ content: 'yes', reasoning_content: 'hm' }), {
    responses: { rawReasoning: 'summary' },
  }),
  'reasoning.unsigned': fromChat(
    chatSays(user, { role: 'assistant', content: 'yes', reasoning_content: 'hm' }),
  ),
  'reasoning.signature-orphaned': elsewhere.request('responses')(
    items.says(user, {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: wrapSignature({
        signature: { value: seal, issuer: 'responses' },
        attach: 'next',
      }),
    }),
  ),
  'reasoning.budget-as-effort': fromBlocks(
    blocks.request({
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
    }),
    {},
    stateless,
  ),
  'reasoning.off': fromBlocks(
    blocks.request({ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }),
    {},
    stateless,
  ),
  'reasoning.mode-as-effort': fromBlocks(
    blocks.request({ thinking: { type: 'between_tools' } }),
    {},
    stateless,
  ),
  'reasoning.shown': fromBlocks(
    blocks.request({ thinking: { type: 'enabled', budget_tokens: 2048 } }),
    {},
    ['reasoning.budget-as-effort', ...stateless],
  ),
  'reasoning.display-as-summary': fromBlocks(
    blocks.request({ thinking: { type: 'adaptive', display: 'summarized' } }),
    {},
    stateless,
  ),
  'signature.unplaced': request('canonical')(
    canonical.request([
      {
        type: 'media',
        kind: 'image',
        source: { type: 'url', url: 'https://example.org/a.png' },
        signature: { value: seal, issuer: 'generate-content' },
        at: '/messages/0/parts/0',
      },
    ]),
    {},
    stateless,
  ),
  'tool.server': fromBlocks(
    blocks.request({
      tools: [blocks.tool('look'), { type: 'web_search_20250305', name: 'web_search' }],
    }),
    {},
    stateless,
  ),
  'tool.loaded': fromBlocks(
    blocks.request({
      tools: [
        blocks.tool('look', { defer_loading: true }),
        { type: 'tool_search_tool_bm25', name: 'tool_search_tool_bm25' },
      ],
    }),
    {},
    [...stateless, 'tool.server'],
  ),
  'tool.server-mapped': fromBlocks(
    blocks.request({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
    { tools: { serverTools: 'map' } },
    stateless,
  ),
  'tool.expanded': fromBlocks(
    blocks.request({
      tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }],
    }),
    { tools: { expandClientTools: true } },
    stateless,
  ),
  'client-call.as-function': blocksResponse(
    blocks.response(
      [{ type: 'tool_use', id: 'toolu_1', name: 'local_shell', input: { cmd: 'ls' } }],
      { stop_reason: 'tool_use' },
    ),
    {
      context: translateRequest(items.request({ tools: [{ type: 'local_shell' }] }), {
        from: 'responses',
        to: 'messages',
        tools: { expandClientTools: true },
      }).context,
    },
    timeless,
  ),
  'tool.callers': fromBlocks(
    blocks.request({
      tools: [blocks.tool('look', { allowed_callers: ['direct', 'code_execution_20250825'] })],
    }),
    {},
    stateless,
  ),
  'tool.addition': fromBlocks(
    blocks.says(user, {
      role: 'system',
      content: [{ type: 'tool_addition', tool: blocks.tool('look') }],
    }),
    {},
    stateless,
  ),
  'tool.annotation': elsewhere.request('responses')(
    items.request({
      tools: [
        {
          type: 'function',
          name: 'look',
          strict: false,
          parameters: { ...parameters, properties: { a: { type: 'string', encrypted: true } } },
        },
      ],
    }),
    {},
    [],
    { unreported: true },
  ),
  'tool.schema-normalized': elsewhere.request('responses')(
    items.request({ tools: [{ type: 'function', name: 'look', parameters }] }),
    {},
    [],
    {
      unreported: true,
    },
  ),
  'tool.namespace-description': request('canonical')(
    canonical.request([{ type: 'text', text: 'hi' }], {
      tools: [{ type: 'function', name: 'find', namespace: 'n', parameters, strict: false }],
    }),
    {},
    stateless,
  ),
  'tool-choice.unsupported': fromBlocks(
    blocks.request({ tools: [blocks.tool('look')], tool_choice: { type: 'novel' } }),
    {},
    stateless,
  ),
  'tool-choice.without-tools': fromBlocks(
    blocks.request({ tool_choice: { type: 'any' } }),
    {},
    stateless,
  ),
  'tool-result.error-flag': fromBlocks(
    blocks.says(
      ...asks(blocks.call('c1')),
      responses(blocks.result('c1', 'broken', { is_error: true })),
    ),
    {},
    stateless,
  ),
  'tool-result.call-id': elsewhere.request('responses')(
    items.says(user, items.call('c1', '{}'), {
      type: 'function_call_output',
      name: 'look',
      output: 'done',
    }),
  ),
  'tool-result.stringified': elsewhere.request('responses')(
    items.says(user, items.call('c1', '{}'), items.result('c1', { a: 1 })),
  ),
  'tool-call.empty-input': fromChat(
    chatSays(
      user,
      { role: 'assistant', tool_calls: [chat.call('c1', '')] },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ),
  ),
  'tool-call.id-twice': chatResponse(
    timed(
      { tool_calls: [chat.call('c1', '{}'), chat.call('c1', '{}')] },
      { finish_reason: 'tool_calls' },
    ),
  ),
  'server-tool.dropped': fromBlocks(
    blocks.says(
      ...asks(
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
        text,
      ),
    ),
    {},
    stateless,
  ),
  'file.foreign-id': fromBlocks(
    says(text, { type: 'image', source: { type: 'file', file_id: 'file_1' } }),
    { onUnresolvable: 'note' },
    stateless,
  ),
  'media.unsupported': fromChat(
    chatSays(user, {
      role: 'user',
      content: [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
    }),
  ),
  'media.filename': fromBlocks(
    says({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    }),
    {},
    stateless,
  ),
  'media.mime': fromBlocks(
    says({ type: 'document', title: 'a.pdf', source: { type: 'base64', data: 'JVBERi0=' } }),
    {},
    [...stateless, 'media.title-as-filename'],
  ),
  'media.guessed': elsewhere.request('responses')(
    items.says({ role: 'user', content: [{ type: 'input_file', file_data: 'JVBERi0=' }] }),
  ),
  'media.title-as-filename': fromBlocks(
    says({
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    }),
    {},
    stateless,
  ),
  'media.detail': request('canonical')(
    canonical.request([
      {
        type: 'media',
        kind: 'image',
        source: { type: 'url', url: 'https://example.org/a.png' },
        detail: 'ultra_high',
        at: '/messages/0/parts/0',
      },
    ]),
    {},
    stateless,
  ),
  'media.as-image-call': response('canonical')(
    canonical.response(
      [
        {
          type: 'media',
          kind: 'image',
          source: { type: 'base64', data: png, mime: 'image/png' },
          at: '/candidates/0/messages/0/parts/0',
        },
      ],
      {},
      { createdAt: 1 },
    ),
  ),
  'media.transcript': chatResponse(
    timed({ audio: { id: 'a1', data: 'UklGRg==', transcript: 'hello', expires_at: 9 } }),
  ),
  'content.as-text': fromBlocks(
    says({ type: 'search_result', source: 'https://example.org', title: 't', content: [text] }),
    {},
    stateless,
  ),
  'content.input-by-assistant': elsewhere.request('responses')(
    items.says(
      user,
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'input_text', text: 'yes' }],
      },
      user,
    ),
  ),
  'cache.unsupported': fromBlocks(
    blocks.request({ tools: [blocks.tool('look', mark())] }),
    {},
    stateless,
  ),
  'cache.moved': fromBlocks(
    blocks.says(...asks(blocks.call('c1')), responses(blocks.result('c1', 'done', mark()))),
    {},
    stateless,
  ),
  'cache.ttl': fromBlocks(says({ ...text, ...mark('1h') }), {}, stateless),
  'cache.too-many': request('canonical')(
    canonical.request(
      ['a', 'b', 'c', 'd', 'e'].map((word, i) => ({
        type: 'text',
        text: word,
        cache: {},
        at: `/messages/0/parts/${i}`,
      })),
    ),
    {},
    stateless,
  ),
  'citation.unsupported': blocksResponse(
    blocks.response([{ ...text, citations: [location] }]),
    {},
    timeless,
  ),
  'citation.approximated': blocksResponse(
    blocks.response([
      {
        ...text,
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://example.org',
            title: 't',
            cited_text: 'a',
            encrypted_index: seal,
          },
        ],
      },
    ]),
    {},
    timeless,
  ),
  'max-tokens.raised': fromChat(chatAsks({ max_completion_tokens: 5 })),
  'output.enum': makers('responses').request('generate-content')(
    gemini.oneWord(),
    {},
    ['schema.name', 'output.wrapped', ...stateless],
    {
      shows: { target: '/text/format' },
    },
  ),
  'output.wrapped': makers('responses').request('generate-content')(
    gemini.request({
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: { type: 'ARRAY', items: { type: 'STRING' } },
      },
    }),
    {},
    ['schema.name', ...stateless],
    { shows: { target: '/text/format/schema' } },
  ),
  'schema.name': fromBlocks(
    blocks.request({ output_config: { format: { type: 'json_schema', schema: parameters } } }),
    {},
    stateless,
  ),
  'user.hashed': fromChat(chatAsks({ safety_identifier: 'u'.repeat(65) })),
  'tier.nearest': chatResponse(timed({ content: 'yes' }, {}, { service_tier: 'novel' })),
  'error.code': response('canonical')(
    canonical.response(
      [],
      {},
      {
        createdAt: 1,
        usage: { input: 1, output: 1 },
        error: { kind: 'authentication', status: 401, message: 'No.' },
      },
    ),
  ),
  'finish.approximated': blocksResponse(
    blocks.response([text], { stop_reason: 'pause_turn' }),
    {},
    timeless,
  ),
  'finish.truncated-as-length': blocksResponse(
    blocks.response([text], { stop_reason: null }),
    { truncated: 'length' },
    timeless,
  ),
  'response.id': chatResponse(timed({ content: 'yes' }, {}, { id: undefined })),
  'response.created': blocksResponse(blocks.response([text])),
  'usage.missing': chatResponse(timed({ content: 'yes' }, {}, { usage: undefined })),
  'response.model': chatResponse(timed({ content: 'yes' }, {}, { model: undefined })),
  'stream.stray-delta': makers('generate-content').stream('responses')([
    ...items.opening,
    { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'no' },
    ...items.ending('yes'),
  ]),
  'stream.final-differs': makers('generate-content').stream('responses')([
    ...items.opening,
    {
      type: 'response.content_part.done',
      output_index: 0,
      content_index: 0,
      part: { type: 'refusal', refusal: 'no' },
    },
    ...items.ending('yes'),
  ]),
  'refusal.synthesized': blocksResponse(
    blocks.response([], {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
    }),
    {},
    ['finish.approximated', 'field.unsupported', ...timeless],
  ),
  'reasoning.effort': request('responses')(
    { model: 'grok-4.5', input: 'hi', reasoning: { effort: 'minimal' } },
    { vendor: 'xai' },
  ),
  'tool-choice.not-forced': request('responses')(
    {
      model: 'anthropic/claude-opus-5.5',
      input: 'hi',
      tools: [
        {
          type: 'function',
          name: 'look',
          strict: false,
          parameters: items.tool('look').parameters,
        },
      ],
      tool_choice: 'required',
    },
    { vendor: 'openrouter' },
  ),
  'reasoning.no-effort': request('responses')(
    { model: 'gpt-4.1', input: 'hi', reasoning: { effort: 'low' } },
    { vendor: 'openai' },
  ),
  'tool-call.input-object': makers('chat-completions').request('responses')({
    model: 'm',
    input: [
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: { a: 1 } },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
    ],
  }),
  'schema.keywords': request('responses')(
    {
      model: 'm',
      input: 'hi',
      tools: [
        {
          type: 'function',
          name: 'look',
          parameters: { type: 'object', anyOf: [{ required: ['day'] }, { required: ['hour'] }] },
        },
      ],
    },
    { vendor: 'xai' },
  ),
  'cache.key-hashed': request('responses')(
    { model: 'gpt-4o', input: 'hi', prompt_cache_key: 'k'.repeat(65) },
    { vendor: 'openai' },
  ),
  'output.json-instructed': request('responses')(
    { model: 'gpt-4o', input: 'hi', text: { format: { type: 'json_object' } } },
    { vendor: 'openai' },
    [],
    { shows: { target: '/input/0' } },
  ),
}
