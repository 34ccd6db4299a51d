import { modelsDev, pi, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const kimiGuide = {
  date: '2026-11-23',
  url: 'https://docs.together.ai/docs/kimi-k2-thinking-quickstart.md',
}

export const together = {
  name: 'together',
  title: 'Together AI',
  keyVariable: 'TOGETHER_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.together.xyz/v1',
      auth: 'bearer',
      sources: [pydanticAi, modelsDev],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [pi],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [pi],
    },
    {
      fact: '`store` and `strict` are not sent by clients that know the vendor.',
      options: { chatCompletions: { optionalFields: 'drop' } },
      refuses: ['store', 'tools.*.function.strict'],
      sources: [pi],
    },
    {
      fact: 'Levels of reasoning are not accepted.',
      options: { efforts: '' },
      sources: [pi],
    },
    {
      fact: 'Reasoning is sent in `reasoning`.',
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: [kimiGuide],
    },
  ],
} as const satisfies Vendor
