import { describe, expect, test } from 'vitest'
import { type Covered, covered } from '../support/covered.ts'
import { received, reported, user, type Wire } from './asking.ts'
import { others } from './support.ts'

/** What a client says although it says nothing: the value that holds without it, too. */
const neutral: Record<Covered, Wire[]> = {
  'chat-completions': [
    { temperature: 1 },
    { top_p: 1 },
    { top_k: 0 },
    { top_k: -1 },
    { max_tokens: -1 },
    { max_completion_tokens: -1 },
    { min_p: 0 },
    { repetition_penalty: 1 },
    { frequency_penalty: 0 },
    { presence_penalty: 0 },
    { logit_bias: {} },
    { logprobs: false },
    { top_logprobs: 0 },
    { n: 1 },
    { metadata: {} },
    { stop: [] },
    { tools: [] },
    { functions: [] },
    { tool_choice: 'auto' },
    { tool_choice: 'none' },
    { parallel_tool_calls: true },
    { response_format: { type: 'text' } },
    { verbosity: 'medium' },
    { modalities: ['text'] },
    { store: false },
    { stream: false },
    { stream_options: {} },
    { stream: true, stream_options: { include_usage: true, include_obfuscation: true } },
    { stream: true, stream_options: { include_usage: false } },
    { service_tier: 'auto' },
    { prompt_cache_options: {} },
    { prompt_cache_options: { mode: 'implicit' } },
    { user: '' },
    { safety_identifier: '' },
    { prompt_cache_key: '' },
  ],
  responses: [
    { temperature: 1 },
    { top_p: 1 },
    { max_output_tokens: -1 },
    { presence_penalty: 0 },
    { frequency_penalty: 0 },
    { top_logprobs: 0 },
    { truncation: 'disabled' },
    { background: false },
    { store: false },
    { include: [] },
    { metadata: {} },
    { tools: [] },
    { tool_choice: 'auto' },
    { parallel_tool_calls: true },
    { text: {} },
    { text: { format: { type: 'text' }, verbosity: 'medium' } },
    { reasoning: {} },
    { reasoning: { context: 'auto' } },
    { reasoning: { mode: 'standard' } },
    { service_tier: 'auto' },
    { stream: false },
    { stream: true, stream_options: { include_obfuscation: true } },
    { stream_options: {} },
    { prompt_cache_options: { mode: 'implicit' } },
    { context_management: [] },
    { user: '' },
  ],
  messages: [
    { temperature: 1 },
    { top_p: 1 },
    { stop_sequences: [] },
    { tools: [] },
    { tool_choice: { type: 'auto' } },
    { tool_choice: { type: 'none' } },
    { tool_choice: { type: 'auto', disable_parallel_tool_use: false } },
    { metadata: {} },
    { stream: false },
    { service_tier: 'auto' },
    { speed: 'standard' },
    { output_config: {} },
    { context_management: {} },
    { context_management: { edits: [] } },
    { system: [] },
  ],
  'generate-content': [
    { tools: [] },
    { toolConfig: {} },
    { toolConfig: { functionCallingConfig: {} } },
    { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } },
    { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    { safetySettings: [] },
    { systemInstruction: { parts: [] } },
    { labels: {} },
    { generationConfig: {} },
    { generationConfig: { temperature: 1 } },
    { generationConfig: { candidateCount: 1 } },
    { generationConfig: { topK: 0, maxOutputTokens: -1 } },
    { generationConfig: { stopSequences: [] } },
    { generationConfig: { responseMimeType: 'text/plain' } },
    { generationConfig: { responseModalities: ['TEXT'] } },
    { generationConfig: { frequencyPenalty: 0 } },
    { generationConfig: { presencePenalty: 0 } },
    { generationConfig: { responseLogprobs: false } },
    { generationConfig: { thinkingConfig: {} } },
  ],
}
const asks: Record<Covered, Wire> = {
  'chat-completions': { messages: [user('x')] },
  messages: { messages: [user('x')] },
  responses: { input: 'x' },
  'generate-content': { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
}

/** Every key with nothing in it: clients that write all of a form send it so. */
const nothing: Record<Covered, string[]> = {
  'chat-completions':
    'audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options'.split(
      ' ',
    ),
  responses:
    'background context_management conversation include instructions max_output_tokens max_tool_calls metadata moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user'.split(
      ' ',
    ),
  messages:
    'container context_management diagnostics metadata output_config service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p'.split(
      ' ',
    ),
  'generate-content': [
    'tools',
    'toolConfig',
    'safetySettings',
    'systemInstruction',
    'generationConfig',
    'cachedContent',
    'labels',
  ],
}

describe.each(covered)('%s', from => {
  const message = [...neutral[from], ...nothing[from].map(key => ({ [key]: null }))].map(
    more => [JSON.stringify(more), more] as const,
  )
  test.each(message)('%s drops nothing, so there is no note', (_, more) => {
    for (const to of others(from)) {
      const { notes, faults } = reported(from, to, { ...asks[from], ...more })
      expect({ to, notes, faults }).toEqual({ to, notes: [], faults: [] })
    }
  })
})

test.each<[from: Covered, more: Wire]>([
  ['chat-completions', { max_tokens: -1 }],
  ['chat-completions', { max_completion_tokens: -1 }],
  ['responses', { max_output_tokens: -1 }],
])('%s: drops a limit of -1', (from, more) => {
  const without = (to: Covered, body: Wire) => received(from, to, { ...asks[from], ...body }).body
  for (const to of others(from))
    expect({ to, body: without(to, more) }).toEqual({ to, body: without(to, {}) })
})

// Servers of messages refuse it with 400: a client that sends it gets a note that it had no effect.
test.each([-1, -7])('messages: drops a limit of %i with a note', max_tokens => {
  for (const to of others('messages')) {
    const { body, notes } = received('messages', to, { ...asks.messages, max_tokens })
    const without = received('messages', to, { ...asks.messages, max_tokens: undefined })
    expect({ to, body, notes }).toEqual({
      to,
      body: without.body,
      notes: ['dropped /max_tokens field.unknown', ...without.notes],
    })
  }
})

test.each<[to: Covered, model: string, notes: string[]]>([
  ['chat-completions', 'm-1', []],
  ['responses', 'm-1', []],
  ['generate-content', 'gemini-2.5-flash', []],
  ['generate-content', 'm-1', ['approximated /thinking/type reasoning.effort']],
])(
  'keeps thinking off, and sends the lowest effort to models that always think: %s with %s',
  (to, model, notes) => {
    expect(
      reported('messages', to, { ...asks.messages, model, thinking: { type: 'disabled' } }).notes,
    ).toEqual(notes)
  },
)
