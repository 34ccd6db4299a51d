import type { Maker, Model } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const reference = { date: '2026-11-23', url: 'https://docs.anthropic.com/en/api' }
const thinkingGuide = {
  date: '2026-11-23',
  url: 'https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking',
}
const peers = { date: '2026-08-22', url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988' }
const lineup = {
  date: '2026-11-29',
  url: 'https://platform.claude.com/docs/about-claude/models/whats-new-opus-5',
}
const textCompletions = {
  date: '2026-11-29',
  url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-text-completion.html',
}
/** A file on a model at Anthropic. */
/* @__NO_SIDE_EFFECTS__ */
const claude = (commit: string, name: string) =>
  listed(commit, `providers/anthropic/models/claude-${name}`)

const sonnetGuide = {
  date: '2026-10-03',
  url: 'https://platform.claude.com/docs/en/models/sonnet-5-5/migration-guide',
}

/** The price of the introduction has become the list price. */
const sonnetPrice = { date: '2026-08-14', url: 'https://github.com/theopenco/llmgateway/pull/3612' }

const reads = ['text', 'image', 'file'] as const
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
  sources: [
    reference,
    thinkingGuide,
    peers,
    lineup,
    claude('ed588fdd0', 'fable-5'),
    claude('1261f5ba2', 'sonnet-5'),
    claude('7ea1d4e15', 'opus-4-8'),
    claude('147cb3138', 'opus-4-7'),
  ],
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
  samplingWithThinking: false,
  prefill: false,
  sources: [reference, peers, claude('7fbe22429', 'opus-4-6'), claude('7fbe22429', 'sonnet-4-6')],
} as const

/** Up to 4.5: thinking has a budget, and there is no effort. */
const manual = {
  contextTokens: 200_000,
  input: reads,
  thinking: ['off', 'budget'],
  efforts: '',
  budget: { least: 1024 },
  samplingWithThinking: false,
  sources: [
    reference,
    peers,
    claude('7fbe22429', 'opus-4-5'),
    claude('179029e9a', 'opus-4-1'),
    claude('7fbe22429', 'opus-4-0'),
    claude('179029e9a', 'sonnet-4-5'),
    claude('7fbe22429', 'sonnet-4-0'),
    claude('482fb019a', 'haiku-4-5'),
  ],
} as const

/** Up to 3.5 they do not think, and calls cannot be limited to one. */
const unthinking = { thinking: [], efforts: '', serialCalls: false } as const

/** Some resellers put the version before the family. */
export const anthropic = {
  name: 'anthropic',
  title: 'Anthropic',
  protocols: ['messages', 'converse'],
  models: [
    {
      names: ['*claude-fable-5.1+*', '*claude-mythos-5.1+*', '*claude-fable-latest'],
      ...bound,
      thinking: ['adaptive'],
    },
    {
      names: ['*claude-fable*', '*claude-mythos*'],
      ...newer,
      thinking: ['adaptive'],
      toolChoice: 'auto',
    },
    {
      names: ['*claude-opus-5.5+*', '*claude-5.5+-opus*', '*claude-opus-latest'],
      ...bound,
      thinking: ['adaptive'],
    },
    {
      names: ['*claude-opus-5+*', '*claude-5+-opus*', '*claude-opus-4.8+*', '*claude-4.8+-opus*'],
      ...newer,
    },
    { names: ['*claude-opus-4.7+*', '*claude-4.7+-opus*'], ...adaptive },
    { names: ['*claude-opus-4.6+*', '*claude-4.6+-opus*'], ...bothForms, outputTokens: 128_000 },
    {
      names: ['*claude-opus-4.5+*', '*claude-4.5+-opus*'],
      ...manual,
      outputTokens: 64_000,
      thinking: ['off', 'budget', 'effort'],
      efforts: 'low medium high',
      sampling: 'one',
    },
    {
      names: ['*claude-opus-4.1+*', '*claude-4.1+-opus*'],
      ...manual,
      outputTokens: 32_000,
      sampling: 'one',
      converseSchemas: false,
    },
    { names: ['*claude-opus-4+*', '*claude-4+-opus*'], ...manual, outputTokens: 32_000 },
    {
      names: ['*claude-sonnet-5.5+*', '*claude-5.5+-sonnet*', '*claude-sonnet-latest'],
      ...bound,
      thinking: ['between_tools', 'adaptive'],
      sources: [...bound.sources, sonnetGuide],
    },
    { names: ['*claude-sonnet-5+*', '*claude-5+-sonnet*'], ...newer },
    { names: ['*claude-sonnet-4.6+*', '*claude-4.6+-sonnet*'], ...bothForms, outputTokens: 64_000 },
    {
      names: ['*claude-sonnet-4.1+*', '*claude-4.1+-sonnet*'],
      ...manual,
      outputTokens: 64_000,
      sampling: 'one',
    },
    { names: ['*claude-sonnet-4+*', '*claude-4+-sonnet*'], ...manual, outputTokens: 64_000 },
    { names: ['*claude-haiku-5+*', '*claude-5+-haiku*', '*claude-haiku-latest'], ...bound },
    {
      names: ['*claude-haiku-4.1+*', '*claude-4.1+-haiku*'],
      ...manual,
      outputTokens: 64_000,
      sampling: 'one',
    },
    {
      names: ['*claude-3.7*', '*claude-3-7*'],
      ...manual,
      sources: [reference, peers, claude('0f899d76d', '3-7-sonnet-20250219')],
    },
    {
      names: ['*claude-3.5*', '*claude-3-5*'],
      ...unthinking,
      contextTokens: 200_000,
      outputTokens: 8192,
      input: reads,
      sources: [
        reference,
        claude('0f899d76d', '3-5-sonnet-20241022'),
        claude('0f899d76d', '3-5-haiku-20241022'),
      ],
    },
    {
      names: ['*claude-3-*', '*claude-3'],
      ...unthinking,
      contextTokens: 200_000,
      outputTokens: 4096,
      input: reads,
      sources: [
        reference,
        claude('0f899d76d', '3-opus-20240229'),
        claude('0f899d76d', '3-haiku-20240307'),
      ],
    },
    {
      names: ['*claude-2*', '*claude-1*', '*claude-v2*', '*claude-v1*', '*claude-instant*'],
      ...unthinking,
      outputTokens: 4096,
      input: ['text'],
      sources: [reference, textCompletions],
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
    source: claude('482fb019a', 'opus-5-5'),
  },
  {
    names: ['*claude-opus-5'],
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    source: claude('b01d14861', 'opus-5'),
  },
  {
    names: ['*claude-opus-4-8*', '*claude-opus-4.8*'],
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    source: claude('7ea1d4e15', 'opus-4-8'),
  },
  {
    names: ['*claude-opus-4-7*', '*claude-opus-4.7*'],
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    source: claude('147cb3138', 'opus-4-7'),
  },
  {
    names: ['*claude-opus-4-6*', '*claude-opus-4.6*'],
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    source: claude('7fbe22429', 'opus-4-6'),
  },
  {
    names: ['*claude-opus-4-5*', '*claude-opus-4.5*'],
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    source: claude('7fbe22429', 'opus-4-5'),
  },
  {
    names: ['*claude-opus-4-1*', '*claude-opus-4.1*'],
    input: 15,
    output: 75,
    cacheRead: 1.5,
    cacheWrite: 18.75,
    source: claude('179029e9a', 'opus-4-1'),
  },
  {
    names: ['*claude-opus-4', '*claude-opus-4-0*', '*claude-opus-4-2025*'],
    input: 15,
    output: 75,
    cacheRead: 1.5,
    cacheWrite: 18.75,
    source: claude('7fbe22429', 'opus-4-0'),
  },
  {
    names: ['*claude-sonnet-5-5*', '*claude-sonnet-5.5*'],
    input: 2,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 2.5,
    source: claude('482fb019a', 'sonnet-5-5'),
  },
  {
    names: ['*claude-sonnet-5'],
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    source: sonnetPrice,
  },
  {
    names: ['*claude-sonnet-4-6*', '*claude-sonnet-4.6*'],
    input: 3,
    output: 15,
    cacheRead: 0.3,
    cacheWrite: 3.75,
    source: claude('7fbe22429', 'sonnet-4-6'),
  },
  {
    names: ['*claude-sonnet-4-5*', '*claude-sonnet-4.5*'],
    input: 3,
    output: 15,
    cacheRead: 0.3,
    cacheWrite: 3.75,
    source: claude('179029e9a', 'sonnet-4-5'),
  },
  {
    names: ['*claude-haiku-4-5*', '*claude-haiku-4.5*'],
    input: 1,
    output: 5,
    cacheRead: 0.1,
    cacheWrite: 1.25,
    source: claude('482fb019a', 'haiku-4-5'),
  },
  {
    names: ['*claude-fable-5'],
    input: 10,
    output: 50,
    cacheRead: 1,
    cacheWrite: 12.5,
    source: claude('ed588fdd0', 'fable-5'),
  },
]
