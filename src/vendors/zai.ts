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
      regions: {
        china: 'https://open.bigmodel.cn/api/paas/v4',
        coding: 'https://api.z.ai/api/coding/paas/v4',
      },
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
      sources: [
        'https://www.developersdigest.tech/reference/api-compatibility',
        'https://github.com/farion1231/cc-switch/tree/5ca9459d5',
      ],
    },
  ],
  facts: [
    {
      fact: 'A pattern with properties of Unicode, such as `\\p{L}`, is refused; Claude Code has one.',
      protocols: ['messages'],
      options: { tools: { schemas: 'portable' } },
      sources: ['https://github.com/zai-org/feedback/issues/593'],
    },
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://java.agentscope.io/v2/en/integration/model/glm'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [
        'https://java.agentscope.io/v2/en/integration/model/glm',
        'https://www.developersdigest.tech/reference/api-compatibility',
      ],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`, and read there.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: {
          reasoningField: 'reasoning_content',
          reasoningInHistory: 'tool-turns',
          missingReasoning: 'omit',
        },
      },
      sources: [
        'https://docs.rs/crate/opencrabs/0.5.1/source/',
        'https://www.developersdigest.tech/reference/api-compatibility',
      ],
    },
    {
      fact: '`thinking.type` switches reasoning; older models have no levels.',
      protocols: ['chat-completions'],
      options: { efforts: '', chatCompletions: { thinking: 'type' } },
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
      ],
    },
    {
      fact: 'Tools cannot be forced, and stream their arguments in parts only on request.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'auto', toolStream: true } },
      sources: [
        'https://java.agentscope.io/v2/en/integration/model/glm',
        'https://docs.rs/crate/opencrabs/0.5.1/source/',
      ],
    },
    {
      fact: 'There is JSON, but no JSON Schema.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_object' } },
      sources: ['https://java.agentscope.io/v2/en/integration/model/glm'],
    },
    {
      fact: 'Penalties, stream options, names of messages and `strict` are unknown.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { optionalFields: 'drop' } },
      refuses: [
        'frequency_penalty',
        'presence_penalty',
        'thinking_budget',
        'stream_options',
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'messages.*.name',
        'tools.*.function.strict',
      ],
      sources: [
        'https://java.agentscope.io/v2/en/integration/model/glm',
        'https://docs.rs/crate/opencrabs/0.5.1/source/',
      ],
    },
  ],
} as const satisfies Vendor
