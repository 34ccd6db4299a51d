import { opencodex } from './sources.ts'
import type { Vendor } from './vendor.ts'

const litellmDocs = {
  date: '2026-05-02',
  url: 'https://github.com/BerriAI/litellm-docs/tree/ef86ded8',
}

export const litellm = {
  name: 'litellm',
  title: 'LiteLLM',
  keyVariable: 'LITELLM_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:4000/v1',
      auth: 'bearer',
      sources: [opencodex, litellmDocs],
    },
    {
      // Its form is that of whatever runs the model.
      protocol: 'responses',
      baseUrl: 'http://localhost:4000/v1',
      auth: 'bearer',
      support: 'partial',
      sources: [litellmDocs],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:4000',
      auth: 'bearer',
      sources: [litellmDocs],
    },
  ],
  facts: [
    {
      fact: 'Reasoning is sent in `reasoning_content` and `thinking_blocks`; cache marks are read from `cache_control`.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning_content', cacheMarks: 'cache_control' },
      },
      sources: [litellmDocs],
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
      sources: [litellmDocs],
    },
  ],
} as const satisfies Vendor
