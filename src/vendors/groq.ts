import type { Vendor } from './vendor.ts'

export const groq = {
  name: 'groq',
  title: 'Groq',
  keyVariable: 'GROQ_API_KEY',
  endpoints: [
    { protocol: 'chat-completions', baseUrl: 'https://api.groq.com/openai/v1', auth: 'bearer', sources: ['https://console.groq.com/docs/openai'] },
    {
      protocol: 'responses',
      baseUrl: 'https://api.groq.com/openai/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://console.groq.com/docs/openai', 'https://www.developersdigest.tech/reference/api-compatibility'],
    },
  ],
  facts: [
    {
      fact: 'logprobs, logit_bias, top_logprobs and names of messages are refused.',
      protocols: ['chat-completions'],
      refuses: ['logprobs', 'logit_bias', 'top_logprobs'],
      sources: ['https://console.groq.com/docs/openai'],
    },
    {
      fact: 'Reasoning is sent in `reasoning`.',
      protocols: ['chat-completions'],
      options: { ccReasoning: 'reasoning' },
      sources: ['https://console.groq.com/docs/openai'],
    },
  ],
} as const satisfies Vendor
