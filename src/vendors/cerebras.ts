import { aiSdk, optionalFields, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const reference = { date: '2026-11-23', url: 'https://inference-docs.cerebras.ai/resources/openai' }
const reqLlm = { date: '2026-11-23', url: 'https://hexdocs.pm/req_llm/1.9.0/cerebras.html' }
const mixedStrictness = {
  date: '2025-12-24',
  url: 'https://github.com/RooCodeInc/Roo-Code/issues/10334',
}
const strictness = {
  date: '2026-05-30',
  url: 'https://github.com/mpfaffenberger/code_puppy/pull/368',
}
const schemas = { date: '2026-01-15', url: 'https://github.com/theopenco/llmgateway/pull/1455' }

export const cerebras = {
  name: 'cerebras',
  title: 'Cerebras',
  keyVariable: 'CEREBRAS_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.cerebras.ai/v1',
      auth: 'bearer',
      sources: [reference],
    },
  ],
  facts: [
    {
      fact: 'Schemas of tools have an object at the root.',
      protocols: ['chat-completions'],
      options: { tools: { schemas: 'fitting' } },
      sources: [schemas],
    },
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [reference, reqLlm],
    },
    {
      fact: 'Either all functions are strict or none.',
      options: { chatCompletions: { strictFunctions: 'all' } },
      sources: [mixedStrictness, strictness],
    },
    {
      fact: 'The token limit is `max_completion_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
      sources: [reference],
    },
    {
      fact: 'Unknown and optional fields are refused.',
      options: { chatCompletions: { optionalFields: 'drop', topK: 'drop' } },
      refuses: [
        'frequency_penalty',
        'logit_bias',
        'presence_penalty',
        'parallel_tool_calls',
        'service_tier',
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'verbosity',
      ],
      sources: [reference, optionalFields],
    },
    {
      fact: 'Reasoning is sent in `reasoning`, and read there.',
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: [reference],
    },
    {
      fact: 'GLM reads its reasoning between `<think>` and `</think>`, and is switched by `disable_reasoning`; it has no levels.',
      models: ['*glm*'],
      options: { efforts: '', chatCompletions: { historyReasoning: 'tags', thinking: 'disable' } },
      sources: [pydanticAi, aiSdk],
    },
  ],
} as const satisfies Vendor
