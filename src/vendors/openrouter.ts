import type { Vendor } from './vendor.ts'

export const openrouter = {
  name: 'openrouter',
  title: 'OpenRouter',
  keyVariable: 'OPENROUTER_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://openrouter.ai/api/v1',
      auth: 'bearer',
      sources: ['https://github.com/anomalyco/models.dev/tree/f3fc69229'],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://openrouter.ai/api',
      auth: 'bearer',
      sources: ['https://github.com/farion1231/cc-switch/tree/5ca9459d5'],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://openrouter.ai/api/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://docs.getbifrost.ai/providers/supported-providers/openrouter'],
    },
  ],
  facts: [
    {
      fact: 'Only some models accept the role `developer`; all accept `system`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'Reasoning is sent in `reasoning` and `reasoning_details`; the details have to come back unchanged.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: [
        'https://github.com/earendil-works/pi/tree/2e5a972a',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
    },
    {
      fact: 'Cache marks are read from `cache_control`, and sampling fields beyond the protocol are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { cacheMarks: 'cache_control', topK: 'write' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'Reasoning is requested in `reasoning`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'object', effortWithTools: 'keep' } },
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
  ],
} as const satisfies Vendor
