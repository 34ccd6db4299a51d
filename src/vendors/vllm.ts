import type { Vendor } from './vendor.ts'

export const vllm = {
  name: 'vllm',
  title: 'vLLM',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:8000/v1',
      auth: 'none',
      sources: ['https://www.developersdigest.tech/reference/api-compatibility'],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:8000',
      auth: 'none',
      sources: [
        'https://github.com/vllm-project/vllm/tree/0001948b',
        'https://www.developersdigest.tech/reference/api-compatibility',
      ],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:8000/v1',
      auth: 'none',
      support: 'partial',
      sources: ['https://www.developersdigest.tech/reference/api-compatibility'],
    },
  ],
  facts: [
    {
      fact: 'Calls of tools may come as text, where a model or its template and the parser differ.',
      capabilities: { leaksToolCalls: true },
      sources: ['https://github.com/vllm-project/vllm/issues/28297'],
    },
    {
      fact: 'Chat templates decide about system messages; most accept one, at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'The same templates serve messages: a system message inside the conversation is refused.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'Reasoning is sent in `reasoning`, and read there.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: ['https://github.com/vllm-project/vllm/tree/0001948b'],
    },
    {
      fact: 'Sampling fields beyond the protocol are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { topK: 'write' } },
      sources: ['https://github.com/vllm-project/vllm/tree/0001948b'],
    },
    {
      fact: 'Reasoning is switched in the chat template.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'template' } },
      sources: ['https://github.com/vllm-project/vllm/tree/0001948b'],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: ['https://github.com/vllm-project/vllm/tree/0001948b'],
    },
    {
      fact: 'Over messages, a budget of thinking tokens needs a reasoning parser on the server.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'thinking-budget' },
      sources: ['https://github.com/vllm-project/vllm/tree/0001948b'],
    },
  ],
  // In a stream, this comes behind a status of 200.
  requestFaults: {
    words: ['thinking_token_budget is set but reasoning_config is not configured'],
    sources: ['https://github.com/vllm-project/vllm/tree/0001948b'],
  },
} as const satisfies Vendor
