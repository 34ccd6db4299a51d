import type { Maker } from './model.ts'
import { listed, type ModelPrice } from './price.ts'

const limits = { date: '2026-05-20', url: 'https://github.com/anomalyco/models.dev/tree/7b65a7c6d' }

export const cohere = {
  name: 'cohere',
  title: 'Cohere',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['command-a-plus*'],
      contextTokens: 128_000,
      outputTokens: 64_000,
      input: ['text', 'image'],
      sources: [limits],
    },
    {
      names: ['command-a-03-2025'],
      contextTokens: 256_000,
      outputTokens: 8000,
      input: ['text'],
      sources: [limits],
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const coherePrices: readonly ModelPrice[] = [
  {
    names: ['command-a-plus*', 'command-a-03-2025'],
    input: 2.5,
    output: 10,
    source: listed('7b65a7c6d', 'cohere/models/command-a-plus-05-2026', '2026-05-20'),
  },
]
