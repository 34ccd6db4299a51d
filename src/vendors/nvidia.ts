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
      sources: [
        'https://github.com/anomalyco/models.dev/tree/f3fc69229',
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
      ],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: [
        'https://docs.api.nvidia.com/nim/reference/llm-apis',
        'https://github.com/openclaw/openclaw/issues/37048',
      ],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [
        'https://docs.api.nvidia.com/nim/reference/llm-apis',
        'https://github.com/openclaw/openclaw/issues/37048',
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
      ],
    },
    {
      fact: 'Unknown fields are refused.',
      options: { chatCompletions: { optionalFields: 'drop', topK: 'drop' } },
      refuses: [
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'service_tier',
        'verbosity',
        'tools.*.function.strict',
      ],
      sources: [
        'https://docs.api.nvidia.com/nim/reference/llm-apis',
        'https://github.com/openclaw/openclaw/issues/37048',
      ],
    },
    {
      fact: 'Reasoning is switched in the chat template; there are no levels.',
      options: { efforts: '', chatCompletions: { thinking: 'template' } },
      sources: [
        'https://docs.api.nvidia.com/nim/reference/llm-apis',
        'https://github.com/openclaw/openclaw/issues/37048',
      ],
    },
    {
      fact: 'gpt-oss always reasons, in three levels.',
      models: ['gpt-oss*'],
      options: { efforts: 'low medium high', chatCompletions: { thinking: 'effort' } },
      sources: [
        'https://docs.api.nvidia.com/nim/reference/llm-apis',
        'https://github.com/openclaw/openclaw/issues/37048',
      ],
    },
    {
      fact: 'Kimi makes one call at a time.',
      models: ['kimi*'],
      options: { chatCompletions: { parallelCalls: 'forbid' } },
      sources: [
        'https://docs.api.nvidia.com/nim/reference/llm-apis',
        'https://github.com/openclaw/openclaw/issues/37048',
      ],
    },
    {
      fact: 'Some models copy a list of text parts into the response.',
      options: { chatCompletions: { textContent: 'string' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
  ],
} as const satisfies Vendor
