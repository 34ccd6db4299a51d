import { expect, test } from 'vitest'
import type * as messages from '../../src/protocols/messages/schema.ts'

// What the encoders write. Each value has one misspelled key, which must not compile; the compiler is the test.

test('messages: a misspelled key does not compile', () => {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const block: messages.MessagesWrittenBlock = { type: 'text', text: '' }
  const body: messages.MessagesBody[] = [
    // @ts-expect-error
    { messages: [], max_token: 1 },
    // @ts-expect-error
    { messages: [{ role: 'user', content: [], contents: [] }] },
    // @ts-expect-error
    { messages: [{ role: 'user', content: [{ type: 'text', text: '', cache_contrl: { type: 'ephemeral' } }] }] },
    // @ts-expect-error
    { messages: [], tools: [{ name: 'f', input_schemas: {} }] },
    // @ts-expect-error
    { messages: [], tool_choice: { type: 'auto', disable_parallel: true } },
  ]
  const reply: messages.MessagesReply[] = [
    // @ts-expect-error
    { type: 'message', role: 'assistant', content: [block], usage, stop_raeson: null },
    // @ts-expect-error
    { type: 'message', role: 'assistant', content: [block], usage: { ...usage, cache_reads: 1 } },
  ]
  const event: messages.MessagesEvent[] = [
    // @ts-expect-error
    { type: 'content_block_start', index: 0, block },
    // @ts-expect-error
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', txt: '' } },
    // @ts-expect-error
    { type: 'ping', index: 0 },
    // @ts-expect-error
    { type: 'message_strt' },
  ]
  // @ts-expect-error
  const error: messages.MessagesErrorBody = { type: 'error', error: { type: '', message: '', detail: 1 } }
  expect([body, reply, event, error].flat()).toHaveLength(12)
})
