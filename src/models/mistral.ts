import type { Maker } from './model.ts'
import { listed, type ModelPrice } from './price.ts'

export const mistral = {
  name: 'mistral',
  title: 'Mistral AI',
  protocols: ['chat-completions'],
  models: [
    {
      names: [
        'mistral-large-4+*',
        'mistral-small-latest',
        'mistral-medium-3',
        'mistral-medium-3.5+',
      ],
      thinking: ['off', 'effort'],
      efforts: 'none high',
      sources: [
        { date: '2026-08-22', url: 'https://github.com/vercel/ai/tree/ed857f50f' },
        { date: '2026-10-06', url: 'https://docs.mistral.ai/models/mistral-large-4-0' },
      ],
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const mistralPrices: readonly ModelPrice[] = [
  {
    names: ['mistral-medium-3.5'],
    input: 1.5,
    output: 7.5,
    source: listed('ca42ed5be', 'mistral/models/mistral-medium-3.5', '2026-08-27'),
  },
  {
    names: ['mistral-large-4*'],
    input: 0.68,
    output: 2.09,
    cacheRead: 0.07,
    source: listed('d89d77647', 'mistral/models/mistral-large-4', '2026-10-06'),
  },
]
