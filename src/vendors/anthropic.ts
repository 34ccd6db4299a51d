import type { Fact, Vendor } from './vendor.ts'

/** What its models demand wherever they are served. */
export const claudeModels: readonly Fact[] = [
  {
    fact: 'A system message inside the conversation is accepted by newer models only.',
    protocols: ['messages'],
    options: { systemPlacement: 'auto' },
    sources: ['https://docs.anthropic.com/en/api'],
  },
  {
    fact: 'Schemas of tools are checked: 2020-12, and no combination at the root.',
    protocols: ['messages'],
    options: { tools: { schemas: 'fitting' } },
    sources: [
      'https://github.com/anthropics/claude-code/issues/9605',
      'https://github.com/anthropics/claude-code/issues/44788',
    ],
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
      sources: ['https://docs.anthropic.com/en/api'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.anthropic.com/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://docs.anthropic.com/en/api/openai-sdk'],
    },
  ],
  facts: claudeModels,
} as const satisfies Vendor
