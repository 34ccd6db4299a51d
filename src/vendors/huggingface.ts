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
      sources: ['https://github.com/anomalyco/models.dev/tree/f3fc69229', 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1'],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://router.huggingface.co/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
  ],
  facts: [],
} as const satisfies Vendor
