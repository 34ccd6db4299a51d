// Typical values by the names of fields, which are the same in every protocol.

const ids = ['call_a', 'call_b', 'call_c', 'toolu_01', 'x'.repeat(50), 'with space', '']
/** Typical texts. */
const words: Record<string, readonly unknown[]> = {
  id: [...ids, 'msg_1', 'rs_1'],
  call_id: ids,
  tool_call_id: ids,
  tool_use_id: ids,
  toolUseId: ids,
  name: ['lookup', 'run', 'get-weather', 'a.b:c', 'n'.repeat(80)],
  arguments: ['{"q":"x"}', '{}', '', '{"a":[1,2.5,null]}', '{"broken'],
  input: ['{"q":"x"}', 'raw text'],
  url: [
    'https://example.org/a.png',
    'http://example.org/b.pdf',
    'data:image/png;base64,iVBORw0=',
    'DATA:image/jpg;x=y;base64,/9j/',
  ],
  image_url: [
    'https://example.org/a.png',
    'data:image/png;base64,iVBORw0=',
    'data:image/gif,GIF89a%00',
  ],
  file_url: ['https://example.org/b.pdf'],
  file_data: ['data:application/pdf;base64,JVBERi0=', 'data:;base64,JVBERi0=', 'JVBERi0='],
  data: ['iVBORw0=', 'JVBERi0=', 'plain'],
  media_type: ['image/png', 'image/jpeg', 'application/pdf', 'text/plain'],
  format: ['wav', 'mp3'],
  detail: ['auto', 'low', 'high', 'original'],
  effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  reasoning_effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  summary: ['auto', 'concise', 'detailed'],
  verbosity: ['low', 'medium', 'high'],
  service_tier: ['auto', 'default', 'flex', 'priority', 'standard', 'standard_only'],
  role: ['user', 'assistant', 'system', 'developer', 'tool'],
  status: ['completed', 'in_progress', 'incomplete'],
  phase: ['commentary', 'final_answer'],
  finish_reason: ['stop', 'length', 'tool_calls', 'content_filter'],
  stopReason: ['end_turn', 'max_tokens', 'tool_use', 'stop_sequence', 'content_filtered'],
  stop_reason: ['end_turn', 'max_tokens', 'tool_use', 'stop_sequence', 'refusal'],
  tool_choice: ['auto', 'none', 'required'],
  ttl: ['5m', '30m', '1h', '12h'],
  model: ['some-model'],
  display: ['summarized', 'omitted'],
  mode: ['auto', 'required', 'implicit', 'explicit'],
  syntax: ['lark', 'regex'],
  object: ['response', 'chat.completion'],
  reason: ['max_output_tokens', 'content_filter', 'max_messages', 'steered'],
  finishReason: [
    'STOP',
    'MAX_TOKENS',
    'SAFETY',
    'RECITATION',
    'BLOCKLIST',
    'MALFORMED_FUNCTION_CALL',
    'OTHER',
  ],
  blockReason: ['SAFETY', 'OTHER'],
  mimeType: ['image/png', 'application/pdf', 'audio/wav', 'text/plain'],
  fileUri: [
    'https://example.org/a.png',
    'https://generativelanguage.googleapis.com/v1beta/files/abc',
    'gs://bucket/a.mp4',
  ],
  thoughtSignature: ['c2lnbmF0dXJl'],
  serviceTier: ['standard', 'flex', 'priority'],
  thinkingLevel: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
  responseMimeType: ['text/plain', 'application/json', 'text/x.enum'],
  modality: ['TEXT', 'AUDIO', 'IMAGE'],
  createTime: ['2026-08-11T15:32:56.290994Z', '2026-08-11T15:33:07Z'],
  toolType: ['GOOGLE_SEARCH_WEB', 'URL_CONTEXT'],
  outcome: ['OUTCOME_OK', 'OUTCOME_FAILED'],
}

/** Typical values for keys that the schema does not restrict. */
const values: Record<string, readonly unknown[]> = {
  usage: [
    { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    {
      prompt_tokens: 9,
      completion_tokens: 5,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
    {
      input_tokens: 9,
      output_tokens: 5,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 0,
    },
    {
      inputTokens: 9,
      outputTokens: 5,
      totalTokens: 17,
      cacheReadInputTokens: 3,
      cacheWriteInputTokens: 0,
    },
  ],
  object: ['response', 'chat.completion'],
  created: [0, 1_700_000_000],
  function_call: ['auto', 'none', { name: 'lookup' }],
  annotations: [
    {
      type: 'url_citation',
      url_citation: {
        start_index: 0,
        end_index: 1,
        title: 'title 123456',
        url: 'https://example.org/234567',
      },
    },
  ],
  moderation: [{ model: 'omni 345678' }],
  output_schema: [{ type: 'object' }],
  ttl: ['5m', '1h'],
  conversation: ['conv_456789', { id: 'conv_456789' }],
  prompt: [{ id: 'pmpt_567890', version: '2' }],
  context_management: [[{ type: 'compaction', compact_threshold: 678901 }]],
  container: ['container_789012', { id: 'container_789012' }],
  caller: [{ type: 'direct' }],
  voice: ['alloy'],
  web_search_options: [{ search_context_size: 'low' }],
  audio: [{ voice: 'alloy', format: 'wav' }],
  // Loose objects of zod drop an own key `__proto__`.
  thinking: [
    { type: 'adaptive' },
    { type: 'enabled', budget_tokens: 2048 },
    { type: 'auto', x_extra: 1 },
    true,
  ],
  logprobs: [
    null,
    { content: [{ token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] }], refusal: null },
  ],
}

const numbers: Record<string, readonly number[]> = {
  temperature: [0, 0.7, 1, 1.5],
  top_p: [0.9, 1],
  n: [1, 2],
  index: [0],
  budget_tokens: [0, 512, 1024, 4096],
  created: [0, 1_700_000_000],
  created_at: [0, 1_700_000_000],
}

const own = <T>(table: Record<string, readonly T[]>, key: string): readonly T[] =>
  Object.hasOwn(table, key) ? (table[key] ?? []) : []

/** Texts for a key of this name. Empty: none are typical. */
export const wordsOf = (key: string): readonly unknown[] => own(words, key)

/**
 * Values of any kind for a key of this name that its schema does not restrict. Empty: none are
 * typical.
 */
export const valuesFor = (key: string): readonly unknown[] => own(values, key)

/** Numbers for a key of this name. Empty: none are typical. */
export const numbersOf = (key: string): readonly number[] => own(numbers, key)
