import type { Vendor } from './vendor.ts'

export const deepseek = {
  name: 'deepseek',
  title: 'DeepSeek',
  keyVariable: 'DEEPSEEK_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.deepseek.com',
      auth: 'bearer',
      sources: [
        'https://api-docs.deepseek.com/guides/thinking_mode',
        'https://www.developersdigest.tech/reference/api-compatibility',
      ],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.deepseek.com/anthropic',
      auth: 'x-api-key',
      sources: ['https://api-docs.deepseek.com/guides/anthropic_api'],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://api.deepseek.com',
      auth: 'bearer',
      addVersion: false,
      sources: ['https://api-docs.deepseek.com/guides/responses_api'],
    },
  ],
  facts: [
    {
      fact: 'Schemas of tools are checked: 2020-12, with an object at the root.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'fitting' } },
      sources: [
        'https://github.com/farion1231/cc-switch/issues/5048',
        'https://github.com/esengine/DeepSeek-Reasonix/issues/4086',
      ],
    },
    {
      fact: 'Patterns are compiled, and some that JavaScript takes are refused; Claude Code has one.',
      protocols: ['messages'],
      options: { tools: { schemas: 'portable' } },
      sources: ['https://github.com/anthropics/claude-code/issues/92964'],
    },
    {
      fact: 'The role `developer` is refused; `system` is accepted anywhere in the conversation.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'keep', chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/BenedictKing/ccx/issues/149'],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [
        'https://api-docs.deepseek.com/guides/thinking_mode',
        'https://www.developersdigest.tech/reference/api-compatibility',
      ],
    },
    {
      fact: 'Every assistant message with a tool call has to bring its `reasoning_content` back; a request without it is refused.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: {
          reasoningField: 'reasoning_content',
          reasoningInHistory: 'tool-turns',
          missingReasoning: 'blank',
        },
      },
      sources: ['https://api-docs.deepseek.com/guides/thinking_mode'],
    },
    {
      fact: '`thinking.type` switches reasoning; the levels are low, high and max.',
      protocols: ['chat-completions'],
      options: { efforts: 'low high max', chatCompletions: { thinking: 'type' } },
      sources: [
        'https://api-docs.deepseek.com/guides/thinking_mode',
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
      ],
    },
    {
      fact: 'While it reasons, no tool can be forced.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'auto' } },
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
    {
      fact: 'There is JSON, but no JSON Schema.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_object' } },
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
    },
  ],
} as const satisfies Vendor
