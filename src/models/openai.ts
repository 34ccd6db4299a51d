import type { Maker, Model } from './model.ts'
import { listed, type ModelPrice } from './price.ts'

const peers = { date: '2026-08-22', url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988' }
const checklist = {
  date: '2026-11-23',
  url: 'https://developers.openai.com/api/docs/guides/deployment-checklist',
}
const schemas = {
  date: '2026-11-23',
  url: 'https://platform.openai.com/docs/guides/structured-outputs',
}
const chatTools = { date: '2026-11-23', url: 'https://github.com/itzcrazykns/vane/issues/1173' }
const limits = { date: '2026-09-04', url: 'https://github.com/anomalyco/models.dev/tree/6cec76d0d' }
const samplingFault = { date: '2026-11-23', url: 'https://github.com/khoj-ai/khoj/issues/1377' }

const reasoning = {
  contextTokens: 1_050_000,
  outputTokens: 128_000,
  input: ['text', 'image', 'document'],
  thinking: ['off', 'effort'],
  efforts: 'none low medium high xhigh max',
  sampling: 'none',
  refuses: ['stop'],
  sources: [peers, checklist, samplingFault, limits],
} as const satisfies Omit<Model, 'names'>

const newest = {
  ...reasoning,
  effortWithTools: 'none',
  sources: [...reasoning.sources, chatTools],
} as const

const always = { ...reasoning, thinking: ['effort'] } as const

/** The models that do not reason. */
const quick = {
  input: ['text', 'image'],
  thinking: [],
  efforts: '',
  sources: [peers, limits],
} as const

/** Up to GPT-4 they take plain schemas alone. */
const older = { ...quick, toolSchemas: 'plain', sources: [...quick.sources, schemas] } as const

/** Up to GPT-5.4 they reason only if they are asked to, and take sampling otherwise. */
const { sampling: _, ...optional } = reasoning

/** The first ones have smaller contexts. */
const first = { contextTokens: 400_000 } as const

export const openai = {
  name: 'openai',
  title: 'OpenAI',
  protocols: ['chat-completions', 'responses'],
  models: [
    {
      names: ['gpt-image*', 'gpt-realtime*', 'gpt-audio*', 'gpt-*transcribe*', 'gpt-*tts*'],
      sources: [limits],
    },
    {
      names: ['gpt-oss*'],
      contextTokens: 131_072,
      input: ['text'],
      thinking: ['effort'],
      efforts: 'low medium high',
      sources: [peers],
    },
    {
      names: ['gpt-6+-astra*', 'gpt-6.1+-sol*'],
      ...always,
      efforts: 'low medium high xhigh max',
      chatEfforts: 'low medium high xhigh',
    },
    { names: ['gpt-5.2+-pro*'], ...always, efforts: 'low medium high xhigh' },
    { names: ['gpt-5.1+-chat*'], ...always, ...first, efforts: 'medium', outputTokens: 16_384 },
    { names: ['gpt-5-chat*'], ...quick, outputTokens: 16_384 },
    { names: ['gpt-5.6+*'], ...newest },
    { names: ['gpt-5.5+*'], ...newest, efforts: 'none low medium high xhigh' },
    {
      names: ['gpt-5.4+*'],
      ...optional,
      effortWithTools: 'none',
      efforts: 'none low medium high xhigh',
    },
    { names: ['gpt-5.2+*'], ...optional, ...first, efforts: 'none low medium high xhigh' },
    { names: ['gpt-5.1+-codex*'], ...always, ...first, efforts: 'low medium high xhigh' },
    { names: ['gpt-5.1+*'], ...optional, ...first, efforts: 'none low medium high' },
    { names: ['gpt-5*'], ...always, ...first, efforts: 'minimal low medium high' },
    {
      names: ['gpt-4.1*'],
      ...older,
      contextTokens: 1_047_576,
      outputTokens: 32_768,
    },
    {
      names: ['gpt-4o*', 'chatgpt-4o*'],
      ...older,
      contextTokens: 128_000,
      outputTokens: 16_384,
    },
    { names: ['gpt-4-turbo*'], ...older, contextTokens: 128_000, outputTokens: 4096 },
    { names: ['gpt-4*', 'gpt-3*'], ...older, input: ['text'] },
    {
      names: ['o1-mini*', 'o1-preview*'],
      ...always,
      contextTokens: 128_000,
      outputTokens: 65_536,
      efforts: '',
      toolSchemas: 'plain',
    },
    {
      names: ['o1+*'],
      ...always,
      contextTokens: 200_000,
      outputTokens: 100_000,
      efforts: 'low medium high',
      toolSchemas: 'plain',
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const openaiPrices: readonly ModelPrice[] = [
  {
    names: ['gpt-6-astra*'],
    input: 10,
    output: 50,
    cacheRead: 1,
    cacheWrite: 12.5,
    source: listed('e2f67ad68', 'openai/models/gpt-6-astra', '2026-09-04'),
  },
  {
    names: ['gpt-5.6-sol*'],
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    source: listed('47eabd647', 'openai/models/gpt-5.6-sol', '2026-11-29'),
  },
  {
    names: ['gpt-5.5'],
    input: 5,
    output: 30,
    cacheRead: 0.5,
    source: listed('2593e131a', 'openai/models/gpt-5.5', '2026-04-23'),
  },
  {
    names: ['gpt-5.4'],
    input: 2.5,
    output: 15,
    cacheRead: 0.25,
    source: listed('137b27cbe', 'openai/models/gpt-5.4', '2026-03-05'),
  },
  {
    names: ['gpt-5.2', 'gpt-5.2-2025*'],
    input: 1.75,
    output: 14,
    cacheRead: 0.175,
    source: listed('ecee1e625', 'openai/models/gpt-5.2', '2025-12-11'),
  },
  {
    names: ['gpt-5-mini*'],
    input: 0.25,
    output: 2,
    cacheRead: 0.025,
    source: listed('8734c00cd', 'openai/models/gpt-5-mini', '2026-07-02'),
  },
  {
    names: ['gpt-5-nano*'],
    input: 0.05,
    output: 0.4,
    cacheRead: 0.005,
    source: listed('0760ceffd', 'openai/models/gpt-5-nano', '2026-07-02'),
  },
  {
    names: ['gpt-5', 'gpt-5-2025*', 'gpt-5-chat*'],
    input: 1.25,
    output: 10,
    cacheRead: 0.125,
    source: listed('0760ceffd', 'openai/models/gpt-5', '2026-07-02'),
  },
  {
    names: ['o4-mini', 'o4-mini-2025*'],
    input: 1.1,
    output: 4.4,
    cacheRead: 0.275,
    source: listed('0760ceffd', 'openai/models/o4-mini', '2026-07-02'),
  },
  {
    names: ['o3', 'o3-2025*'],
    input: 2,
    output: 8,
    cacheRead: 0.5,
    source: listed('8734c00cd', 'openai/models/o3', '2026-07-02'),
  },
]
