import type { Maker } from './model.ts'
import { listed, type ModelPrice } from './price.ts'

const guide = { date: '2026-09-10', url: 'https://api-docs.deepseek.com/guides/thinking_mode' }
const registry = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}
const limits = { date: '2026-09-10', url: 'https://github.com/anomalyco/models.dev/tree/23c42445a' }

const sources = [guide, registry, limits]

export const deepseek = {
  name: 'deepseek',
  title: 'DeepSeek',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['deepseek-flash*', 'deepseek-v4+-flash*'],
      contextTokens: 1_048_576,
      outputTokens: 393_216,
      input: ['text'],
      thinking: ['off', 'effort'],
      efforts: 'low high max',
      sources,
    },
    {
      names: ['deepseek-v4+*'],
      contextTokens: 1_048_576,
      outputTokens: 384_000,
      input: ['text'],
      thinking: ['off', 'effort'],
      efforts: 'low high max',
      sources,
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
    source: listed('2b3ef3b67', 'deepseek/models/deepseek-v4-pro', '2026-08-17'),
  },
  {
    names: ['deepseek-flash', 'deepseek-v4-flash', 'deepseek-v4.1-flash'],
    input: 0.3,
    output: 1.2,
    cacheRead: 0.006,
    source: listed('23c42445a', 'deepseek/models/deepseek-flash', '2026-09-10'),
  },
]
