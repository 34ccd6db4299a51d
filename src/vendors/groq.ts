import { aiSdk, digest, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const reference = { date: '2026-11-23', url: 'https://console.groq.com/docs/openai' }
const schemaDraft = {
  date: '2026-11-29',
  url: 'https://github.com/langchain-ai/langchain/issues/31132',
}
const schemaProperties = {
  date: '2026-08-16',
  url: 'https://github.com/usestrix/strix/issues/1088',
}

const toolCount = { date: '2026-04-17', url: 'https://github.com/gsd-build/gsd-2/issues/4376' }

export const groq = {
  name: 'groq',
  title: 'Groq',
  keyVariable: 'GROQ_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.groq.com/openai/v1',
      auth: 'bearer',
      sources: [reference],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://api.groq.com/openai/v1',
      auth: 'bearer',
      support: 'partial',
      sources: [reference, digest],
    },
  ],
  facts: [
    {
      fact: 'Schemas of tools are checked: 2020-12, and no required names without properties.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'fitting' } },
      sources: [schemaDraft, schemaProperties],
    },
    {
      fact: 'More than 128 tools are refused.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { mostTools: 128 } },
      sources: [toolCount],
    },
    {
      fact: 'logprobs, logit_bias, top_logprobs, names of messages and more than one candidate are refused.',
      protocols: ['chat-completions'],
      refuses: ['logprobs', 'logit_bias', 'top_logprobs', 'n', 'messages.*.name'],
      sources: [reference],
    },
    {
      fact: 'Reasoning is sent in `reasoning`.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: [reference],
    },
    {
      fact: 'Most models have no levels of reasoning.',
      protocols: ['chat-completions'],
      options: { efforts: '' },
      sources: [pydanticAi, aiSdk],
    },
    {
      fact: 'Qwen 3 reasons or does not.',
      protocols: ['chat-completions'],
      models: ['qwen3*'],
      options: { efforts: 'none default' },
      sources: [pydanticAi, aiSdk],
    },
  ],
} as const satisfies Vendor
