import type { Maker } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const guide = {
  date: '2026-11-23',
  url: 'https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html',
}
const limits = {
  date: '2026-11-29',
  url: 'https://docs.rs/mixtape-core/latest/src/mixtape_core/models/nova.rs.html',
}
const firstLimits = {
  date: '2026-01-27',
  url: 'https://github.com/aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws/issues/175',
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
      contextTokens: 1_000_000,
      outputTokens: 65_535,
      input: ['text', 'image', 'video'],
      thinking: ['off', 'effort'],
      efforts: 'low medium high',
      sources: [guide, lite, limits],
    },
    {
      names: ['*nova-micro*', '*nova-lite*', '*nova-pro*', '*nova-premier*'],
      outputTokens: 10_000,
      toolSchemas: 'flat',
      sources: [
        firstLimits,
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
