import type { ProtocolName } from '../../src/protocols/index.ts'

const chatHead = {
  id: 'chatcmpl-Kk90',
  object: 'chat.completion.chunk',
  created: 1_750_000_000,
  model: 'model-Kk91',
  system_fingerprint: 'Kk92',
}

function chunk(delta: object, choice: object = {}): Record<string, unknown> {
  return {
    ...chatHead,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }],
    usage: null,
  }
}

const logprobs = (token: string) => ({
  token,
  logprob: -0.5,
  bytes: [75],
  top_logprobs: [{ token, logprob: -0.5, bytes: [75] }],
})

const chatUsage = {
  prompt_tokens: 1001,
  completion_tokens: 2002,
  total_tokens: 3003,
  prompt_tokens_details: { cached_tokens: 404 },
  completion_tokens_details: { reasoning_tokens: 505 },
}

const responsesHead = {
  id: 'resp_Kk90',
  object: 'response',
  created_at: 1_750_000_000,
  model: 'model-Kk91',
  metadata: {},
  error: null,
  incomplete_details: null,
}

const responsesUsage = {
  input_tokens: 1001,
  input_tokens_details: { cached_tokens: 404 },
  output_tokens: 2002,
  output_tokens_details: { reasoning_tokens: 505 },
  total_tokens: 3003,
}

const begun = [
  {
    type: 'response.created',
    response: { ...responsesHead, status: 'in_progress', output: [], usage: null },
  },
  {
    type: 'response.in_progress',
    response: { ...responsesHead, status: 'in_progress', output: [], usage: null },
  },
]

const numbered = (events: object[]): unknown[] =>
  events.map((event, sequence_number) => ({ ...event, sequence_number }))

const inItem = (item_id: string, output_index: number) => ({ item_id, output_index })

const thought = {
  type: 'reasoning',
  id: 'rs_Kk01',
  summary: [{ type: 'summary_text', text: 'Kk02 Kk03' }],
  encrypted_content: 'Kk04',
}

const response = {
  type: 'message',
  id: 'msg_Kk05',
  role: 'assistant',
  status: 'completed',
  content: [
    {
      type: 'output_text',
      text: 'Kk06 Kk07',
      annotations: [
        {
          type: 'url_citation',
          start_index: 0,
          end_index: 9,
          title: 'Kk08',
          url: 'https://example.org/Kk09',
        },
      ],
      logprobs: [],
    },
  ],
}

const call = {
  type: 'function_call',
  id: 'fc_Kk10',
  call_id: 'call_Kk11',
  name: 'run_Kk12',
  arguments: '{"a":"Kk13 Kk14"}',
  status: 'completed',
}
const freeform = {
  type: 'custom_tool_call',
  id: 'ctc_Kk15',
  call_id: 'call_Kk16',
  name: 'run_Kk17',
  input: 'Kk18 Kk19',
}
const refusal = {
  type: 'message',
  id: 'msg_Kk01',
  role: 'assistant',
  status: 'incomplete',
  content: [{ type: 'refusal', refusal: 'Kk02 Kk03' }],
}
const rawThought = {
  type: 'reasoning',
  id: 'rs_Kk01',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'Kk02' }],
}
const search = {
  type: 'web_search_call',
  id: 'ws_Kk03',
  status: 'completed',
  action: { type: 'search', query: 'Kk04' },
}
const interpreter = {
  type: 'code_interpreter_call',
  id: 'ci_Kk05',
  status: 'completed',
  code: 'Kk06',
  container_id: 'cntr_1',
  outputs: [{ type: 'logs', logs: 'Kk07' }],
}
const image = { type: 'image_generation_call', id: 'ig_Kk08', status: 'completed', result: 'Kk09' }
const mcp = {
  type: 'mcp_call',
  id: 'mcp_Kk10',
  status: 'completed',
  server_label: 's',
  name: 'run_Kk11',
  arguments: '{"a":"Kk12"}',
  output: 'Kk13',
  error: null,
}

const messageStart = {
  type: 'message_start',
  message: {
    id: 'msg_Kk90',
    type: 'message',
    role: 'assistant',
    model: 'model-Kk91',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 1001,
      cache_creation_input_tokens: 606,
      cache_read_input_tokens: 404,
      output_tokens: 1,
      service_tier: 'standard',
    },
  },
}

const messageDelta = (stop_reason: string) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens: 2002 },
})

const geminiHead = {
  modelVersion: 'model-Kk91',
  responseId: 'Kk90',
  createTime: '2026-01-01T00:00:00Z',
}

function part(
  parts: object[],
  candidate: object = {},
  beside: object = {},
): Record<string, unknown> {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...candidate }],
    ...geminiHead,
    ...beside,
  }
}

const geminiUsage = (candidatesTokenCount: number) => ({
  promptTokenCount: 1001,
  candidatesTokenCount,
  thoughtsTokenCount: 505,
  totalTokenCount: 1506 + candidatesTokenCount,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1001 }],
})

const blockDelta = (contentBlockIndex: number, delta: object) => ({
  contentBlockDelta: { contentBlockIndex, delta },
})
const converseMetadata = {
  metadata: {
    usage: { inputTokens: 1001, outputTokens: 502, totalTokens: 1503 },
    metrics: { latencyMs: 1 },
  },
}

/**
 * Streams as servers send them, with most of what each wire has. Each value has a mark of its own,
 * `Kk` and two digits, so that it can be found at any path.
 */
export const richStreams: Record<ProtocolName, Record<string, unknown[]>> = {
  'chat-completions': {
    'reasoning, text and calls': [
      chunk({ role: 'assistant', content: '', reasoning_content: 'Kk01' }),
      chunk({ reasoning_content: ' Kk02' }),
      chunk({ content: 'Kk03' }),
      chunk({ content: ' Kk04' }),
      chunk({
        tool_calls: [
          {
            index: 0,
            id: 'call_Kk05',
            type: 'function',
            function: { name: 'run_Kk06', arguments: '' },
          },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":"Kk07' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ' Kk08"}' } }] }),
      chunk({
        tool_calls: [
          {
            index: 1,
            id: 'call_Kk09',
            type: 'function',
            function: { name: 'run_Kk10', arguments: '{"b":"Kk11"}' },
          },
        ],
      }),
      chunk({}, { finish_reason: 'tool_calls' }),
      { ...chatHead, choices: [], usage: chatUsage },
      '[DONE]',
    ],
    'details with a signature, cited text with logprobs': [
      chunk({
        role: 'assistant',
        content: '',
        reasoning: 'Kk01',
        reasoning_details: [{ type: 'reasoning.text', text: 'Kk01', index: 0 }],
      }),
      chunk({
        reasoning: ' Kk02',
        reasoning_details: [{ type: 'reasoning.text', text: ' Kk02', index: 0 }],
      }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 'Kk03', index: 0 }] }),
      chunk({ content: 'Kk04' }, { logprobs: { content: [logprobs('Kk08')], refusal: null } }),
      chunk({ content: ' Kk05' }, { logprobs: { content: [logprobs('Kk09')], refusal: null } }),
      chunk({
        annotations: [
          {
            type: 'url_citation',
            url_citation: {
              start_index: 0,
              end_index: 9,
              title: 'Kk06',
              url: 'https://example.org/Kk07',
            },
          },
        ],
      }),
      { ...chunk({}, { finish_reason: 'stop' }), service_tier: 'default', usage: chatUsage },
      '[DONE]',
    ],
    'two candidates, one of them a refusal': [
      chunk({ role: 'assistant', content: '' }),
      chunk({ role: 'assistant', content: '' }, { index: 1 }),
      chunk({ content: 'Kk01' }),
      chunk({ refusal: 'Kk02' }, { index: 1 }),
      chunk({ content: ' Kk03' }),
      chunk({ refusal: ' Kk04' }, { index: 1 }),
      chunk({}, { finish_reason: 'stop' }),
      chunk({}, { index: 1, finish_reason: 'stop' }),
      { ...chatHead, choices: [], usage: chatUsage },
      '[DONE]',
    ],
    audio: [
      chunk({ role: 'assistant', content: null, audio: { id: 'audio_Kk01', transcript: 'Kk02' } }),
      chunk({ audio: { data: 'Kk03' } }),
      chunk({ audio: { transcript: ' Kk04' } }),
      chunk({ audio: { data: 'Kk05' } }),
      chunk({ audio: { expires_at: 1_750_000_100 } }),
      chunk({}, { finish_reason: 'stop' }),
      '[DONE]',
    ],
    'an image and thinking blocks': [
      chunk({ role: 'assistant', reasoning_content: 'Kk01' }),
      chunk({ thinking_blocks: [{ type: 'thinking', thinking: 'Kk01', signature: 'Kk02' }] }),
      chunk({
        content: 'Kk03',
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,Kk04' }, index: 0 }],
      }),
      chunk({}, { finish_reason: 'stop' }),
      '[DONE]',
    ],
    'reasoning items': [
      chunk({ role: 'assistant', reasoning_content: 'Kk01' }),
      chunk({ content: 'Kk02' }),
      chunk(
        {
          reasoning_items: [
            {
              type: 'reasoning',
              id: 'rs_1',
              encrypted_content: 'Kk03',
              summary: [{ type: 'summary_text', text: 'Kk01' }],
            },
            { type: 'reasoning', id: 'rs_2', encrypted_content: 'Kk04', summary: [] },
          ],
        },
        { finish_reason: 'stop' },
      ),
      '[DONE]',
    ],
    'a freeform call': [
      chunk({
        role: 'assistant',
        content: null,
        tool_calls: [
          { index: 0, id: 'call_Kk05', type: 'custom', custom: { name: 'run_Kk06', input: '' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, custom: { input: 'Kk07' } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: ' Kk08' } }] }),
      chunk({}, { finish_reason: 'tool_calls' }),
      '[DONE]',
    ],
    'a proven call': [
      chunk({ role: 'assistant', content: 'Kk01' }),
      chunk({
        tool_calls: [
          {
            index: 0,
            id: 'call_Kk02',
            type: 'function',
            function: { name: 'run_Kk03', arguments: '{"a":"Kk04"}' },
            extra_content: { google: { thought_signature: 'Kk05' } },
          },
        ],
      }),
      chunk({}, { finish_reason: 'tool_calls' }),
      '[DONE]',
    ],
    'the older kind of call': [
      chunk({
        role: 'assistant',
        content: null,
        function_call: { name: 'run_Kk01', arguments: '' },
      }),
      chunk({ function_call: { arguments: '{"a":"Kk02' } }),
      chunk({ function_call: { arguments: 'Kk03"}' } }),
      chunk({}, { finish_reason: 'function_call' }),
      '[DONE]',
    ],
    blocks: [
      chunk({
        role: 'assistant',
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Kk01' }] }],
      }),
      chunk({ content: [{ type: 'text', text: 'Kk02' }] }),
      chunk({ content: [{ type: 'text', text: ' Kk03' }] }),
      { ...chunk({}, { finish_reason: 'stop' }), usage: chatUsage },
      '[DONE]',
    ],
    'a failure': [
      chunk({ role: 'assistant', content: 'Kk01' }),
      { error: { message: 'Kk02', type: 'server_error', param: null, code: 'Kk03' } },
    ],
  },
  responses: {
    'reasoning, text and calls': numbered([
      ...begun,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'reasoning', id: 'rs_Kk01', summary: [] },
      },
      {
        type: 'response.reasoning_summary_part.added',
        ...inItem('rs_Kk01', 0),
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      },
      {
        type: 'response.reasoning_summary_text.delta',
        ...inItem('rs_Kk01', 0),
        summary_index: 0,
        delta: 'Kk02',
      },
      {
        type: 'response.reasoning_summary_text.delta',
        ...inItem('rs_Kk01', 0),
        summary_index: 0,
        delta: ' Kk03',
      },
      {
        type: 'response.reasoning_summary_text.done',
        ...inItem('rs_Kk01', 0),
        summary_index: 0,
        text: 'Kk02 Kk03',
      },
      {
        type: 'response.reasoning_summary_part.done',
        ...inItem('rs_Kk01', 0),
        summary_index: 0,
        part: { type: 'summary_text', text: 'Kk02 Kk03' },
      },
      { type: 'response.output_item.done', output_index: 0, item: thought },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { ...response, status: 'in_progress', content: [] },
      },
      {
        type: 'response.content_part.added',
        ...inItem('msg_Kk05', 1),
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      {
        type: 'response.output_text.delta',
        ...inItem('msg_Kk05', 1),
        content_index: 0,
        delta: 'Kk06',
        logprobs: [],
      },
      {
        type: 'response.output_text.delta',
        ...inItem('msg_Kk05', 1),
        content_index: 0,
        delta: ' Kk07',
        logprobs: [],
      },
      {
        type: 'response.output_text.annotation.added',
        ...inItem('msg_Kk05', 1),
        content_index: 0,
        annotation_index: 0,
        annotation: response.content[0]?.annotations[0],
      },
      {
        type: 'response.output_text.done',
        ...inItem('msg_Kk05', 1),
        content_index: 0,
        text: 'Kk06 Kk07',
        logprobs: [],
      },
      {
        type: 'response.content_part.done',
        ...inItem('msg_Kk05', 1),
        content_index: 0,
        part: response.content[0],
      },
      { type: 'response.output_item.done', output_index: 1, item: response },
      {
        type: 'response.output_item.added',
        output_index: 2,
        item: { ...call, status: 'in_progress', arguments: '' },
      },
      {
        type: 'response.function_call_arguments.delta',
        ...inItem('fc_Kk10', 2),
        delta: '{"a":"Kk13',
      },
      { type: 'response.function_call_arguments.delta', ...inItem('fc_Kk10', 2), delta: ' Kk14"}' },
      {
        type: 'response.function_call_arguments.done',
        ...inItem('fc_Kk10', 2),
        name: 'run_Kk12',
        arguments: call.arguments,
      },
      { type: 'response.output_item.done', output_index: 2, item: call },
      { type: 'keepalive' },
      {
        type: 'response.completed',
        response: {
          ...responsesHead,
          status: 'completed',
          output: [thought, response, call],
          usage: responsesUsage,
        },
      },
    ]),
    'a freeform call': numbered([
      ...begun,
      { type: 'response.output_item.added', output_index: 0, item: { ...freeform, input: '' } },
      { type: 'response.custom_tool_call_input.delta', ...inItem('ctc_Kk15', 0), delta: 'Kk18' },
      { type: 'response.custom_tool_call_input.delta', ...inItem('ctc_Kk15', 0), delta: ' Kk19' },
      {
        type: 'response.custom_tool_call_input.done',
        ...inItem('ctc_Kk15', 0),
        input: 'Kk18 Kk19',
      },
      { type: 'response.output_item.done', output_index: 0, item: freeform },
      {
        type: 'response.completed',
        response: {
          ...responsesHead,
          status: 'completed',
          output: [freeform],
          usage: responsesUsage,
        },
      },
    ]),
    'a refusal that is cut short': numbered([
      ...begun,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...refusal, status: 'in_progress', content: [] },
      },
      {
        type: 'response.content_part.added',
        ...inItem('msg_Kk01', 0),
        content_index: 0,
        part: { type: 'refusal', refusal: '' },
      },
      { type: 'response.refusal.delta', ...inItem('msg_Kk01', 0), content_index: 0, delta: 'Kk02' },
      {
        type: 'response.refusal.delta',
        ...inItem('msg_Kk01', 0),
        content_index: 0,
        delta: ' Kk03',
      },
      {
        type: 'response.refusal.done',
        ...inItem('msg_Kk01', 0),
        content_index: 0,
        refusal: 'Kk02 Kk03',
      },
      {
        type: 'response.content_part.done',
        ...inItem('msg_Kk01', 0),
        content_index: 0,
        part: refusal.content[0],
      },
      { type: 'response.output_item.done', output_index: 0, item: refusal },
      {
        type: 'response.incomplete',
        response: {
          ...responsesHead,
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [refusal],
          usage: responsesUsage,
        },
      },
    ]),
    'raw reasoning, tools of the server and an image': numbered([
      ...begun,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'reasoning', id: 'rs_Kk01', summary: [], content: [] },
      },
      {
        type: 'response.content_part.added',
        ...inItem('rs_Kk01', 0),
        content_index: 0,
        part: { type: 'reasoning_text', text: '' },
      },
      {
        type: 'response.reasoning_text.delta',
        ...inItem('rs_Kk01', 0),
        content_index: 0,
        delta: 'Kk02',
      },
      {
        type: 'response.reasoning_text.done',
        ...inItem('rs_Kk01', 0),
        content_index: 0,
        text: 'Kk02',
      },
      {
        type: 'response.content_part.done',
        ...inItem('rs_Kk01', 0),
        content_index: 0,
        part: { type: 'reasoning_text', text: 'Kk02' },
      },
      { type: 'response.output_item.done', output_index: 0, item: rawThought },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { type: 'web_search_call', id: 'ws_Kk03', status: 'in_progress' },
      },
      { type: 'response.web_search_call.in_progress', ...inItem('ws_Kk03', 1) },
      { type: 'response.web_search_call.searching', ...inItem('ws_Kk03', 1) },
      { type: 'response.web_search_call.completed', ...inItem('ws_Kk03', 1) },
      { type: 'response.output_item.done', output_index: 1, item: search },
      {
        type: 'response.output_item.added',
        output_index: 2,
        item: { ...interpreter, status: 'in_progress', code: '', outputs: null },
      },
      { type: 'response.code_interpreter_call.in_progress', ...inItem('ci_Kk05', 2) },
      { type: 'response.code_interpreter_call_code.delta', ...inItem('ci_Kk05', 2), delta: 'Kk06' },
      { type: 'response.code_interpreter_call_code.done', ...inItem('ci_Kk05', 2), code: 'Kk06' },
      { type: 'response.code_interpreter_call.completed', ...inItem('ci_Kk05', 2) },
      { type: 'response.output_item.done', output_index: 2, item: interpreter },
      {
        type: 'response.output_item.added',
        output_index: 3,
        item: { type: 'image_generation_call', id: 'ig_Kk08', status: 'in_progress', result: null },
      },
      { type: 'response.image_generation_call.generating', ...inItem('ig_Kk08', 3) },
      {
        type: 'response.image_generation_call.partial_image',
        ...inItem('ig_Kk08', 3),
        partial_image_index: 0,
        partial_image_b64: 'AAAA',
      },
      { type: 'response.output_item.done', output_index: 3, item: image },
      {
        type: 'response.output_item.added',
        output_index: 4,
        item: { ...mcp, status: 'in_progress', arguments: '', output: null },
      },
      { type: 'response.mcp_call_arguments.delta', ...inItem('mcp_Kk10', 4), delta: mcp.arguments },
      {
        type: 'response.mcp_call_arguments.done',
        ...inItem('mcp_Kk10', 4),
        arguments: mcp.arguments,
      },
      { type: 'response.mcp_call.completed', ...inItem('mcp_Kk10', 4) },
      { type: 'response.output_item.done', output_index: 4, item: mcp },
      {
        type: 'response.completed',
        response: {
          ...responsesHead,
          status: 'completed',
          output: [rawThought, search, interpreter, image, mcp],
          usage: responsesUsage,
        },
      },
    ]),
    'a failure': numbered([
      ...begun,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...refusal, status: 'in_progress', content: [] },
      },
      {
        type: 'response.content_part.added',
        ...inItem('msg_Kk01', 0),
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      {
        type: 'response.output_text.delta',
        ...inItem('msg_Kk01', 0),
        content_index: 0,
        delta: 'Kk02',
        logprobs: [],
      },
      { type: 'error', code: 'server_error', message: 'Kk03', param: null },
      {
        type: 'response.failed',
        response: {
          ...responsesHead,
          status: 'failed',
          error: { code: 'server_error', message: 'Kk03' },
          output: [],
          usage: null,
        },
      },
    ]),
  },
  messages: {
    'thinking, cited text and calls': [
      messageStart,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      { type: 'ping' },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'thinking_delta', thinking: 'Kk01' },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'thinking_delta', thinking: ' Kk02' },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'signature_delta', signature: 'Kk03' },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'redacted_thinking', data: 'Kk04' },
      },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
      {
        type: 'content_block_delta',
        index: 2,
        delta: {
          type: 'citations_delta',
          citation: {
            type: 'web_search_result_location',
            cited_text: 'Kk05',
            url: 'https://example.org/Kk06',
            title: 'Kk07',
            encrypted_index: 'Kk08',
          },
        },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Kk09' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: ' Kk10' } },
      { type: 'content_block_stop', index: 2 },
      {
        type: 'content_block_start',
        index: 3,
        content_block: { type: 'tool_use', id: 'toolu_Kk11', name: 'run_Kk12', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 3,
        delta: { type: 'input_json_delta', partial_json: '' },
      },
      {
        type: 'content_block_delta',
        index: 3,
        delta: { type: 'input_json_delta', partial_json: '{"a":"Kk13' },
      },
      {
        type: 'content_block_delta',
        index: 3,
        delta: { type: 'input_json_delta', partial_json: ' Kk14"}' },
      },
      { type: 'content_block_stop', index: 3 },
      {
        type: 'content_block_start',
        index: 4,
        content_block: { type: 'tool_use', id: 'toolu_Kk15', name: 'run_Kk16', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 4,
        delta: { type: 'input_json_delta', partial_json: '{"b":"Kk17"}' },
      },
      { type: 'content_block_stop', index: 4 },
      messageDelta('tool_use'),
      { type: 'message_stop' },
    ],
    'tools of the server': [
      messageStart,
      {
        type: 'content_block_start',
        index: 0,
        content_block: {
          type: 'server_tool_use',
          id: 'srvtoolu_Kk01',
          name: 'web_search',
          input: {},
        },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"query":"Kk02' },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: ' Kk03"}' },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_Kk01',
          content: [
            {
              type: 'web_search_result',
              url: 'https://example.org/Kk04',
              title: 'Kk05',
              encrypted_content: 'Kk06',
              page_age: null,
            },
          ],
        },
      },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: 'Kk07' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: ' Kk08' } },
      { type: 'content_block_stop', index: 2 },
      messageDelta('end_turn'),
      { type: 'message_stop' },
    ],
    'a failure': [
      messageStart,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Kk01' } },
      {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Kk02' },
        request_id: 'req_Kk03',
      },
    ],
  },
  'generate-content': {
    'reasoning, text with sources and calls': [
      part([{ text: 'Kk01', thought: true }], {}, { usageMetadata: geminiUsage(0) }),
      part([{ text: ' Kk02', thought: true }]),
      part([{ text: 'Kk03' }]),
      part([{ text: ' Kk04' }]),
      part([], {
        groundingMetadata: {
          webSearchQueries: ['Kk05'],
          groundingChunks: [{ web: { uri: 'https://example.org/Kk06', title: 'Kk07' } }],
          groundingSupports: [
            { segment: { startIndex: 0, endIndex: 4, text: 'Kk03' }, groundingChunkIndices: [0] },
          ],
        },
      }),
      part([
        {
          functionCall: { id: 'Kk08', name: 'run_Kk09', args: { a: 'Kk10' } },
          thoughtSignature: 'Kk11',
        },
      ]),
      part([{ functionCall: { id: 'Kk12', name: 'run_Kk13', args: { b: 'Kk14' } } }]),
      part([{ text: '' }], { finishReason: 'STOP' }, { usageMetadata: geminiUsage(2) }),
    ],
    'code, an image and a signed text': [
      part([{ executableCode: { id: 'Kk01', language: 'PYTHON', code: 'Kk02' } }]),
      part([{ codeExecutionResult: { id: 'Kk01', outcome: 'OUTCOME_OK', output: 'Kk03' } }]),
      part([{ inlineData: { mimeType: 'image/png', data: 'Kk04' } }]),
      part([{ text: 'Kk05' }], {
        logprobsResult: { chosenCandidates: [{ token: 'Kk08', tokenId: 7, logProbability: -1 }] },
      }),
      part([{ text: '', thoughtSignature: 'Kk06' }]),
      part([{ text: '' }], {
        finishReason: 'MAX_TOKENS',
        finishMessage: 'Kk07',
        safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW' }],
      }),
    ],
    'two candidates': [
      {
        ...geminiHead,
        candidates: [
          { index: 0, content: { role: 'model', parts: [{ text: 'Kk01' }] } },
          { index: 1, content: { role: 'model', parts: [{ text: 'Kk02' }] } },
        ],
      },
      {
        ...geminiHead,
        candidates: [
          {
            index: 1,
            content: { role: 'model', parts: [{ text: ' Kk03' }] },
            finishReason: 'STOP',
          },
        ],
      },
      {
        ...geminiHead,
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [{ text: ' Kk04' }] },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: geminiUsage(4),
      },
    ],
    'the second of two candidates': [
      {
        ...geminiHead,
        candidates: [{ index: 1, content: { role: 'model', parts: [{ text: 'Kk01' }] } }],
      },
      {
        ...geminiHead,
        candidates: [
          {
            index: 1,
            content: { role: 'model', parts: [{ text: ' Kk02' }] },
            finishReason: 'STOP',
          },
        ],
      },
    ],
    'a call in chunks': [
      part([
        {
          functionCall: { id: 'Kk01', name: 'run_Kk02', willContinue: true },
          thoughtSignature: 'Kk03',
        },
      ]),
      part([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.a', stringValue: 'Kk04', willContinue: true }],
            willContinue: true,
          },
        },
      ]),
      part([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.a', stringValue: ' Kk05' }],
            willContinue: true,
          },
        },
      ]),
      part([
        {
          functionCall: { partialArgs: [{ jsonPath: '$.b', numberValue: 7 }], willContinue: true },
        },
      ]),
      part([{ functionCall: {} }]),
      part([{ text: '' }], { finishReason: 'STOP' }),
    ],
    'a blocked prompt': [
      {
        ...geminiHead,
        promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'Kk01', safetyRatings: [] },
        usageMetadata: geminiUsage(0),
      },
    ],
    'a failure': [
      part([{ text: 'Kk01' }]),
      { error: { code: 503, message: 'Kk02', status: 'UNAVAILABLE' } },
    ],
  },
  converse: {
    'thinking, cited text and calls': [
      { messageStart: { role: 'assistant' } },
      blockDelta(0, { reasoningContent: { text: 'Kk01' } }),
      blockDelta(0, { reasoningContent: { text: ' Kk02' } }),
      blockDelta(0, { reasoningContent: { signature: 'Kk03' } }),
      { contentBlockStop: { contentBlockIndex: 0 } },
      blockDelta(1, { reasoningContent: { redactedContent: 'S2swNA==' } }),
      { contentBlockStop: { contentBlockIndex: 1 } },
      blockDelta(2, {
        citation: {
          title: 'Kk05',
          sourceContent: [{ text: 'Kk06' }],
          location: { web: { url: 'https://example.org/Kk07' } },
        },
      }),
      blockDelta(2, { text: 'Kk09' }),
      blockDelta(2, { text: ' Kk10' }),
      { contentBlockStop: { contentBlockIndex: 2 } },
      {
        contentBlockStart: {
          contentBlockIndex: 3,
          start: { toolUse: { toolUseId: 'tooluse_Kk11', name: 'run_Kk12' } },
        },
      },
      blockDelta(3, { toolUse: { input: '' } }),
      blockDelta(3, { toolUse: { input: '{"a":"Kk13' } }),
      blockDelta(3, { toolUse: { input: ' Kk14"}' } }),
      { contentBlockStop: { contentBlockIndex: 3 } },
      { messageStop: { stopReason: 'tool_use' } },
      converseMetadata,
    ],
    'tools of the server': [
      { messageStart: { role: 'assistant' } },
      {
        contentBlockStart: {
          contentBlockIndex: 0,
          start: {
            toolUse: { toolUseId: 'srv_Kk01', name: 'nova_grounding', type: 'server_tool_use' },
          },
        },
      },
      blockDelta(0, { toolUse: { input: '{"query":"Kk02"}' } }),
      { contentBlockStop: { contentBlockIndex: 0 } },
      {
        contentBlockStart: {
          contentBlockIndex: 1,
          start: {
            toolResult: { toolUseId: 'srv_Kk01', type: 'nova_grounding_result', status: 'success' },
          },
        },
      },
      blockDelta(1, { toolResult: [{ text: 'Kk03' }] }),
      { contentBlockStop: { contentBlockIndex: 1 } },
      blockDelta(2, { text: 'Kk04' }),
      { contentBlockStop: { contentBlockIndex: 2 } },
      { messageStop: { stopReason: 'end_turn' } },
      converseMetadata,
    ],
    'a failure': [
      { messageStart: { role: 'assistant' } },
      blockDelta(0, { text: 'Kk01' }),
      { throttlingException: { message: 'Kk02' } },
    ],
  },
}
