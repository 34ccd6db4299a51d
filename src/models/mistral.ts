import type { Maker } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const large = listed('d89d77647', 'providers/mistral/models/mistral-large-4', '2026-10-06')
const medium = listed('ca42ed5be', 'providers/mistral/models/mistral-medium-3.5', '2026-08-27')
/** "Unexpected role 'user' after role 'tool'", wherever they are served. */
const order = {
  date: '2026-05-05',
  url: 'https://github.com/NousResearch/hermes-agent/issues/20154',
}
const bridge = { date: '2026-06-02', url: 'https://github.com/aliou/pi-neuralwatt/issues/12' }

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
      userAfterResults: false,
      sources: [
        { date: '2026-08-22', url: 'https://github.com/vercel/ai/tree/ed857f50f' },
        large,
        medium,
        order,
      ],
    },
    {
      names: ['mistral-*', 'ministral*', 'magistral*', 'devstral*', 'codestral*'],
      userAfterResults: false,
      sources: [order, bridge],
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const mistralPrices: readonly ModelPrice[] = [
  {
    names: ['mistral-medium-3.5'],
    input: 1.5,
    output: 7.5,
    source: medium,
  },
  {
    names: ['mistral-large-4*'],
    input: 1.36,
    output: 4.18,
    cacheRead: 0.14,
    source: large,
  },
]
