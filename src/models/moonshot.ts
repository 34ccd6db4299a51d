import type { Maker } from './model.ts'

const client = { date: '2026-08-22', url: 'https://docs.rs/crate/synaps-engine/0.11.0/source/' }
const guide = { date: '2026-11-23', url: 'https://java.agentscope.io/v2/en/integration/model/kimi' }
const registry = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}

export const moonshot = {
  name: 'moonshot',
  title: 'Moonshot AI',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['kimi-k3+*', 'k3+'],
      thinking: ['effort'],
      efforts: 'low high max',
      preservedThinking: true,
      sources: [client, guide],
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
