import type { Vendor } from './vendor.ts'

export const litellm = {
  name: 'litellm',
  title: 'LiteLLM',
  keyVariable: 'LITELLM_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:4000/v1',
      auth: 'bearer',
      sources: [
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
        'https://github.com/BerriAI/litellm-docs/tree/ef86ded8',
      ],
    },
    {
      // Its form is that of whatever runs the model.
      protocol: 'responses',
      baseUrl: 'http://localhost:4000/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://github.com/BerriAI/litellm-docs/tree/ef86ded8'],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:4000',
      auth: 'bearer',
      sources: ['https://github.com/BerriAI/litellm-docs/tree/ef86ded8'],
    },
  ],
  facts: [
    {
      fact: 'Reasoning is sent in `reasoning_content` and `thinking_blocks`; cache marks are read from `cache_control`.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning_content', cacheMarks: 'cache_control' },
      },
      sources: ['https://github.com/BerriAI/litellm-docs/tree/ef86ded8'],
    },
    {
      fact: 'A field that the target does not know is an error.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { optionalFields: 'drop' } },
      refuses: [
        'store',
        'safety_identifier',
        'prompt_cache_retention',
        'logit_bias',
        'service_tier',
      ],
      sources: ['https://github.com/BerriAI/litellm-docs/tree/ef86ded8'],
    },
  ],
} as const satisfies Vendor
