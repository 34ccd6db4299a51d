import { digest, templates } from './sources.ts'
import type { Vendor } from './vendor.ts'

const vllmSource = { date: '2026-11-23', url: 'https://github.com/vllm-project/vllm/tree/0001948b' }
const leaks = { date: '2026-06-26', url: 'https://github.com/vllm-project/vllm/issues/46863' }

export const vllm = {
  name: 'vllm',
  title: 'vLLM',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:8000/v1',
      auth: 'none',
      sources: [digest],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:8000',
      auth: 'none',
      sources: [vllmSource, digest],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:8000/v1',
      auth: 'none',
      support: 'partial',
      sources: [digest],
    },
  ],
  facts: [
    {
      fact: 'Calls of tools may come as text, where a model or its template and the parser differ.',
      capabilities: { leaksToolCalls: true },
      sources: [leaks],
    },
    {
      fact: 'Chat templates decide about system messages; most accept one, at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: [templates],
    },
    {
      fact: 'The same templates serve messages: a system message inside the conversation is refused.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: [templates],
    },
    {
      fact: 'Reasoning is sent in `reasoning`, and read there.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: [vllmSource],
    },
    {
      fact: 'Sampling fields beyond the protocol are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { topK: 'write' } },
      sources: [vllmSource],
    },
    {
      fact: 'Reasoning is switched in the chat template.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'template' } },
      sources: [vllmSource],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: [vllmSource],
    },
    {
      fact: 'Over messages, a budget of thinking tokens needs a reasoning parser on the server.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'thinking-budget' },
      sources: [vllmSource],
    },
  ],
  // In a stream, this comes behind a status of 200.
  requestFaults: {
    words: ['thinking_token_budget is set but reasoning_config is not configured'],
    sources: [vllmSource],
  },
} as const satisfies Vendor
