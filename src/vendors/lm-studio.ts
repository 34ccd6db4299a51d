import type { Vendor } from './vendor.ts'

export const lmStudio = {
  name: 'lm-studio',
  title: 'LM Studio',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:1234/v1',
      auth: 'none',
      sources: ['https://github.com/lmstudio-ai/docs/tree/c6854fb'],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:1234/v1',
      auth: 'none',
      tools: ['function', 'mcp'],
      sources: ['https://github.com/lmstudio-ai/docs/tree/c6854fb'],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:1234',
      auth: 'none',
      sources: ['https://github.com/lmstudio-ai/docs/tree/c6854fb'],
    },
  ],
  facts: [
    {
      fact: 'Calls of tools may come as text, where a model or its template and the parser differ.',
      capabilities: { leaksToolCalls: true },
      sources: ['https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2115'],
    },
    {
      fact: 'Chat templates decide about system messages; most accept one, at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: ['https://github.com/lmstudio-ai/docs/tree/c6854fb'],
    },
    {
      fact: 'Chat templates decide about system messages, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'There is JSON Schema, but no JSON without one.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_schema' } },
      sources: ['https://github.com/lmstudio-ai/docs/tree/c6854fb'],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: ['https://github.com/lmstudio-ai/docs/tree/c6854fb'],
    },
  ],
} as const satisfies Vendor
