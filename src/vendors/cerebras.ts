import type { Vendor } from './vendor.ts'

export const cerebras = {
  name: 'cerebras',
  title: 'Cerebras',
  keyVariable: 'CEREBRAS_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.cerebras.ai/v1',
      auth: 'bearer',
      sources: ['https://inference-docs.cerebras.ai/resources/openai'],
    },
  ],
  facts: [
    {
      fact: 'Schemas of tools have an object at the root.',
      protocols: ['chat-completions'],
      options: { tools: { schemas: 'fitting' } },
      sources: ['https://github.com/theopenco/llmgateway/pull/1455'],
    },
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [
        'https://inference-docs.cerebras.ai/resources/openai',
        'https://hexdocs.pm/req_llm/1.9.0/cerebras.html',
      ],
    },
    {
      fact: 'Either all functions are strict or none.',
      options: { chatCompletions: { strictFunctions: 'all' } },
      sources: [
        'https://github.com/RooCodeInc/Roo-Code/issues/10334',
        'https://github.com/mpfaffenberger/code_puppy/pull/368',
      ],
    },
    {
      fact: 'The token limit is `max_completion_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
      sources: ['https://inference-docs.cerebras.ai/resources/openai'],
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
      sources: [
        'https://inference-docs.cerebras.ai/resources/openai',
        'https://github.com/huggingface/huggingface.js/issues/2268',
      ],
    },
    {
      fact: 'Reasoning is sent in `reasoning`, and read there.',
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: ['https://inference-docs.cerebras.ai/resources/openai'],
    },
    {
      fact: 'GLM reads its reasoning between `<think>` and `</think>`, and is switched by `disable_reasoning`; it has no levels.',
      models: ['*glm*'],
      options: { efforts: '', chatCompletions: { historyReasoning: 'tags', thinking: 'disable' } },
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
    },
  ],
} as const satisfies Vendor
