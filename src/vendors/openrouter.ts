import { aiSdk, ccSwitch, modelsDev, pi, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const bifrost = {
  date: '2026-11-23',
  url: 'https://docs.getbifrost.ai/providers/supported-providers/openrouter',
}
const reasoningGuide = {
  date: '2026-11-30',
  url: 'https://openrouter.ai/docs/use-cases/reasoning-tokens',
}

export const openrouter = {
  name: 'openrouter',
  title: 'OpenRouter',
  keyVariable: 'OPENROUTER_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://openrouter.ai/api/v1',
      auth: 'bearer',
      sources: [modelsDev],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://openrouter.ai/api',
      auth: 'bearer',
      sources: [ccSwitch],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://openrouter.ai/api/v1',
      auth: 'bearer',
      support: 'partial',
      sources: [bifrost],
    },
  ],
  facts: [
    {
      fact: 'Only some models accept the role `developer`; all accept `system`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [pi],
    },
    {
      fact: 'Reasoning is sent in `reasoning` and `reasoning_details`; the details have to come back unchanged.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: [pi, aiSdk],
    },
    {
      fact: 'Cache marks are read from `cache_control`, and sampling fields beyond the protocol are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { cacheMarks: 'cache_control', topK: 'write' } },
      sources: [pi],
    },
    {
      fact: 'Reasoning is requested in `reasoning`, as an effort or as a number of tokens.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'object', effortWithTools: 'keep' } },
      sources: [pydanticAi, reasoningGuide],
    },
  ],
} as const satisfies Vendor
