import { modelsDev, pi, pydanticAi } from './sources.ts'
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
      sources: [pydanticAi, modelsDev],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not sent by clients that know the vendor; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [pi],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`.',
      options: { chatCompletions: { reasoningField: 'reasoning_content' } },
      sources: [modelsDev],
    },
  ],
} as const satisfies Vendor
