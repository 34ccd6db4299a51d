import { expect, test } from 'vitest'
import type * as chat from '../../src/protocols/chat-completions/written.ts'
import type * as gemini from '../../src/protocols/generate-content/written.ts'
import type * as messages from '../../src/protocols/messages/written.ts'
import type * as responses from '../../src/protocols/responses/written.ts'

// What the encoders write. Each value has one misspelled key, which must not compile; the compiler
// is the test.

test('messages: a misspelled key does not compile', () => {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const block: messages.MessagesWrittenBlock = { type: 'text', text: '' }
  const body: messages.MessagesBody[] = [
    // @ts-expect-error
    { messages: [], max_token: 1 },
    // @ts-expect-error
    { messages: [{ role: 'user', content: [], contents: [] }] },
    {
      messages: [
        {
          role: 'user',
          // @ts-expect-error
          content: [{ type: 'text', text: '', cache_contrl: { type: 'ephemeral' } }],
        },
      ],
    },
    // @ts-expect-error
    { messages: [], tools: [{ name: 'f', input_schemas: {} }] },
    // @ts-expect-error
    { messages: [], tool_choice: { type: 'auto', disable_parallel: true } },
  ]
  const response: messages.MessagesWrittenResponse[] = [
    // @ts-expect-error
    { type: 'message', role: 'assistant', content: [block], usage, stop_raeson: null },
    // @ts-expect-error
    { type: 'message', role: 'assistant', content: [block], usage: { ...usage, cache_reads: 1 } },
  ]
  const event: messages.MessagesWrittenEvent[] = [
    // @ts-expect-error
    { type: 'content_block_start', index: 0, block },
    // @ts-expect-error
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', txt: '' } },
    // @ts-expect-error
    { type: 'ping', index: 0 },
    // @ts-expect-error
    { type: 'message_strt' },
  ]
  const error: messages.MessagesErrorBody = {
    type: 'error',
    // @ts-expect-error
    error: { type: '', message: '', detail: 1 },
  }
  expect([body, response, event, error].flat()).toHaveLength(12)
})

test('chat-completions: a misspelled key does not compile', () => {
  const head = { id: '', created: 0, model: '' }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const chunk = { ...head, object: 'chat.completion.chunk' } as const
  const body: chat.ChatCompletionsBody[] = [
    // @ts-expect-error
    { messages: [], max_token: 1 },
    // @ts-expect-error
    { messages: [{ role: 'user', contents: '' }] },
    // @ts-expect-error
    { messages: [{ role: 'user', content: [{ type: 'text', txt: '' }] }] },
    // @ts-expect-error
    { messages: [], tools: [{ type: 'function', function: { name: 'f', parameter: {} } }] },
    // @ts-expect-error
    { messages: [], tool_choice: { type: 'function', function: { nam: 'f' } } },
    {
      messages: [
        {
          role: 'assistant',
          // @ts-expect-error
          tool_calls: [{ id: '', type: 'function', function: { name: 'f', args: '' } }],
        },
      ],
    },
  ]
  const response: chat.ChatCompletionsWrittenResponse[] = [
    // @ts-expect-error
    { ...head, object: 'chat.completion', choices: [], usages: usage },
    {
      ...head,
      object: 'chat.completion',
      // @ts-expect-error
      choices: [{ index: 0, message: { role: 'assistant', reasoning_contents: '' } }],
    },
    {
      ...head,
      object: 'chat.completion',
      choices: [],
      // @ts-expect-error
      usage: { ...usage, prompt_token_details: {} },
    },
  ]
  const event: chat.ChatCompletionsWire['event'][] = [
    // @ts-expect-error
    { ...chunk, choices: [{ index: 0, delta: { contents: '' }, finish_reason: null }] },
    {
      ...chunk,
      choices: [
        // @ts-expect-error
        { index: 0, delta: { tool_calls: [{ index: 0, functions: {} }] }, finish_reason: null },
      ],
    },
    // @ts-expect-error
    { ...chunk, choice: [] },
    // @ts-expect-error
    '[END]',
  ]
  const error: chat.ChatCompletionsErrorBody = {
    // @ts-expect-error
    error: { message: '', type: '', param: null, codes: null },
  }
  expect([body, response, event, error].flat()).toHaveLength(14)
})

test('generate-content: a misspelled key does not compile', () => {
  const body: gemini.GenerateContentBody[] = [
    // @ts-expect-error
    { contents: [], systemInstructions: { parts: [] } },
    // @ts-expect-error
    { contents: [{ role: 'user', part: [] }] },
    // @ts-expect-error
    { contents: [{ role: 'user', parts: [{ inlineDatas: { data: '' } }] }] },
    // @ts-expect-error
    { contents: [{ role: 'user', parts: [{ functionCall: { name: 'f', arg: {} } }] }] },
    // @ts-expect-error
    { contents: [], tools: [{ functionDeclarations: [{ name: 'f', parameter: {} }] }] },
    // @ts-expect-error
    { contents: [], toolConfig: { functionCallingConfig: { modus: 'ANY' } } },
    // @ts-expect-error
    { contents: [], generationConfig: { maxOutputToken: 1 } },
  ]
  const response: gemini.GenerateContentWrittenResponse[] = [
    // @ts-expect-error
    { candidate: [] },
    // @ts-expect-error
    { candidates: [{ index: 0, finishReasons: 'STOP' }] },
    // @ts-expect-error
    { usageMetadata: { promptTokenCounts: 1 } },
  ]
  const event: gemini.GenerateContentWire['event'][] = [
    // @ts-expect-error
    { candidates: [{ index: 0, content: { role: 'model', parts: [{ txt: '' }] } }] },
    // @ts-expect-error
    { modelVersions: '' },
  ]
  // @ts-expect-error
  const error: gemini.GenerateContentErrorBody = { error: { code: 500, message: '', statuses: '' } }
  expect([body, response, event, error].flat()).toHaveLength(13)
})

test('responses: a misspelled key does not compile', () => {
  const place = { sequence_number: 0, item_id: '', output_index: 0 }
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  }
  const whole: responses.ResponsesWrittenResponse = {
    object: 'response',
    id: '',
    created_at: 0,
    model: '',
    status: 'completed',
    output: [],
    service_tier: 'default',
    completed_at: null,
    error: null,
    incomplete_details: null,
    usage,
  }
  const body: responses.ResponsesBody[] = [
    // @ts-expect-error
    { input: [], max_output_token: 1 },
    // @ts-expect-error
    { input: [{ type: 'message', role: 'user', contents: '' }] },
    // @ts-expect-error
    { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', txt: '' }] }] },
    // @ts-expect-error
    { input: [{ type: 'function_call', call_id: '', name: 'f', argument: '' }] },
    // @ts-expect-error
    { input: [], tools: [{ type: 'function', name: 'f', parameter: {} }] },
    // @ts-expect-error
    { input: [], text: { format: { type: 'json_schema', name: '', schemas: {} } } },
  ]
  const response: responses.ResponsesWrittenResponse[] = [
    // @ts-expect-error
    { ...whole, outputs: [] },
    // @ts-expect-error
    { ...whole, usage: { ...usage, input_token: 1 } },
  ]
  const event: responses.ResponsesWire['event'][] = [
    // @ts-expect-error
    { type: 'response.output_text.delta', ...place, content_index: 0, deltas: '', logprobs: [] },
    // @ts-expect-error
    { type: 'response.output_item.added', sequence_number: 0, output_index: 0, items: {} },
    // @ts-expect-error
    { type: 'response.complete', sequence_number: 0, response: whole },
    // @ts-expect-error
    '[END]',
  ]
  const error: responses.ResponsesErrorBody = {
    // @ts-expect-error
    error: { message: '', type: '', param: null, codes: null },
  }
  expect([body, response, event, error].flat()).toHaveLength(13)
})
