import { aiSdk, digest, opencodex, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const thinkingGuide = {
  date: '2026-11-23',
  url: 'https://api-docs.deepseek.com/guides/thinking_mode',
}
const messagesGuide = {
  date: '2026-11-23',
  url: 'https://api-docs.deepseek.com/guides/anthropic_api',
}
const responsesGuide = {
  date: '2026-11-23',
  url: 'https://api-docs.deepseek.com/guides/responses_api',
}
const developerRole = { date: '2026-05-29', url: 'https://github.com/BenedictKing/ccx/issues/149' }
const reference = {
  date: '2026-11-30',
  url: 'https://api-docs.deepseek.com/api/create-chat-completion',
}
const patterns = {
  date: '2026-09-09',
  url: 'https://github.com/anthropics/claude-code/issues/92964',
}
const brackets = { date: '2026-09-15', url: 'https://github.com/NangoHQ/nango/issues/7547' }
const schemaDraft = {
  date: '2026-06-15',
  url: 'https://github.com/esengine/DeepSeek-Reasonix/issues/4456',
}
const schemaRoot = {
  date: '2026-06-27',
  url: 'https://github.com/farion1231/cc-switch/issues/4705',
}
const forcedTools = { date: '2026-11-30', url: 'https://github.com/BerriAI/litellm/pull/37470' }

export const deepseek = {
  name: 'deepseek',
  title: 'DeepSeek',
  keyVariable: 'DEEPSEEK_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.deepseek.com',
      auth: 'bearer',
      sources: [thinkingGuide, digest],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.deepseek.com/anthropic',
      auth: 'x-api-key',
      sources: [messagesGuide],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://api.deepseek.com',
      auth: 'bearer',
      addVersion: false,
      sources: [responsesGuide],
    },
  ],
  facts: [
    {
      fact: 'Schemas of tools are checked: 2020-12, with an object at the root. Patterns are compiled by an engine like that of Rust, which takes no bracket in brackets; Claude Code has such a pattern.',
      options: { tools: { schemas: 'linear' } },
      sources: [schemaRoot, schemaDraft, patterns, brackets],
    },
    {
      fact: 'At most 128 functions are taken.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { mostTools: 128 } },
      sources: [reference],
    },
    {
      fact: 'The role `developer` is refused; `system` is accepted anywhere in the conversation.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'keep', chatCompletions: { instructionsRole: 'system' } },
      sources: [developerRole],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [thinkingGuide, digest],
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
      sources: [thinkingGuide],
    },
    {
      fact: '`thinking.type` switches reasoning; the levels are low, high and max.',
      protocols: ['chat-completions'],
      options: { efforts: 'low high max', chatCompletions: { thinking: 'type' } },
      sources: [thinkingGuide, opencodex],
    },
    {
      fact: 'While it reasons, as it does by default, no tool can be forced.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'unthinking' } },
      sources: [pydanticAi, forcedTools],
    },
    {
      fact: 'There is JSON, but no JSON Schema.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_object' } },
      sources: [pydanticAi, aiSdk],
    },
  ],
} as const satisfies Vendor
