import type { Vendor } from './vendor.ts'

export const together = {
  name: 'together',
  title: 'Together AI',
  keyVariable: 'TOGETHER_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.together.xyz/v1',
      auth: 'bearer',
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://github.com/anomalyco/models.dev/tree/f3fc69229',
      ],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: '`store` and `strict` are not sent by clients that know the vendor.',
      options: { chatCompletions: { optionalFields: 'drop' } },
      refuses: ['store', 'tools.*.function.strict'],
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'Levels of reasoning are not accepted.',
      options: { efforts: '' },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'Reasoning is sent in `reasoning`.',
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: ['https://docs.together.ai/docs/kimi-k2-thinking-quickstart.md'],
    },
  ],
} as const satisfies Vendor
