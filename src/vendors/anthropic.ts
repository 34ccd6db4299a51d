import type { Vendor } from './vendor.ts'

export const anthropic = {
  name: 'anthropic',
  title: 'Anthropic',
  keyVariable: 'ANTHROPIC_API_KEY',
  endpoints: [
    { protocol: 'messages', baseUrl: 'https://api.anthropic.com', auth: 'x-api-key', sources: ['https://docs.anthropic.com/en/api'] },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.anthropic.com/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://docs.anthropic.com/en/api/openai-sdk'],
    },
  ],
  facts: [
    {
      fact: 'temperature, top_p and top_k are refused.',
      protocols: ['messages'],
      models: ['claude-opus-4-7*', 'claude-opus-4-8*', 'claude-opus-5*', 'claude-sonnet-5*', 'claude-haiku-5*', 'claude-fable-*', 'claude-mythos-*'],
      refuses: ['temperature', 'top_p', 'top_k'],
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988', 'https://docs.anthropic.com/en/api'],
    },
  ],
} as const satisfies Vendor
