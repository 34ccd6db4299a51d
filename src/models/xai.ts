import type { Maker, Model } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const peers = { date: '2026-08-22', url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988' }
const registry = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}
const newest = listed('c8249f138', 'models/xai/grok-4.7')
const pricing46 = listed('e23d24b5f', 'providers/xai/models/grok-4.6')
const pricing = listed('c8249f138', 'providers/xai/models/grok-4.7')
const comparison = {
  date: '2026-11-23',
  url: 'https://docs.x.ai/developers/model-capabilities/text/comparison.md',
}

const reasoning = {
  input: ['text', 'image'],
  thinking: ['effort'],
  refuses: ['stop', 'presence_penalty', 'frequency_penalty'],
  sources: [comparison, peers, registry],
} as const satisfies Omit<Model, 'names'>

export const xai = {
  name: 'xai',
  title: 'xAI',
  protocols: ['chat-completions', 'responses'],
  models: [
    { names: ['grok-4.20*'], ...reasoning, efforts: '' },
    {
      names: ['grok-4.6+*'],
      ...reasoning,
      contextTokens: 500_000,
      input: ['text', 'image', 'file'],
      efforts: 'low medium high xhigh',
      sources: [...reasoning.sources, newest, pricing, pricing46],
    },
    { names: ['grok-4.5+*'], ...reasoning, efforts: 'low medium high' },
    {
      names: ['grok-4.3+*'],
      ...reasoning,
      thinking: ['off', 'effort'],
      efforts: 'none low medium high',
    },
    { names: ['grok-4*', 'grok-code*'], ...reasoning },
    {
      names: ['grok-3-mini*'],
      thinking: ['effort'],
      efforts: 'low high',
      sources: [peers, registry],
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const xaiPrices: readonly ModelPrice[] = [
  {
    names: ['grok-4.7'],
    input: 2,
    output: 6,
    cacheRead: 0.5,
    source: pricing,
  },
  {
    names: ['grok-4.6'],
    input: 2,
    output: 6,
    cacheRead: 0.5,
    source: pricing46,
  },
]
