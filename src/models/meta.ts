import type { Maker } from './model.ts'

const service = { date: '2026-11-23', url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/' }

export const meta = {
  name: 'meta',
  title: 'Meta',
  protocols: ['converse'],
  models: [
    {
      names: ['*llama-4+*', '*llama4+*'],
      input: ['text', 'image'],
      thinking: [],
      sources: [service],
    },
    { names: ['*llama-3+*', '*llama3+*'], thinking: [], sources: [service] },
  ],
} as const satisfies Maker
