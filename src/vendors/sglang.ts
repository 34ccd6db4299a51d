import type { Vendor } from './vendor.ts'

export const sglang = {
  name: 'sglang',
  title: 'SGLang',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:30000/v1',
      auth: 'none',
      sources: ['https://github.com/sgl-project/sglang'],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:30000',
      auth: 'none',
      support: 'partial',
      sources: ['https://github.com/sgl-project/sglang'],
    },
  ],
  facts: [
    {
      fact: 'Calls of tools may come as text, where a model or its template and the parser differ.',
      capabilities: { leaksToolCalls: true },
      sources: ['https://github.com/MoonshotAI/Kimi-K2/issues/26'],
    },
    {
      fact: 'Chat templates decide about system messages; most accept one, at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningField: 'reasoning_content' } },
      sources: ['https://github.com/sgl-project/sglang'],
    },
    {
      fact: 'Reasoning is switched in the chat template.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'template' } },
      sources: ['https://github.com/sgl-project/sglang'],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: ['https://github.com/sgl-project/sglang'],
    },
  ],
} as const satisfies Vendor
