import type { Vendor } from './vendor.ts'

export const groq = {
  name: 'groq',
  title: 'Groq',
  keyVariable: 'GROQ_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.groq.com/openai/v1',
      auth: 'bearer',
      sources: ['https://console.groq.com/docs/openai'],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://api.groq.com/openai/v1',
      auth: 'bearer',
      support: 'partial',
      sources: [
        'https://console.groq.com/docs/openai',
        'https://www.developersdigest.tech/reference/api-compatibility',
      ],
    },
  ],
  facts: [
    {
      fact: 'Schemas of tools are checked: 2020-12, and no required names without properties.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'fitting' } },
      sources: [
        'https://github.com/langchain-ai/langchain/issues/31132',
        'https://github.com/usestrix/strix/issues/1088',
      ],
    },
    {
      fact: 'logprobs, logit_bias, top_logprobs, names of messages and more than one candidate are refused.',
      protocols: ['chat-completions'],
      refuses: ['logprobs', 'logit_bias', 'top_logprobs', 'n', 'messages.*.name'],
      sources: ['https://console.groq.com/docs/openai'],
    },
    {
      fact: 'Reasoning is sent in `reasoning`.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: ['https://console.groq.com/docs/openai'],
    },
    {
      fact: 'Most models have no levels of reasoning.',
      protocols: ['chat-completions'],
      options: { efforts: '' },
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
    },
    {
      fact: 'Qwen 3 reasons or does not.',
      protocols: ['chat-completions'],
      models: ['qwen3*'],
      options: { efforts: 'none default' },
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
    },
  ],
} as const satisfies Vendor
