import type { Maker, Model } from './model.ts'
import { listed, type ModelPrice } from './price.ts'

const reference = { date: '2026-11-23', url: 'https://docs.anthropic.com/en/api' }
const thinkingGuide = {
  date: '2026-11-23',
  url: 'https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking',
}
const peers = { date: '2026-08-22', url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988' }
const limits = { date: '2026-10-03', url: 'https://github.com/anomalyco/models.dev/tree/482fb019a' }
const sonnetGuide = {
  date: '2026-10-03',
  url: 'https://platform.claude.com/docs/en/models/sonnet-5-5/migration-guide',
}

const reads = ['text', 'image', 'document'] as const
const all = 'low medium high xhigh max'

/** From Opus 4.7 on: no budgets, no sampling. */
const adaptive = {
  contextTokens: 1_000_000,
  outputTokens: 128_000,
  input: reads,
  thinking: ['off', 'adaptive'],
  efforts: all,
  sampling: 'none',
  prefill: false,
  converseSchemas: false,
  sources: [reference, thinkingGuide, peers, limits],
} as const satisfies Omit<Model, 'names'>

const newer = { ...adaptive, systemAnywhere: true } as const

/** From 5.5 on: no tool can be forced, and thinking is bound to what came before it. */
const bound = { ...newer, toolChoice: 'auto', preservedThinking: true } as const

const bothForms = {
  contextTokens: 1_000_000,
  input: reads,
  thinking: ['off', 'budget', 'adaptive'],
  efforts: 'low medium high max',
  sampling: 'one',
  prefill: false,
  sources: [reference, peers, limits],
} as const

/** Up to 4.5: thinking has a budget, and there is no effort. */
const manual = {
  contextTokens: 200_000,
  input: reads,
  thinking: ['off', 'budget'],
  efforts: '',
  budget: { least: 1024 },
  sources: [reference, peers, limits],
} as const

export const anthropic = {
  name: 'anthropic',
  title: 'Anthropic',
  protocols: ['messages', 'converse'],
  models: [
    { names: ['*claude-fable-5.1+*', '*claude-mythos-5.1+*'], ...bound, thinking: ['adaptive'] },
    {
      names: ['*claude-fable*', '*claude-mythos*'],
      ...newer,
      thinking: ['adaptive'],
      toolChoice: 'auto',
    },
    { names: ['*claude-opus-5.5+*'], ...bound, thinking: ['adaptive'] },
    { names: ['*claude-opus-5+*', '*claude-opus-4.8+*'], ...newer },
    { names: ['*claude-opus-4.7+*'], ...adaptive },
    { names: ['*claude-opus-4.6+*'], ...bothForms, outputTokens: 128_000 },
    {
      names: ['*claude-opus-4.5+*'],
      ...manual,
      outputTokens: 64_000,
      thinking: ['off', 'budget', 'effort'],
      efforts: 'low medium high',
      sampling: 'one',
    },
    {
      names: ['*claude-opus-4.1+*'],
      ...manual,
      outputTokens: 32_000,
      sampling: 'one',
      converseSchemas: false,
    },
    { names: ['*claude-opus-4+*'], ...manual, outputTokens: 32_000 },
    {
      names: ['*claude-sonnet-5.5+*'],
      ...bound,
      thinking: ['between_tools', 'adaptive'],
      sources: [...bound.sources, sonnetGuide],
    },
    { names: ['*claude-sonnet-5+*'], ...newer },
    { names: ['*claude-sonnet-4.6+*'], ...bothForms, outputTokens: 64_000 },
    { names: ['*claude-sonnet-4.1+*'], ...manual, outputTokens: 64_000, sampling: 'one' },
    { names: ['*claude-sonnet-4+*'], ...manual, outputTokens: 64_000 },
    { names: ['*claude-haiku-5.5+*'], ...bound },
    { names: ['*claude-haiku-5+*'], ...newer },
    { names: ['*claude-haiku-4.1+*'], ...manual, outputTokens: 64_000, sampling: 'one' },
    { names: ['*claude-3.7*', '*claude-3-7*'], ...manual },
    {
      names: ['*claude-3.5*', '*claude-3-5*'],
      ...manual,
      outputTokens: 8192,
      thinking: [],
      serialCalls: false,
    },
    {
      names: ['*claude-3-*', '*claude-3'],
      ...manual,
      outputTokens: 4096,
      thinking: [],
      serialCalls: false,
    },
    {
      names: ['*claude-2*', '*claude-1*', '*claude-v2*', '*claude-v1*', '*claude-instant*'],
      ...manual,
      contextTokens: 100_000,
      outputTokens: 4096,
      input: ['text'],
      thinking: [],
      serialCalls: false,
    },
    // A name without a version may be of any of them; all that are sold by such a name are new.
    { names: ['*claude*'], input: reads, systemAnywhere: true, sources: [reference] },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const anthropicPrices: readonly ModelPrice[] = [
  {
    names: ['*claude-opus-5-5*', '*claude-opus-5.5*'],
    input: 4,
    output: 20,
    cacheRead: 0.2,
    cacheWrite: 5,
    source: listed('482fb019a', 'anthropic/models/claude-opus-5-5', '2026-10-03'),
  },
  {
    names: [
      '*claude-opus-4-5*',
      '*claude-opus-4.5*',
      '*claude-opus-4-6*',
      '*claude-opus-4.6*',
      '*claude-opus-4-7*',
      '*claude-opus-4.7*',
      '*claude-opus-4-8*',
      '*claude-opus-4.8*',
      '*claude-opus-5',
    ],
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    source: listed('b01d14861', 'anthropic/models/claude-opus-5', '2026-07-24'),
  },
  {
    names: [
      '*claude-opus-4',
      '*claude-opus-4-0*',
      '*claude-opus-4-1*',
      '*claude-opus-4.1*',
      '*claude-opus-4-2025*',
    ],
    input: 15,
    output: 75,
    cacheRead: 1.5,
    cacheWrite: 18.75,
    source: listed('179029e9a', 'anthropic/models/claude-opus-4-1', '2026-07-24'),
  },
  {
    names: ['*claude-sonnet-5-5*', '*claude-sonnet-5.5*'],
    input: 2,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 2.5,
    source: listed('482fb019a', 'anthropic/models/claude-sonnet-5-5', '2026-10-03'),
  },
  {
    names: ['*claude-sonnet-5'],
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    source: listed('1261f5ba2', 'anthropic/models/claude-sonnet-5', '2026-06-30'),
  },
  {
    names: [
      '*claude-sonnet-4-5*',
      '*claude-sonnet-4.5*',
      '*claude-sonnet-4-6*',
      '*claude-sonnet-4.6*',
    ],
    input: 3,
    output: 15,
    cacheRead: 0.3,
    cacheWrite: 3.75,
    source: listed('179029e9a', 'anthropic/models/claude-sonnet-4-5', '2026-07-24'),
  },
  {
    names: ['*claude-haiku-4-5*', '*claude-haiku-4.5*'],
    input: 1,
    output: 5,
    cacheRead: 0.1,
    cacheWrite: 1.25,
    source: listed('482fb019a', 'anthropic/models/claude-haiku-4-5', '2026-10-03'),
  },
  {
    names: ['*claude-fable-5'],
    input: 10,
    output: 50,
    cacheRead: 1,
    cacheWrite: 12.5,
    source: listed('ed588fdd0', 'anthropic/models/claude-fable-5', '2026-06-09'),
  },
]
