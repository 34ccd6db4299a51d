import type { Vendor } from './vendor.ts'

export const perplexity = {
  name: 'perplexity',
  title: 'Perplexity',
  keyVariable: 'PERPLEXITY_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.perplexity.ai',
      auth: 'bearer',
      addVersion: false,
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not sent by clients that know the vendor; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      fact: 'Tools are not accepted.',
      refuses: ['tools', 'tool_choice', 'parallel_tool_calls'],
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      fact: 'Seeds and stop sequences are not accepted.',
      refuses: ['seed', 'stop'],
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
  ],
} as const satisfies Vendor
