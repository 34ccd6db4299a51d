import { digest, opencodex } from './sources.ts'
import type { Vendor } from './vendor.ts'

const agentscope = {
  date: '2026-11-23',
  url: 'https://java.agentscope.io/v2/en/integration/model/minimax',
}
const reference = {
  date: '2026-11-23',
  url: 'https://platform.minimax.io/docs/api-reference/text-anthropic-api',
}
const systemMessages = {
  date: '2025-11-05',
  url: 'https://github.com/MiniMax-AI/MiniMax-M2/issues/27',
}
const oneSystemMessage = {
  date: '2026-05-25',
  url: 'https://github.com/farion1231/cc-switch/commit/9d3570980',
}

export const minimax = {
  name: 'minimax',
  title: 'MiniMax',
  keyVariable: 'MINIMAX_API_KEY',
  endpoints: [
    {
      protocol: 'messages',
      baseUrl: 'https://api.minimax.io/anthropic',
      auth: 'x-api-key',
      regions: { china: 'https://api.minimaxi.com/anthropic' },
      sources: [reference, digest],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.minimax.io/v1',
      auth: 'bearer',
      regions: { china: 'https://api.minimaxi.com/v1' },
      sources: [digest, opencodex],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [agentscope],
    },
    {
      fact: 'Only one system message is accepted, and it has to be the first message.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto' },
      sources: [systemMessages],
    },
    {
      fact: 'The token limit is `max_completion_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
      sources: [agentscope],
    },
    {
      fact: 'Reasoning is part of the text, between `<think>` and `</think>`; the whole assistant message has to come back.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningInHistory: 'always', historyReasoning: 'tags' } },
      responseOptions: { chatCompletions: { extractThinkTags: true } },
      sources: [reference],
    },
    {
      fact: '`thinking.type` switches reasoning; there are no levels.',
      protocols: ['chat-completions'],
      options: { efforts: '', chatCompletions: { thinking: 'adaptive' } },
      sources: [agentscope],
    },
    {
      fact: 'These models always reason.',
      protocols: ['chat-completions'],
      models: ['MiniMax-M2*'],
      options: { chatCompletions: { thinking: 'always' } },
      sources: [agentscope],
    },
    {
      fact: 'Tool choice, formats and several optional fields are not documented; clients leave them out.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'omit', formats: '', optionalFields: 'drop' } },
      refuses: [
        'frequency_penalty',
        'presence_penalty',
        'parallel_tool_calls',
        'seed',
        'store',
        'metadata',
        'tools.*.function.strict',
      ],
      sources: [agentscope],
    },
    {
      fact: 'Only one system message is accepted, also with the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: [oneSystemMessage],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: [agentscope],
    },
  ],
} as const satisfies Vendor
