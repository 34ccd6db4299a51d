import type { Maker } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const client = { date: '2026-08-22', url: 'https://docs.rs/crate/synaps-engine/0.11.0/source/' }
const guide = { date: '2026-11-23', url: 'https://java.agentscope.io/v2/en/integration/model/kimi' }
const limits = listed('4de2e01cf', 'models/moonshotai/kimi-k3')
const registry = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}

/** A file on a model at Moonshot AI. */
/* @__NO_SIDE_EFFECTS__ */
const offered = (commit: string, name: string, date?: string) =>
  listed(commit, `providers/moonshotai/models/${name}`, date)

export const moonshot = {
  name: 'moonshot',
  title: 'Moonshot AI',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['kimi-k3+*', 'k3+'],
      contextTokens: 1_048_576,
      input: ['text', 'image', 'video'],
      thinking: ['effort'],
      efforts: 'low high max',
      preservedThinking: true,
      sources: [client, guide, limits],
    },
    {
      names: ['kimi-k2.7+*', 'kimi-for-coding*'],
      thinking: ['adaptive'],
      toolChoice: 'auto',
      preservedThinking: true,
      sources: [client, registry],
    },
    {
      names: ['kimi-k2.5+*'],
      thinking: ['off', 'adaptive'],
      efforts: '',
      sources: [client, guide],
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const moonshotPrices: readonly ModelPrice[] = [
  {
    names: ['kimi-k3'],
    input: 3,
    output: 15,
    cacheRead: 0.3,
    source: offered('4627ad238', 'kimi-k3', '2026-07-17'),
  },
  {
    names: ['kimi-k2.6'],
    input: 0.95,
    output: 4,
    cacheRead: 0.16,
    source: offered('3e8bec11b', 'kimi-k2.6'),
  },
]
