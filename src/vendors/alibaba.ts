import { aiSdk, modelsDev, templates } from './sources.ts'
import type { Vendor } from './vendor.ts'

const thinkingGuide = {
  date: '2026-06-18',
  url: 'https://www.alibabacloud.com/help/en/model-studio/deep-thinking',
}
const messagesGuide = {
  date: '2026-11-05',
  url: 'https://www.alibabacloud.com/help/en/model-studio/anthropic-api-messages',
}
const jsonGuide = {
  date: '2026-11-29',
  url: 'https://www.alibabacloud.com/help/en/model-studio/json-mode',
}
const responsesGuide = {
  date: '2026-11-23',
  url: 'https://help.aliyun.com/en/model-studio/compatibility-with-openai-responses-api',
}
const instructor = {
  date: '2026-11-23',
  url: 'https://docs.instructorphp.com/cookbook/examples/B04_LLMApiSupport/llm_qwen',
}
const forcedTools = { date: '2026-04-24', url: 'https://github.com/cloudwego/eino/issues/994' }

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
      sources: [modelsDev],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://dashscope-intl.aliyuncs.com/apps/anthropic',
      auth: 'x-api-key',
      regions: {
        china: 'https://dashscope.aliyuncs.com/apps/anthropic',
        us: 'https://dashscope-us.aliyuncs.com/apps/anthropic',
      },
      sources: [messagesGuide],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      auth: 'bearer',
      sources: [responsesGuide],
    },
  ],
  facts: [
    {
      fact: 'Chat templates of Qwen accept a system message only at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: [templates],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [thinkingGuide],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningField: 'reasoning_content' } },
      sources: [thinkingGuide],
    },
    {
      fact: '`enable_thinking` switches reasoning on and off, and `thinking_budget` limits it; there are no levels.',
      protocols: ['chat-completions'],
      options: { efforts: '', chatCompletions: { thinking: 'flag' } },
      sources: [thinkingGuide],
    },
    {
      fact: 'While a model reasons, as newer ones do by default, no tool can be forced.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'unthinking' } },
      sources: [forcedTools],
    },
    {
      fact: 'JSON without a schema is refused where no message has the word JSON.',
      protocols: ['chat-completions'],
      options: { jsonWord: 'add' },
      sources: [jsonGuide],
    },
    {
      fact: 'Most models have JSON, but no JSON Schema.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_object' } },
      sources: [instructor],
    },
    {
      fact: 'These models have JSON Schema.',
      protocols: ['chat-completions'],
      models: ['qwen3.8+-max*', 'qwen3.7+*'],
      options: { chatCompletions: { formats: 'json_object json_schema' } },
      sources: [instructor],
    },
    {
      fact: '`frequency_penalty` is not accepted.',
      protocols: ['chat-completions'],
      refuses: ['frequency_penalty'],
      sources: [aiSdk],
    },
    {
      fact: 'Chat templates of Qwen accept a system message only at the start, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: [templates],
    },
  ],
} as const satisfies Vendor
