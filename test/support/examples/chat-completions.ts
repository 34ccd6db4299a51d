import type { Signature } from '../../../src/canonical/message.ts'
import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { translateRequest } from '../untyped.ts'
import { type Example, makers } from './example.ts'
import { blocks, canonical, chat, gemini, items, parameters, png, seal, user } from './wires.ts'

const { request, response } = makers('chat-completions')
const fromItems = request('responses')
const fromBlocks = request('messages')
const blocksResponse = response('messages')
const itemsResponse = response('responses')
const elsewhere = makers('messages')

/** Responses of messages have no time. */
const timeless = ['response.created']
/** Streams without counts. */
const countless = ['usage.late', 'usage.missing']
const thought = { type: 'thinking', thinking: 'hm', signature: seal }
const says = (...content: object[]) => blocks.says({ role: 'user', content })
const asks = (...parts: object[]) => [user, { role: 'assistant', content: parts }]
const responses = (...parts: object[]) => ({ role: 'user', content: parts })
const text = { type: 'text', text: 'yes' }
const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
/** The order of the parts, as this protocol's responses send it to the next request. */
const layout = {
  signature: {
    value: '["x4","r0"]',
    issuer: 'chat-completions',
    form: 'layout' as Signature['form'] & string,
  },
}

/** From a client of this protocol to a vendor of it. */
const own = request('chat-completions')
const chosen = { type: 'function', function: { name: 'look' } }
const marked = {
  type: 'function',
  function: {
    name: 'look',
    parameters: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
  },
}

/** One for each note that the codecs of chat-completions make. */
export const examples: Record<string, Example> = {
  'usage.merged': makers('chat-completions').response('generate-content')(
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
  'tools.two-lists': elsewhere.request('chat-completions')(
    chat.request({ tools: [chat.tool('look')], functions: [{ name: 'find', parameters }] }),
  ),
  'media.detail': fromItems(
    items.says({
      role: 'user',
      content: [{ type: 'input_image', image_url: 'https://a.example/a.png', detail: 'original' }],
    }),
  ),
  'tool.server': fromItems(items.request({ tools: [items.tool('look'), { type: 'web_search' }] })),
  'tool.expanded': fromBlocks(
    blocks.request({ tools: [{ type: 'bash_20250124', name: 'bash' }] }),
    { tools: { expandClientTools: true } },
  ),
  'tool.server-mapped': fromItems(items.request({ tools: [{ type: 'web_search' }] }), {
    tools: { serverTools: 'map' },
  }),
  'tool-choice.unsupported': fromItems(
    items.request({ tools: [items.tool('look')], tool_choice: { type: 'file_search' } }),
    { onUnresolvable: 'note' },
  ),
  'tool-choice.without-tools': fromItems(items.request({ tool_choice: 'required' })),
  'tool-call.empty-input': fromItems(items.says(user, items.call('c1', ''), items.result('c1'))),
  'tool-call.input': fromItems(items.says(user, items.call('c1', '[1]'), items.result('c1'))),
  'tool-call.nameless': elsewhere.stream('chat-completions')(
    [
      chat.chunk({ tool_calls: [{ index: 0, id: 'c1', function: { arguments: '{}' } }] }),
      chat.chunk({ content: 'yes' }, { finish_reason: 'stop' }),
    ],
    {},
    countless,
  ),
  'tool-call.single': blocksResponse(
    blocks.response([blocks.call('c1'), blocks.call('c2')], { stop_reason: 'tool_use' }),
    {
      context: translateRequest(chat.request({ functions: [{ name: 'look' }] }), {
        from: 'chat-completions',
        to: 'messages',
      }).context,
    },
    timeless,
  ),
  'tool-call.input-object': elsewhere.request('chat-completions')(
    chat.says(user, {
      role: 'assistant',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: { a: 1 } } }],
    }),
    { tools: { repair: 'keep' } },
  ),
  'tool-result.error-flag': fromBlocks(
    blocks.says(
      ...asks(blocks.call('c1')),
      responses(blocks.result('c1', 'broken', { is_error: true })),
    ),
  ),
  'tool-result.media-moved': fromBlocks(
    blocks.says(...asks(blocks.call('c1')), responses(blocks.result('c1', [image]))),
  ),
  'tool-result.call-id': elsewhere.request('chat-completions')(
    chat.says(
      user,
      { role: 'assistant', tool_calls: [chat.call('c1', '{}')] },
      { role: 'tool', content: 'done' },
    ),
  ),
  'server-tool.image-only': makers('chat-completions').response('responses')(
    items.response([
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' },
    ]),
    {},
    [...timeless, 'media.images-field'],
  ),
  'media.images-field': makers('chat-completions').response('canonical')(
    canonical.response([
      {
        type: 'media',
        kind: 'image',
        source: { type: 'base64', mime: 'image/png', data: png },
        at: '/candidates/0/messages/0/parts/0',
      },
    ]),
    {},
    timeless,
  ),
  'text.boundary-lost': blocksResponse(
    blocks.response([
      text,
      {
        ...text,
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://example.org',
            title: 't',
            cited_text: '',
            encrypted_index: '',
          },
        ],
      },
    ]),
    {},
    ['citation.whole-part', ...timeless],
  ),
  'audio.type': makers('chat-completions').response('generate-content')(
    gemini.response([{ inlineData: { mimeType: 'audio/wav', data: 'QQ==' } }]),
    {},
    [],
  ),
  'parts.order-lost': blocksResponse(blocks.response([text, { ...thought, signature: '' }]), {}, [
    'reasoning.dialect-field',
    ...timeless,
  ]),
  'parts.layout-stale': elsewhere.request('chat-completions')(
    chat.says(user, {
      role: 'assistant',
      content: 'changed',
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.encrypted', data: wrapSignature(layout) }],
    }),
    {},
    ['reasoning.unsigned'],
  ),
  'document.flattened': fromBlocks(
    says({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } }),
  ),
  'media.title-as-filename': fromBlocks(
    says({
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    }),
  ),
  'media.filename': fromBlocks(
    says({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    }),
  ),
  'media.mime': fromBlocks(
    says({ type: 'document', title: 'a.pdf', source: { type: 'base64', data: 'JVBERi0=' } }),
    {},
    ['media.title-as-filename'],
  ),
  'citation.unsupported': blocksResponse(
    blocks.response([
      {
        ...text,
        citations: [
          {
            type: 'char_location',
            cited_text: 'a',
            document_index: 0,
            document_title: null,
            start_char_index: 0,
            end_char_index: 1,
          },
        ],
      },
    ]),
    {},
    timeless,
  ),
  'citation.whole-part': blocksResponse(
    blocks.response([
      {
        ...text,
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://example.org',
            title: 't',
            cited_text: '',
            encrypted_index: '',
          },
        ],
      },
    ]),
    {},
    timeless,
  ),
  'field.optional': fromItems(items.request({ prompt_cache_key: 'k' })),
  'cache.unsupported': fromBlocks(blocks.request({ tools: [blocks.tool('look', mark())] })),
  'cache.ttl': fromBlocks(says({ ...text, ...mark('1h') }), {
    chatCompletions: { cacheMarks: 'write' },
  }),
  'cache.too-many': request('canonical')(
    canonical.request(
      ['a', 'b', 'c', 'd', 'e'].map((word, i) => ({
        type: 'text',
        text: word,
        cache: {},
        at: `/messages/0/parts/${i}`,
      })),
    ),
    { chatCompletions: { cacheMarks: 'write' } },
  ),
  'reasoning.dialect-field': blocksResponse(
    blocks.response([{ ...thought, signature: '' }, text]),
    {},
    timeless,
  ),
  'reasoning.think-tags': elsewhere.response('chat-completions')(
    chat.response({ content: '<think>hm</think>yes' }),
    { chatCompletions: { extractThinkTags: true } },
    ['reasoning.signature-empty'],
  ),
  'reasoning.placeholder': fromBlocks(
    blocks.says(...asks(blocks.call('c1')), responses(blocks.result('c1'))),
    {
      chatCompletions: { missingReasoning: 'blank' },
    },
  ),
  'reasoning.dropped': fromBlocks(
    blocks.says(...asks({ type: 'thinking', thinking: 'hm' }, text), user),
  ),
  'reasoning.foreign-signature': fromBlocks(
    blocks.says(...asks(thought, blocks.call('c1')), responses(blocks.result('c1'))),
    {},
    ['reasoning.dialect-field'],
  ),
  'reasoning.signature-dropped': blocksResponse(
    blocks.response([thought, text]),
    { chatCompletions: { signatures: 'none' } },
    ['reasoning.dialect-field', ...timeless],
  ),
  'reasoning.budget-as-effort': fromBlocks(
    blocks.request({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } }),
  ),
  'reasoning.off': fromBlocks(
    blocks.request({ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }),
  ),
  'reasoning.mode-as-effort': fromBlocks(blocks.request({ thinking: { type: 'between_tools' } })),
  'output.modality': makers('chat-completions').request('generate-content')(
    gemini.request({
      generationConfig: { maxOutputTokens: 50, responseModalities: ['TEXT', 'IMAGE'] },
    }),
    {},
    [],
    { shows: { target: '/modalities' } },
  ),
  'output.voice': makers('chat-completions').request('generate-content')(
    gemini.request({
      generationConfig: {
        maxOutputTokens: 50,
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    }),
    {},
    ['output.audio-format'],
    { shows: { target: '/audio/voice' } },
  ),
  'output.audio-format': makers('chat-completions').request('generate-content')(
    gemini.request({
      generationConfig: {
        maxOutputTokens: 50,
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    }),
    {},
    ['output.voice'],
  ),
  'output.enum': makers('chat-completions').request('generate-content')(
    gemini.oneWord(),
    {},
    ['schema.name', 'output.wrapped'],
    {
      shows: { target: '/response_format' },
    },
  ),
  'output.wrapped': makers('chat-completions').request('generate-content')(
    gemini.request({
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: { type: 'ARRAY', items: { type: 'STRING' } },
      },
    }),
    {},
    ['schema.name'],
    { shows: { target: '/response_format/json_schema/schema' } },
  ),
  'schema.name': fromBlocks(
    blocks.request({
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    }),
  ),
  'stop.too-many': fromBlocks(blocks.request({ stop_sequences: ['a', 'b', 'c', 'd', 'e'] })),
  'max-tokens.raised': fromBlocks(blocks.request({ max_tokens: 0 })),
  'user.hashed': fromBlocks(blocks.request({ metadata: { user_id: 'u'.repeat(65) } }), {
    chatCompletions: { optionalFields: 'write' },
  }),
  'tier.nearest': blocksResponse(
    blocks.response([text], {
      usage: { input_tokens: 1, output_tokens: 1, service_tier: 'batch' },
    }),
    {},
    timeless,
  ),
  'tier.unsupported': fromBlocks(blocks.request({ service_tier: 'fancy' })),
  'file.foreign-id': fromBlocks(
    says(text, { type: 'document', source: { type: 'file', file_id: 'file_1' } }),
    { onUnresolvable: 'note' },
  ),
  'message.ids': fromItems(
    items.says(user, { ...items.text('yes'), id: 'msg_1', status: 'completed' }),
  ),
  'message.phase': fromItems(items.says(user, { ...items.text('yes'), phase: 'commentary' })),
  'finish.approximated': blocksResponse(
    blocks.response([text], { stop_reason: 'pause_turn' }),
    {},
    timeless,
  ),
  'finish.repaired': elsewhere.response('chat-completions')(
    chat.response({ tool_calls: [chat.call('c1', '{}')] }),
  ),
  'finish.missing': elsewhere.response('chat-completions')(
    chat.response({ content: 'yes' }, { finish_reason: null }),
    {},
    ['finish.approximated'],
  ),
  'finish.truncated-as-length': blocksResponse(
    blocks.response([text], { stop_reason: null }),
    { truncated: 'length' },
    timeless,
  ),
  'finish.details': blocksResponse(
    blocks.response([text], { stop_reason: 'stop_sequence', stop_sequence: 'END' }),
    {},
    ['finish.approximated', ...timeless],
  ),
  'refusal.synthesized': blocksResponse(blocks.response([], { stop_reason: 'refusal' }), {}, [
    'finish.approximated',
    ...timeless,
  ]),
  'prompt.blocked': response('canonical')(
    canonical.response(
      [],
      {},
      { candidates: [], createdAt: 1, promptBlocked: { reason: 'SAFETY' } },
    ),
  ),
  'response.id': itemsResponse(
    items.response([items.text('yes')], { id: undefined, created_at: 1 }),
  ),
  'response.created': itemsResponse(items.response([items.text('yes')])),
  'response.model': itemsResponse(
    items.response([items.text('yes')], { model: undefined, created_at: 1 }),
  ),
  'response.late': elsewhere.stream('chat-completions')(
    [
      chat.chunk({ content: 'yes' }, {}, { id: '' }),
      chat.chunk({}, { finish_reason: 'stop' }, { id: 'c1' }),
    ],
    {},
    ['response.id', ...countless],
  ),
  'usage.unsupported': blocksResponse(
    blocks.response([text], {
      usage: { input_tokens: 5, output_tokens: 2, server_tool_use: { web_search_requests: 1 } },
    }),
    {},
    timeless,
  ),
  'usage.missing': blocksResponse(
    blocks.response([text], { usage: { output_tokens: 2 } }),
    {},
    timeless,
  ),
  'usage.repaired': elsewhere.response('chat-completions')(
    chat.response(
      { content: 'yes' },
      {},
      { usage: { prompt_tokens: 5, completion_tokens: '2', total_tokens: 7 } },
    ),
  ),
  'reasoning.joined': elsewhere.stream('chat-completions')(
    [
      chat.chunk({ reasoning_content: 'One. Two.' }),
      chat.chunk({
        reasoning_details: [
          { type: 'reasoning.text', text: 'One.', index: 0 },
          { type: 'reasoning.text', text: 'Two.', signature: 'c2lnbmF0dXJl', index: 1 },
        ],
      }),
      chat.chunk({ content: 'yes' }),
      chat.chunk({}, { finish_reason: 'stop' }),
    ],
    {},
    ['reasoning.signature-empty', ...countless],
    { shows: { source: '/1/choices/0/delta/reasoning_details/1' } },
  ),
  'logprobs.unattached': elsewhere.stream('chat-completions')(
    [
      chat.chunk(
        { tool_calls: [{ index: 0, ...chat.call('c1', '{}') }] },
        { logprobs: { refusal: [{ token: '{}', logprob: -1 }] } },
      ),
      chat.chunk({}, { finish_reason: 'tool_calls' }),
    ],
    {},
    countless,
  ),
  'max-tokens.field': own(chat.request({}), { vendor: 'deepseek' }),
  'sampling.seed-field': own({ model: 'm', messages: [user], seed: 7 }, { vendor: 'mistral' }),
  'reasoning.effort': own(
    { model: 'm', messages: [user], reasoning_effort: 'medium' },
    { vendor: 'deepseek' },
  ),
  'reasoning.no-effort': own(
    { model: 'm', messages: [user], reasoning_effort: 'medium' },
    { vendor: 'zai' },
  ),
  'reasoning.always-on': own(
    { model: 'kimi-k3', messages: [user], reasoning_effort: 'none' },
    { vendor: 'moonshot' },
  ),
  'tool-choice.not-forced': own(
    { model: 'm', messages: [user], tools: [chat.tool('look')], tool_choice: 'required' },
    { vendor: 'zai' },
  ),
  'tool-choice.tools-left-out': own(
    { model: 'm', messages: [user], tools: [chat.tool('look')], tool_choice: 'none' },
    { vendor: 'zai' },
    [],
    {
      shows: { target: '' },
    },
  ),
  'tool-choice.only-chosen': own(
    { model: 'm', messages: [user], tools: [chat.tool('look')], tool_choice: chosen },
    { vendor: 'mistral' },
  ),
  'tool-choice.serial-calls': own(
    { model: 'kimi-k2', messages: [user], tools: [chat.tool('look')], parallel_tool_calls: true },
    { vendor: 'nvidia' },
  ),
  'schema.keywords': own({ model: 'm', messages: [user], tools: [marked] }, { vendor: 'moonshot' }),
  'output.format': own(
    { model: 'm', messages: [user], response_format: { type: 'json_object' } },
    { vendor: 'lm-studio' },
  ),
  'tool.strict': own(
    {
      messages: [user],
      tools: ['look', 'find'].map((name, i) => ({
        type: 'function',
        function: { name, parameters: { type: 'object', properties: {} }, strict: i === 0 },
      })),
    },
    { vendor: 'cerebras' },
  ),
  'reasoning.with-tools': own(
    {
      model: 'gpt-5.6',
      messages: [user],
      tools: [chat.tool('look')],
      reasoning_effort: 'high',
    },
    { vendor: 'openai' },
  ),
  'cache.key-hashed': own(
    { model: 'gpt-4o', messages: [user], prompt_cache_key: 'k'.repeat(65) },
    { vendor: 'openai' },
  ),
  'output.json-instructed': own(
    { model: 'gpt-4o', messages: [user], response_format: { type: 'json_object' } },
    { vendor: 'openai' },
    [],
    { shows: { target: '/messages/0' } },
  ),
  'output.format-instructed': own(
    { model: 'm', messages: [user], response_format: { type: 'json_object' } },
    { vendor: 'minimax' },
  ),
  'media.url-as-text': own(
    {
      model: 'm',
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.b/c.png' } }] },
      ],
    },
    { vendor: 'ollama' },
  ),
  'message.assistant-between': own(
    {
      model: 'm',
      messages: [
        user,
        { role: 'assistant', tool_calls: [chat.call('abcdefgh1', '{}')] },
        { role: 'tool', tool_call_id: 'abcdefgh1', content: 'done' },
        user,
      ],
    },
    { vendor: 'mistral' },
  ),
  'reasoning.placeholder-signature': own(
    {
      model: 'gemini-3.8-flash',
      messages: [
        user,
        { role: 'assistant', tool_calls: [chat.call('c1', '{}')] },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
    },
    { vendor: 'gemini' },
  ),
  'reasoning.forced-tool': own(
    {
      model: 'm',
      messages: [user],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: 'required',
    },
    { vendor: 'alibaba' },
  ),
  'message.trailing-user': own(
    { model: 'm', messages: [user, { role: 'assistant', content: 'yes' }] },
    { vendor: 'mistral' },
  ),
}
