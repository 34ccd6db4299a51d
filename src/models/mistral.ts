import type { Maker } from './model.ts'

export const mistral = {
  name: 'mistral',
  title: 'Mistral AI',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['mistral-small-latest', 'mistral-medium-3', 'mistral-medium-3.5+'],
      thinking: ['off', 'effort'],
      efforts: 'none high',
      sources: [{ date: '2026-08-22', url: 'https://github.com/vercel/ai/tree/ed857f50f' }],
    },
  ],
} as const satisfies Maker
