import { ccSwitch, digest, modelsDev, opencodex, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const agentscope = {
  date: '2026-11-23',
  url: 'https://java.agentscope.io/v2/en/integration/model/glm',
}
const opencrabs = { date: '2026-11-23', url: 'https://docs.rs/crate/opencrabs/0.5.1/source/' }
const patterns = { date: '2026-09-09', url: 'https://github.com/zai-org/feedback/issues/579' }

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
      sources: [digest, modelsDev, pydanticAi],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.z.ai/api/anthropic',
      auth: 'x-api-key',
      regions: { china: 'https://open.bigmodel.cn/api/anthropic' },
      sources: [digest, ccSwitch],
    },
  ],
  facts: [
    {
      fact: 'A pattern with properties of Unicode, such as `\\p{L}`, is refused; Claude Code has one.',
      protocols: ['messages'],
      options: { tools: { schemas: 'portable' } },
      sources: [patterns],
    },
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [agentscope],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [agentscope, digest],
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
      sources: [opencrabs, digest],
    },
    {
      fact: '`thinking.type` switches reasoning; older models have no levels.',
      protocols: ['chat-completions'],
      options: { efforts: '', chatCompletions: { thinking: 'type' } },
      sources: [pydanticAi, opencodex],
    },
    {
      fact: 'Tools cannot be forced, and stream their arguments in parts only on request.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'auto', toolStream: true } },
      sources: [agentscope, opencrabs],
    },
    {
      fact: 'There is JSON, but no JSON Schema.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_object' } },
      sources: [agentscope],
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
      sources: [agentscope, opencrabs],
    },
  ],
} as const satisfies Vendor
