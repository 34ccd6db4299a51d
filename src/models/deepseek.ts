import type { Maker } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const guide = { date: '2026-09-10', url: 'https://api-docs.deepseek.com/guides/thinking_mode' }
const registry = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}
const pricing = { date: '2026-10-27', url: 'https://api-docs.deepseek.com/quick_start/pricing' }

const sources = [guide, registry, pricing]

export const deepseek = {
  name: 'deepseek',
  title: 'DeepSeek',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['deepseek-flash*', 'deepseek-v4+-flash*'],
      contextTokens: 1_048_576,
      outputTokens: 393_216,
      input: ['text', 'image'],
      thinking: ['off', 'effort'],
      efforts: 'low high max',
      sources: [
        ...sources,
        listed('23c42445a', 'providers/deepseek/models/deepseek-flash', '2026-09-10'),
      ],
    },
    {
      names: ['deepseek-v4+*'],
      contextTokens: 1_048_576,
      outputTokens: 384_000,
      input: ['text'],
      thinking: ['off', 'effort'],
      efforts: 'low high max',
      sources: [...sources, listed('48c056c59', 'models/deepseek/deepseek-v4-pro-0813')],
    },
  ],
} as const satisfies Maker

/** At peak hours; at others they are half of that. The first one whose name fits counts. */
export const deepseekPrices: readonly ModelPrice[] = [
  {
    names: ['deepseek-v4-pro*'],
    input: 1.32,
    output: 3.96,
    cacheRead: 0.044,
    source: pricing,
  },
  {
    names: ['deepseek-flash', 'deepseek-v4-flash', 'deepseek-v4.1-flash'],
    input: 0.3,
    output: 1.2,
    cacheRead: 0.006,
    source: pricing,
  },
]
