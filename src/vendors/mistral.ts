import type { Vendor } from './vendor.ts'

export const mistral = {
  name: 'mistral',
  title: 'Mistral AI',
  keyVariable: 'MISTRAL_API_KEY',
  endpoints: [{ protocol: 'chat-completions', baseUrl: 'https://api.mistral.ai/v1', auth: 'bearer', sources: ['https://github.com/vercel/ai/tree/ed857f50f'] }],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { instructionsRole: 'system' },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f', 'https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { ccMaxTokensField: 'max_tokens' },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f', 'https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'Ids of tool calls have nine letters and digits.',
      options: { mistralIds: true },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f', 'https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'Unknown fields are refused.',
      options: { ccOptionalFields: 'drop', ccTopK: 'drop' },
      refuses: ['stream_options', 'logit_bias', 'logprobs', 'top_logprobs', 'user', 'service_tier'],
      sources: ['https://github.com/vercel/ai/tree/ed857f50f', 'https://github.com/NousResearch/hermes-agent/issues/11243'],
    },
    {
      fact: 'Reasoning is sent as `thinking` parts of the content, and not read from other fields.',
      options: { ccReasoningInHistory: 'never' },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
  ],
} as const satisfies Vendor
