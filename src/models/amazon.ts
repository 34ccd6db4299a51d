import type { Maker } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const guide = {
  date: '2026-11-23',
  url: 'https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html',
}
const lite = listed('34b9d11d0', 'providers/amazon-bedrock/models/amazon.nova-2-lite-v1:0')

export const amazon = {
  name: 'amazon',
  title: 'Amazon',
  vendor: 'bedrock',
  protocols: ['converse'],
  models: [
    {
      names: ['*nova-2+*'],
      input: ['text', 'image', 'video'],
      thinking: ['off', 'effort'],
      efforts: 'low medium high',
      sources: [guide, lite],
    },
    {
      names: ['*nova-micro*', '*nova-lite*', '*nova-pro*', '*nova-premier*'],
      toolSchemas: 'flat',
      sources: [
        {
          date: '2026-11-29',
          url: 'https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html',
        },
      ],
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const amazonPrices: readonly ModelPrice[] = [
  {
    names: ['*nova-2-lite*'],
    input: 0.33,
    output: 2.75,
    source: lite,
  },
]
