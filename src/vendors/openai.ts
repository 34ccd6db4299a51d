import { metaschema, openaiReference, openaiSchemas, openaiTools } from './sources.ts'
import type { Fact, Vendor } from './vendor.ts'

const checklist = {
  date: '2026-11-23',
  url: 'https://developers.openai.com/api/docs/guides/deployment-checklist',
}
const arrays = {
  date: '2026-02-14',
  url: 'https://github.com/digitalocean-labs/mcp-digitalocean/issues/265',
}
const toolsInChat = { date: '2026-11-23', url: 'https://github.com/itzcrazykns/vane/issues/1173' }

/** What the servers of its models demand of some of them, wherever they are. */
export const openaiModels: readonly Fact[] = [
  {
    fact: 'A cache key of more than 64 characters is refused, and so is JSON without a schema where no message has the word JSON.',
    protocols: ['chat-completions', 'responses'],
    options: { longCacheKey: 'hash', jsonWord: 'add' },
    sources: [openaiReference, openaiSchemas],
  },
  {
    fact: 'Reasoning models refuse `max_tokens`; the limit is `max_completion_tokens`.',
    protocols: ['chat-completions'],
    models: ['o1+*', 'gpt-5+*'],
    options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
    sources: [openaiReference],
  },
  {
    fact: 'Function tools together with reasoning are refused in chat-completions; the responses protocol accepts them.',
    protocols: ['chat-completions'],
    models: ['gpt-5.4+*'],
    speak: { protocol: 'responses', when: 'tools' },
    sources: [toolsInChat, checklist],
  },
]

export const openai = {
  name: 'openai',
  title: 'OpenAI',
  keyVariable: 'OPENAI_API_KEY',
  endpoints: [
    {
      protocol: 'responses',
      baseUrl: 'https://api.openai.com/v1',
      auth: 'bearer',
      sources: [openaiReference],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.openai.com/v1',
      auth: 'bearer',
      sources: [openaiReference],
    },
  ],
  passThrough: ['/v1/embeddings', '/v1/moderations', '/v1/images/*', '/v1/audio/*'],
  facts: [
    {
      fact: 'Tools are checked: 2020-12, an object with properties at the root, items in arrays.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'fitting' } },
      sources: [metaschema, arrays],
    },
    {
      fact: 'More than 128 tools are refused.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { mostTools: 128 } },
      sources: [openaiTools],
    },
    {
      fact: 'The role `developer` and system messages anywhere in the conversation are accepted.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'keep', chatCompletions: { instructionsRole: 'developer' } },
      sources: [openaiReference],
    },
    {
      fact: 'The token limit is `max_completion_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
      sources: [openaiReference],
    },
    {
      fact: '`store`, `metadata`, `safety_identifier`, `prompt_cache_key` and `prompt_cache_retention` are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { optionalFields: 'write' } },
      sources: [openaiReference],
    },
    {
      fact: 'Earlier reasoning has no field in chat-completions and is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningInHistory: 'never' } },
      sources: [openaiReference],
    },
    {
      fact: 'Freeform tools are accepted as custom tools.',
      protocols: ['chat-completions'],
      models: ['gpt-5+*'],
      options: { chatCompletions: { customTools: 'write' } },
      sources: [openaiReference],
    },
    ...openaiModels,
  ],
} as const satisfies Vendor
