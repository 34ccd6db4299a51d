import type { Vendor } from './vendor.ts'

export const fireworks = {
  name: 'fireworks',
  title: 'Fireworks AI',
  keyVariable: 'FIREWORKS_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.fireworks.ai/inference/v1',
      auth: 'bearer',
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://github.com/anomalyco/models.dev/tree/f3fc69229',
      ],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not sent by clients that know the vendor; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`.',
      options: { chatCompletions: { reasoningField: 'reasoning_content' } },
      sources: ['https://github.com/anomalyco/models.dev/tree/f3fc69229'],
    },
  ],
} as const satisfies Vendor
