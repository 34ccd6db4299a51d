import type { Vendor } from './vendor.ts'

export const ollama = {
  name: 'ollama',
  title: 'Ollama',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:11434/v1',
      auth: 'none',
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:11434',
      auth: 'none',
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:11434/v1',
      auth: 'none',
      support: 'partial',
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
  ],
  facts: [
    {
      fact: 'Calls of tools may come as text, where a model or its template and the parser differ.',
      capabilities: { leaksToolCalls: true },
      sources: ['https://github.com/ollama/ollama/issues/16686'],
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
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      fact: 'Reasoning is sent in `reasoning`, and read there.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      fact: 'Chat templates decide about system messages, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'Over messages, the format of the output is ignored.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'format' },
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      fact: 'Over messages, the choice of a tool is ignored.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'tool-choice' },
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      fact: 'There is no `tool_choice` (openai/openai.go).',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'omit' } },
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      fact: 'Images are read as data, not fetched.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { imageUrls: 'text' } },
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
    },
  ],
  // Images for a model without vision, and schemas that do not compile (llm/server.go, model/model.go).
  requestFaults: {
    words: [
      'this model is missing data required for image input',
      'invalid JSON schema in format',
      'invalid format:',
      'Failed to initialize samplers',
      'failed to parse grammar',
    ],
    sources: ['https://github.com/ollama/ollama/tree/fb3076099'],
  },
} as const satisfies Vendor
