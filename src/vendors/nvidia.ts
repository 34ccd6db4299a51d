import type { Vendor } from './vendor.ts'

export const nvidia = {
  name: 'nvidia',
  title: 'NVIDIA NIM',
  keyVariable: 'NVIDIA_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://integrate.api.nvidia.com/v1',
      auth: 'bearer',
      sources: ['https://github.com/anomalyco/models.dev/tree/f3fc69229', 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1'],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { instructionsRole: 'system' },
      sources: ['openclaw#37048; docs.api.nvidia.com/nim/reference/llm-apis (read through opencodex issue 126)'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { ccMaxTokensField: 'max_tokens' },
      sources: [
        'openclaw#37048; docs.api.nvidia.com/nim/reference/llm-apis (read through opencodex issue 126)',
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
      ],
    },
    {
      fact: 'Unknown fields are refused.',
      options: { ccOptionalFields: 'drop', ccTopK: 'drop' },
      sources: ['openclaw#37048; docs.api.nvidia.com/nim/reference/llm-apis (read through opencodex issue 126)'],
    },
  ],
} as const satisfies Vendor
