import type { Vendor } from './vendor.ts'

export const zai = {
  name: 'zai',
  title: 'Z.ai (GLM)',
  keyVariable: 'ZAI_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.z.ai/api/paas/v4',
      auth: 'bearer',
      regions: { china: 'https://open.bigmodel.cn/api/paas/v4', coding: 'https://api.z.ai/api/coding/paas/v4' },
      sources: [
        'https://www.developersdigest.tech/reference/api-compatibility',
        'https://github.com/anomalyco/models.dev/tree/f3fc69229',
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
      ],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.z.ai/api/anthropic',
      auth: 'x-api-key',
      regions: { china: 'https://open.bigmodel.cn/api/anthropic' },
      sources: ['https://www.developersdigest.tech/reference/api-compatibility', 'https://github.com/farion1231/cc-switch/tree/5ca9459d5'],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      protocols: ['chat-completions'],
      options: { instructionsRole: 'system' },
      sources: ['https://java.agentscope.io/v2/en/integration/model/glm'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { ccMaxTokensField: 'max_tokens' },
      sources: ['https://java.agentscope.io/v2/en/integration/model/glm', 'https://www.developersdigest.tech/reference/api-compatibility'],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`, and read there.',
      protocols: ['chat-completions'],
      options: { ccReasoning: 'reasoning_content', ccReasoningInHistory: 'tool-turns', ccMissingReasoning: 'omit' },
      sources: ['opencrabs 0.5.1 (Rust crate), src/brain/provider/glm_reasoning.rs', 'https://www.developersdigest.tech/reference/api-compatibility'],
    },
  ],
} as const satisfies Vendor
