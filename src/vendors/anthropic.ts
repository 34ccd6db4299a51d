import type { Fact, Vendor } from './vendor.ts'

const anthropicReference = { date: '2026-11-23', url: 'https://docs.anthropic.com/en/api' }
const openaiSdk = { date: '2026-11-23', url: 'https://docs.anthropic.com/en/api/openai-sdk' }
const schemaRoot = {
  date: '2026-04-07',
  url: 'https://github.com/anthropics/claude-code/issues/44788',
}
const schemaDraft = {
  date: '2026-05-29',
  url: 'https://github.com/anthropics/claude-code/issues/63673',
}

/** What its models demand wherever they are served. */
export const claudeModels: readonly Fact[] = [
  {
    fact: 'A system message inside the conversation is accepted by newer models only.',
    protocols: ['messages'],
    options: { systemPlacement: 'auto' },
    sources: [anthropicReference],
  },
  {
    fact: 'Schemas of tools are checked: 2020-12, and no combination at the root.',
    protocols: ['messages'],
    options: { tools: { schemas: 'fitting' } },
    sources: [schemaDraft, schemaRoot],
  },
]

export const anthropic = {
  name: 'anthropic',
  title: 'Anthropic',
  keyVariable: 'ANTHROPIC_API_KEY',
  endpoints: [
    {
      protocol: 'messages',
      baseUrl: 'https://api.anthropic.com',
      auth: 'x-api-key',
      sources: [anthropicReference],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.anthropic.com/v1',
      auth: 'bearer',
      support: 'partial',
      sources: [openaiSdk],
    },
  ],
  facts: claudeModels,
} as const satisfies Vendor
