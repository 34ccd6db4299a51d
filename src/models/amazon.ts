import type { Maker } from './model.ts'
import { listed, type ModelPrice } from './price.ts'

const guide = {
  date: '2026-11-23',
  url: 'https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html',
}
const limits = { date: '2026-04-13', url: 'https://github.com/anomalyco/models.dev/tree/34b9d11d0' }

export const amazon = {
  name: 'amazon',
  title: 'Amazon',
  protocols: ['converse'],
  models: [
    {
      names: ['*nova-2+*'],
      input: ['text', 'image', 'video'],
      thinking: ['off', 'effort'],
      efforts: 'none low medium high',
      sources: [guide, limits],
    },
    { names: ['*nova-pro*', '*nova-lite*', '*nova-micro*'], thinking: [], sources: [guide] },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const amazonPrices: readonly ModelPrice[] = [
  {
    names: ['*nova-2-lite*'],
    input: 0.33,
    output: 2.75,
    source: listed('34b9d11d0', 'amazon-bedrock/models/amazon.nova-2-lite-v1:0', '2026-04-13'),
  },
]
