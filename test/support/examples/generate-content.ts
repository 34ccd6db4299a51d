import { type Example, makers } from './example.ts'
import { blocks, canonical, chat, gemini, items, png, seal, user } from './wires.ts'

const { request, response, stream, error } = makers('generate-content')
const fromChat = request('chat-completions')
const fromItems = request('responses')
const fromBlocks = request('messages')
const chatResponse = response('chat-completions')
const blocksResponse = response('messages')

const assistant = { role: 'assistant', content: 'yes' }
const called = (...ids: string[]) => ({
  role: 'assistant',
  tool_calls: ids.map(id => chat.call(id, '{}')),
})
const long = '{"id":1234567890123456789}'
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'done' })
const file = (media: object) => ({ role: 'user', content: [{ type: 'text', text: 'see' }, media] })
const thinks = (model: string, thinking: object, more: object = {}) =>
  blocks.request({ model: 'm', max_tokens: 5000, thinking, ...more, ...(model && { model }) })
const chunks = (...parts: object[]) =>
  parts.map((part, index) =>
    gemini.response([part], {}, index < parts.length - 1 ? { finishReason: undefined } : {}),
  )
const read = makers('messages')
/** Later ones demand a signature on every call. */
const older = 'gemini-2.5-pro'

/** One for each note that the codecs of generate-content make. */
export const examples: Record<string, Example> = {
  'message.leading-user': fromChat(chat.says(assistant, user), {
    generateContent: { leadingUser: 'synthesize' },
  }),
  'text.empty': fromBlocks(
    blocks.says(
      user,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: '', cache_control: { type: 'ephemeral' } },
        ],
      },
      user,
    ),
    {},
    ['field.unsupported'],
  ),
  'refusal.as-text': fromChat(chat.says(user, { role: 'assistant', refusal: 'no' })),
  'media.unsupported': fromItems(
    items.says(user, {
      role: 'user',
      content: [{ type: 'input_image', image_url: 'data:nothing' }],
    }),
  ),
  'media.mime': request('canonical')(
    canonical.request([
      { type: 'media', kind: 'document', source: { type: 'base64', data: 'JVBERi0=' } },
    ]),
  ),
  'media.url': fromChat(
    chat.says(file({ type: 'image_url', image_url: { url: 'https://example.org/a.png' } })),
  ),
  'media.transcript': request('canonical')(
    canonical.request([
      {
        type: 'media',
        kind: 'audio',
        source: { type: 'reference', id: 'a1' },
        transcript: 'hello',
      },
    ]),
  ),
  'media.flattened': fromBlocks(
    blocks.says({
      role: 'user',
      content: [
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a' }] } },
      ],
    }),
  ),
  'media.detail': fromItems(
    items.says({
      role: 'user',
      content: [
        { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'original' },
      ],
    }),
  ),
  'search-result.as-text': fromBlocks(
    blocks.says({
      role: 'user',
      content: [
        { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'a' }] },
      ],
    }),
  ),
  'reasoning.foreign-signature': fromItems(
    items.says(
      user,
      { type: 'reasoning', summary: [], encrypted_content: seal },
      items.text('yes'),
    ),
  ),
  'reasoning.placeholder-signature': fromChat({
    ...chat.says(user, called('c1'), result('c1')),
    model: 'gemini-3-pro',
  }),
  'reasoning.kind': chatResponse(
    chat.response({ content: 'yes', reasoning_content: 'hm' }, {}, { created: 1 }),
  ),
  'reasoning.other-model': request('canonical')(
    canonical.request(
      [
        {
          type: 'text',
          text: 'hi',
          signature: { value: seal, issuer: 'generate-content', model: 'gemini-2.5-pro' },
        },
      ],
      {
        model: 'gemini-3-pro',
      },
    ),
  ),
  'tool-call.cut': response('chat-completions')(
    chat.response(
      { tool_calls: [chat.call('c1', '{"city":"Par')] },
      { finish_reason: 'length' },
      { created: 1 },
    ),
  ),
  'tool-call.input': fromChat({
    ...chat.says(user, { role: 'assistant', tool_calls: [chat.call('c1', '[1]')] }, result('c1')),
    model: older,
  }),
  'stream.trailing-arguments': response('chat-completions')(
    chat.response(
      { tool_calls: [chat.call('c1', '{"a":1}{"b":2}')] },
      { finish_reason: 'tool_calls' },
      { created: 1 },
    ),
  ),
  'tool-call.number': fromChat({
    ...chat.says(user, { role: 'assistant', tool_calls: [chat.call('c1', long)] }, result('c1')),
    model: older,
  }),
  'tool-result.name': fromChat(chat.says(user, result('c1')), { tools: { repair: 'keep' } }),
  'tool-result.media-moved': fromBlocks({
    ...blocks.says(
      user,
      { role: 'assistant', content: [blocks.call('c1')] },
      {
        role: 'user',
        content: [
          blocks.result('c1', [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          ]),
        ],
      },
    ),
    model: older,
  }),
  'server-tool.dropped': fromItems(
    items.says(
      user,
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q' },
      },
      items.text('yes'),
    ),
  ),
  'server-tool.image-only': fromItems(
    items.says(user, {
      type: 'image_generation_call',
      id: 'ig_1',
      status: 'completed',
      result: png,
    }),
  ),
  'reasoning.effort': fromChat(chat.request({ model: 'gemini-3-pro', reasoning_effort: 'max' })),
  'reasoning.effort-as-budget': fromChat(
    chat.request({ model: 'gemini-2.5-pro', reasoning_effort: 'low' }),
  ),
  'reasoning.budget-as-effort': fromBlocks(
    thinks(
      'gemini-3-pro',
      { type: 'enabled', budget_tokens: 2000, display: 'omitted' },
      { output_config: { effort: 'low' } },
    ),
  ),
  'reasoning.mode': fromBlocks(thinks('gemini-3.5-flash', { type: 'between_tools' })),
  'reasoning.off': fromBlocks(
    thinks('gemini-2.5-flash', { type: 'disabled' }, { output_config: { effort: 'high' } }),
  ),
  'reasoning.shown': fromBlocks(
    blocks.request({ model: 'gemini-2.5-pro', thinking: { type: 'enabled', budget_tokens: 2048 } }),
  ),
  'reasoning.summary': fromItems(
    items.request({ model: 'gemini-3-pro', reasoning: { effort: 'low', summary: 'detailed' } }),
  ),
  'schema.keywords': fromChat(
    chat.request({
      messages: [user],
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
    { tools: { schemas: 'plain' } },
  ),
  'tool.server': fromItems(items.request({ tools: [{ type: 'web_search' }, items.tool('look')] })),
  'tool.server-mapped': fromItems(items.request({ tools: [{ type: 'web_search' }] }), {
    tools: { serverTools: 'map' },
  }),
  'tool.invocations': fromItems(
    items.request({ tools: [{ type: 'web_search' }, items.tool('look')] }),
    { tools: { serverTools: 'map' } },
    ['tool.server-mapped'],
  ),
  'tool-choice.unsupported': fromItems(
    items.request({
      tools: [items.tool('look'), { type: 'shell' }],
      tool_choice: { type: 'shell' },
    }),
    { onUnresolvable: 'note' },
    ['tool.server'],
  ),
  'tool-choice.without-tools': fromChat(chat.request({ tool_choice: 'required' })),
  'tool-choice.validated': fromChat(
    chat.request({
      tools: [chat.tool('look')],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'look' } }] },
      },
    }),
  ),
  'output.strict': fromChat(
    chat.request({
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { type: 'object' }, strict: false },
      },
    }),
  ),
  'output.voice': fromChat(
    chat.request({ modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }),
  ),
  'sampling.penalty-clamped': fromChat(chat.request({ presence_penalty: 2 })),
  'sampling.seed': fromChat(chat.request({ seed: 4294967296 })),
  'stop.too-many': request('canonical')(
    canonical.request([{ type: 'text', text: 'hi' }], { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }),
  ),
  'max-tokens.raised': fromBlocks(blocks.request({ max_tokens: 0 })),
  'tier.unsupported': fromChat(chat.request({ service_tier: 'scale' })),
  'finish.approximated': blocksResponse(
    blocks.response([{ type: 'text', text: 'yes' }], { stop_reason: 'pause_turn' }),
  ),
  'finish.details': blocksResponse(
    blocks.response([{ type: 'text', text: 'yes' }], {
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    }),
    {},
    ['finish.approximated'],
  ),
  'finish.truncated-as-length': stream('messages')(
    blocks
      .stream(blocks.block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'yes' }))
      .slice(0, -2),
    { truncated: 'length' },
  ),
  'citation.rounded': read.response('generate-content')(
    gemini.response(
      [{ text: 'ü' }],
      {},
      {
        groundingMetadata: {
          groundingChunks: [{ web: { uri: 'https://example.org', title: 't' } }],
          groundingSupports: [{ segment: { endIndex: 1 }, groundingChunkIndices: [0] }],
        },
      },
    ),
    {},
    ['citation.encrypted-index', 'citation.span', 'field.unsupported'],
  ),
  'citation.approximated': blocksResponse(
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
  'citation.unsupported': blocksResponse(
    blocks.response([
      {
        type: 'text',
        text: 'yes',
        citations: [
          {
            type: 'char_location',
            cited_text: 'y',
            document_index: 0,
            document_title: null,
            start_char_index: 0,
            end_char_index: 1,
          },
        ],
      },
    ]),
  ),
  'logprobs.bytes': chatResponse(
    chat.response(
      { content: 'y' },
      {
        logprobs: {
          content: [{ token: 'y', logprob: -1, bytes: [255], top_logprobs: [] }],
          refusal: null,
        },
      },
      { created: 1 },
    ),
  ),
  'tier.nearest': chatResponse(
    chat.response({ content: 'yes' }, {}, { created: 1, service_tier: 'standard' }),
  ),
  'usage.merged': blocksResponse(
    blocks.response([{ type: 'text', text: 'yes' }], {
      usage: { input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 2 },
    }),
  ),
  'usage.overlap': chatResponse(
    chat.response(
      { content: 'yes' },
      {},
      {
        created: 1,
        usage: {
          prompt_tokens: 5,
          completion_tokens: 2,
          total_tokens: 7,
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
    ),
  ),
  'tool-call.input-text': makers('chat-completions').request('generate-content')(
    {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: '{"q":"x"}' } }] },
      ],
    },
    { model: 'm', tools: { repair: 'keep' } },
  ),
  'stream.stray-delta': read.stream('generate-content')(
    chunks({ functionCall: { willContinue: true } }, { text: 'yes' }),
    {},
    ['field.unsupported'],
  ),
  'stream.partial-path': read.stream('generate-content')(
    chunks(
      { functionCall: { name: 'look', willContinue: true } },
      { functionCall: { partialArgs: [{ jsonPath: 'a', stringValue: 'b' }] } },
    ),
    {},
    ['field.unsupported'],
  ),
  'error.reworded': error('chat-completions')(
    {
      status: 400,
      headers: {},
      body: {
        error: {
          message: 'Too much context',
          type: 'invalid_request_error',
          param: null,
          code: 'context_length_exceeded',
        },
      },
    },
    {},
    ['field.unsupported'],
  ),
  'output.format-instructed': request('generate-content')(
    {
      ...gemini.request({
        tools: [{ functionDeclarations: [{ name: 'look' }] }],
        generationConfig: { responseMimeType: 'application/json' },
      }),
      model: 'gemini-2.5-pro',
    },
    { vendor: 'gemini' },
  ),
  'reasoning.least-budget': request('generate-content')(
    {
      ...gemini.request({ generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }),
      model: 'gemini-2.5-pro',
    },
    { vendor: 'gemini' },
  ),
}
