import { aiSdk, modelsDev, opencodex, optionalFields, pi } from './sources.ts'
import type { Vendor } from './vendor.ts'

export const huggingface = {
  name: 'huggingface',
  title: 'Hugging Face',
  keyVariable: 'HF_TOKEN',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://router.huggingface.co/v1',
      auth: 'bearer',
      sources: [modelsDev, opencodex],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://router.huggingface.co/v1',
      auth: 'bearer',
      support: 'partial',
      sources: [aiSdk],
    },
  ],
  facts: [
    {
      fact: 'Only some of the providers behind accept the role `developer`; all accept `system`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [pi],
    },
    {
      fact: 'Bodies reach the provider behind, some of which refuse optional fields.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { optionalFields: 'drop' } },
      refuses: [
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
      ],
      sources: [optionalFields],
    },
  ],
} as const satisfies Vendor
