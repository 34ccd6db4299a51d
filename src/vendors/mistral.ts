import type { Vendor } from './vendor.ts'

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
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
  ],
  passThrough: ['/v1/embeddings', '/v1/moderations'],
  facts: [
    {
      fact: 'Schemas of tools are checked: 2020-12, without `$schema` and `$id`.',
      protocols: ['chat-completions'],
      options: { tools: { schemas: 'plain' } },
      sources: [
        'https://github.com/SylphxAI/pdf-reader-mcp/issues/63',
        'https://github.com/BerriAI/litellm/pull/13389',
      ],
    },
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [
        'https://github.com/vercel/ai/tree/ed857f50f',
        'https://github.com/earendil-works/pi/tree/2e5a972a',
      ],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [
        'https://github.com/vercel/ai/tree/ed857f50f',
        'https://github.com/earendil-works/pi/tree/2e5a972a',
      ],
    },
    {
      fact: 'Ids of tool calls have nine letters and digits.',
      options: { chatCompletions: { shortIds: true } },
      sources: [
        'https://github.com/vercel/ai/tree/ed857f50f',
        'https://github.com/earendil-works/pi/tree/2e5a972a',
      ],
    },
    {
      fact: 'The seed is `random_seed`.',
      options: { chatCompletions: { seedField: 'random_seed' } },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
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
      sources: [
        'https://github.com/vercel/ai/tree/ed857f50f',
        'https://github.com/NousResearch/hermes-agent/issues/11243',
      ],
    },
    {
      fact: 'Reasoning is sent as `thinking` parts of the content, and read there.',
      options: { chatCompletions: { reasoningInHistory: 'tool-turns', historyReasoning: 'parts' } },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      fact: 'Most models have no levels of reasoning.',
      options: { efforts: '' },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      fact: 'A forced call is `any`; no tool can be forced by its name.',
      options: { chatCompletions: { toolChoice: 'any' } },
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      fact: 'A user message straight after a tool message is refused.',
      options: { chatCompletions: { afterResults: 'assistant' } },
      sources: [
        'https://github.com/anomalyco/opencode/tree/000f6280',
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
      ],
    },
  ],
} as const satisfies Vendor
