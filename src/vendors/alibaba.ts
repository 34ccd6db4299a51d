import type { Vendor } from './vendor.ts'

export const alibaba = {
  name: 'alibaba',
  title: 'Alibaba Model Studio (Qwen)',
  keyVariable: 'DASHSCOPE_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      auth: 'bearer',
      regions: {
        china: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
        us: 'https://dashscope-us.aliyuncs.com/compatible-mode/v1',
      },
      sources: ['https://github.com/anomalyco/models.dev/tree/f3fc69229'],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://dashscope-intl.aliyuncs.com/apps/anthropic',
      auth: 'x-api-key',
      regions: {
        china: 'https://dashscope.aliyuncs.com/apps/anthropic',
        us: 'https://dashscope-us.aliyuncs.com/apps/anthropic',
      },
      sources: ['https://www.alibabacloud.com/help/en/model-studio/anthropic-api-messages'],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      auth: 'bearer',
      sources: ['https://help.aliyun.com/en/model-studio/compatibility-with-openai-responses-api'],
    },
  ],
  facts: [
    {
      fact: 'Chat templates of Qwen accept a system message only at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: ['https://www.alibabacloud.com/help/en/model-studio/deep-thinking'],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningField: 'reasoning_content' } },
      sources: ['https://www.alibabacloud.com/help/en/model-studio/deep-thinking'],
    },
    {
      fact: '`enable_thinking` switches reasoning on and off; there are no levels.',
      protocols: ['chat-completions'],
      options: { efforts: '', chatCompletions: { thinking: 'flag' } },
      sources: ['https://www.alibabacloud.com/help/en/model-studio/deep-thinking'],
    },
    {
      fact: 'JSON without a schema is refused where no message has the word JSON.',
      protocols: ['chat-completions'],
      options: { jsonWord: 'add' },
      sources: ['https://www.alibabacloud.com/help/en/model-studio/json-mode'],
    },
    {
      fact: 'Most models have JSON, but no JSON Schema.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_object' } },
      sources: ['https://docs.instructorphp.com/cookbook/examples/B04_LLMApiSupport/llm_qwen'],
    },
    {
      fact: 'These models have JSON Schema.',
      protocols: ['chat-completions'],
      models: ['qwen3.8+-max*', 'qwen3.7+*'],
      options: { chatCompletions: { formats: 'json_object json_schema' } },
      sources: ['https://docs.instructorphp.com/cookbook/examples/B04_LLMApiSupport/llm_qwen'],
    },
    {
      fact: '`frequency_penalty` is not accepted.',
      protocols: ['chat-completions'],
      refuses: ['frequency_penalty'],
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      fact: 'Chat templates of Qwen accept a system message only at the start, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
  ],
} as const satisfies Vendor
