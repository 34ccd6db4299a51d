import type { Maker, Model } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const thinkingGuide = { date: '2026-11-23', url: 'https://ai.google.dev/gemini-api/docs/thinking' }
const peers = { date: '2026-08-22', url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988' }
const hydrogenGuide = {
  date: '2026-11-29',
  url: 'https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-4-hydrogen',
}
const argonGuide = {
  date: '2026-11-29',
  url: 'https://ai.google.dev/gemini-api/docs/generate-content/latest-model',
}
const liteBudget = {
  date: '2026-11-29',
  url: 'https://github.com/nshkrdotcom/gemini_ex/tree/3df6965d3',
}
const penalties = {
  date: '2026-07-17',
  url: 'https://github.com/google-gemini/cookbook/issues/1290',
}

/** A file on a model at Google. */
/* @__NO_SIDE_EFFECTS__ */
const offered = (commit: string, name: string) => listed(commit, `providers/google/models/${name}`)

const gemini = {
  contextTokens: 1_048_576,
  outputTokens: 65_536,
  input: ['text', 'image', 'audio', 'video', 'file'],
  refuses: ['generationConfig.presencePenalty', 'generationConfig.frequencyPenalty'],
  sources: [thinkingGuide, peers, listed('91a198383', 'models/google/gemini-3.8-flash'), penalties],
} as const satisfies Omit<Model, 'names'>

const leveled = { ...gemini, thinking: ['effort'] } as const
/** Up to 2.5. */
const budgeted = {
  ...gemini,
  jsonWithTools: 'instructed',
  mediaInResults: false,
  signsCalls: false,
} as const

export const google = {
  name: 'google',
  title: 'Google',
  vendor: 'gemini',
  protocols: ['generate-content'],
  models: [
    {
      names: [
        'gemini-*image*',
        'gemini-*tts*',
        'gemini-*audio*',
        'gemini-*live*',
        'gemini-embedding*',
        'gemini-robotics*',
        'gemini-omni*',
      ],
      sources: [offered('4a9644faf', 'gemini-3.1-flash-tts-preview')],
    },
    {
      names: ['gemini-4-argon*'],
      ...leveled,
      efforts: 'low medium high',
      sources: [...leveled.sources, argonGuide],
    },
    {
      names: ['gemini-4+*'],
      ...leveled,
      efforts: 'low medium high xhigh',
      sources: [...leveled.sources, hydrogenGuide],
    },
    { names: ['gemini-3.7+*'], ...leveled, efforts: 'low medium high' },
    { names: ['gemini-3+-pro*'], ...leveled, efforts: 'low medium high' },
    { names: ['gemini-3+*'], ...leveled, efforts: 'minimal low medium high' },
    {
      names: ['gemini-2.5+-pro*'],
      ...budgeted,
      thinking: ['budget'],
      budget: { least: 128, most: 32_768 },
      sources: [...budgeted.sources, offered('0760ceffd', 'gemini-2.5-pro')],
    },
    {
      names: ['gemini-2.5+-flash-lite*'],
      ...budgeted,
      thinking: ['off', 'budget'],
      budget: { most: 24_576 },
      sources: [...budgeted.sources, liteBudget],
    },
    {
      names: ['gemini-2.5+*'],
      ...budgeted,
      thinking: ['off', 'budget'],
      budget: { most: 24_576 },
      sources: [...budgeted.sources, offered('0760ceffd', 'gemini-2.5-flash')],
    },
    {
      names: ['gemini-2+*'],
      ...budgeted,
      outputTokens: 8192,
      thinking: [],
      refuses: [],
      sources: [peers, offered('51752b580', 'gemini-2.0-flash')],
    },
    {
      names: ['gemini-1+*'],
      thinking: [],
      jsonWithTools: 'instructed',
      mediaInResults: false,
      signsCalls: false,
      sources: [peers],
    },
    { names: ['gemini-*'], ...leveled, efforts: 'low medium high' },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const googlePrices: readonly ModelPrice[] = [
  {
    names: ['gemini-3.8-flash'],
    input: 1.5,
    output: 7.5,
    cacheRead: 0.15,
    source: offered('91a198383', 'gemini-3.8-flash'),
  },
  {
    names: ['gemini-3.7-flash'],
    input: 1.5,
    output: 7.5,
    cacheRead: 0.15,
    source: offered('51cba2e6a', 'gemini-3.7-flash'),
  },
  {
    names: ['gemini-3.5-flash'],
    input: 1.5,
    output: 9,
    cacheRead: 0.15,
    source: offered('96e7a00f4', 'gemini-3.5-flash'),
  },
  {
    names: ['gemini-3.1-pro*'],
    input: 2,
    output: 12,
    cacheRead: 0.2,
    source: offered('2593e131a', 'gemini-3.1-pro-preview'),
  },
  {
    names: ['gemini-3-flash*'],
    input: 0.5,
    output: 3,
    cacheRead: 0.05,
    source: offered('96e7a00f4', 'gemini-3-flash-preview'),
  },
  {
    names: ['gemini-2.5-pro'],
    input: 1.25,
    output: 10,
    cacheRead: 0.125,
    source: offered('0760ceffd', 'gemini-2.5-pro'),
  },
  {
    names: ['gemini-2.5-flash-lite'],
    input: 0.1,
    output: 0.4,
    cacheRead: 0.01,
    source: offered('19565ce21', 'gemini-2.5-flash-lite'),
  },
  {
    names: ['gemini-2.5-flash'],
    input: 0.3,
    output: 2.5,
    cacheRead: 0.03,
    source: offered('0760ceffd', 'gemini-2.5-flash'),
  },
]
