import { aiSdk, pi } from './sources.ts'
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
      sources: [aiSdk],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not sent by clients that know the vendor; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [pi],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [aiSdk],
    },
    {
      fact: 'Tools are not accepted.',
      refuses: ['tools', 'tool_choice', 'parallel_tool_calls'],
      sources: [aiSdk],
    },
    {
      fact: 'Seeds and stop sequences are not accepted.',
      refuses: ['seed', 'stop'],
      sources: [aiSdk],
    },
  ],
} as const satisfies Vendor
