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
      sources: [
        'https://github.com/anomalyco/models.dev/tree/f3fc69229',
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
      ],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://router.huggingface.co/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
  ],
  facts: [
    {
      fact: 'Only some of the providers behind accept the role `developer`; all accept `system`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
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
      sources: ['https://github.com/huggingface/huggingface.js/issues/2268'],
    },
  ],
} as const satisfies Vendor
