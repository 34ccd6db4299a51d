import { aiSdk, pi, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const opencode = { date: '2026-11-23', url: 'https://github.com/anomalyco/opencode/tree/000f6280' }
const unknownFields = {
  date: '2026-11-23',
  url: 'https://github.com/NousResearch/hermes-agent/issues/11243',
}
const schemaNames = { date: '2025-08-07', url: 'https://github.com/BerriAI/litellm/pull/13389' }
const schemaDraft = {
  date: '2025-05-22',
  url: 'https://github.com/SylphxAI/pdf-reader-mcp/issues/63',
}
const lastRole = { date: '2025-06-03', url: 'https://github.com/NEKOparapa/AiNiee/issues/641' }

export const mistral = {
  name: 'mistral',
  title: 'Mistral AI',
  telemetryName: 'mistral_ai',
  keyVariable: 'MISTRAL_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.mistral.ai/v1',
      auth: 'bearer',
      sources: [aiSdk],
    },
  ],
  passThrough: ['/v1/embeddings', '/v1/moderations'],
  facts: [
    {
      fact: 'Schemas of tools are checked: 2020-12, without `$schema` and `$id`.',
      protocols: ['chat-completions'],
      options: { tools: { schemas: 'plain' } },
      sources: [schemaDraft, schemaNames],
    },
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [aiSdk, pi],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [aiSdk, pi],
    },
    {
      fact: 'Ids of tool calls have nine letters and digits.',
      options: { chatCompletions: { shortIds: true } },
      sources: [aiSdk, pi],
    },
    {
      fact: 'The seed is `random_seed`.',
      options: { chatCompletions: { seedField: 'random_seed' } },
      sources: [aiSdk],
    },
    {
      fact: 'Unknown fields are refused.',
      options: { chatCompletions: { optionalFields: 'drop', topK: 'drop' } },
      refuses: [
        'stream_options',
        'logit_bias',
        'logprobs',
        'top_logprobs',
        'user',
        'service_tier',
        'verbosity',
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
      ],
      sources: [aiSdk, unknownFields],
    },
    {
      fact: 'Reasoning is sent as `thinking` parts of the content, and read there.',
      options: { chatCompletions: { reasoningInHistory: 'tool-turns', historyReasoning: 'parts' } },
      sources: [aiSdk],
    },
    {
      fact: 'Most models have no levels of reasoning.',
      options: { efforts: '' },
      sources: [aiSdk],
    },
    {
      fact: 'A forced call is `any`; no tool can be forced by its name.',
      options: { chatCompletions: { toolChoice: 'any' } },
      sources: [aiSdk],
    },
    {
      fact: 'A user message straight after a tool message is refused.',
      options: { chatCompletions: { afterResults: 'assistant' } },
      sources: [opencode, pydanticAi],
    },
    {
      fact: 'A message of the assistant at the end is refused without `prefix`; with it, its text is repeated in the response.',
      options: { chatCompletions: { assistantAtEnd: 'continue' } },
      sources: [lastRole, aiSdk],
    },
  ],
} as const satisfies Vendor
