import type { Maker, Model } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

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
const efforts = {
  date: '2026-11-29',
  url: 'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort',
}
const proEfforts = {
  date: '2026-11-29',
  url: 'https://modelstream.ai/docs/api/createChatCompletion?model=gpt-5.4-pro',
}
const codexEfforts = { date: '2026-11-29', url: 'https://github.com/openai/codex/pull/7449' }
const samplingFault = { date: '2026-11-23', url: 'https://github.com/khoj-ai/khoj/issues/1377' }

/** A file on a model at OpenAI. */
/* @__NO_SIDE_EFFECTS__ */
const offered = (commit: string, name: string) => listed(commit, `providers/openai/models/${name}`)

/** A file on the model alone. */
/* @__NO_SIDE_EFFECTS__ */
const about = (commit: string, name: string) => listed(commit, `models/openai/${name}`)

const reasoning = {
  contextTokens: 1_050_000,
  outputTokens: 128_000,
  input: ['text', 'image', 'file'],
  thinking: ['off', 'effort'],
  efforts: 'none low medium high xhigh max',
  sampling: 'none',
  refuses: ['stop'],
  sources: [
    peers,
    checklist,
    samplingFault,
    about('6cec76d0d', 'gpt-6-astra'),
    about('89b873ed9', 'gpt-5.6-sol'),
    offered('2593e131a', 'gpt-5.5'),
    offered('137b27cbe', 'gpt-5.4'),
  ],
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
  sources: [peers],
} as const

/** Up to GPT-4 they take plain schemas alone. */
const older = { ...quick, toolSchemas: 'plain', sources: [peers, schemas] } as const

/** Up to GPT-5.4 they reason only if they are asked to, and take sampling otherwise. */
const { sampling: _, ...rest } = reasoning
const optional = { ...rest, samplingWithThinking: false } as const

/** The first ones have smaller contexts, and read no documents. */
const first = {
  contextTokens: 400_000,
  input: ['text', 'image'],
  sources: [
    peers,
    samplingFault,
    efforts,
    about('506b1b027', 'gpt-5.2'),
    offered('0760ceffd', 'gpt-5.1'),
    about('36dbbd62f', 'gpt-5'),
    offered('0760ceffd', 'gpt-5'),
  ],
} as const

export const openai = {
  name: 'openai',
  title: 'OpenAI',
  protocols: ['chat-completions', 'responses'],
  models: [
    {
      names: ['gpt-image*', 'gpt-realtime*', 'gpt-audio*', 'gpt-*transcribe*', 'gpt-*tts*'],
      sources: [about('485e7f811', 'gpt-realtime')],
    },
    {
      names: ['gpt-oss*'],
      contextTokens: 131_072,
      input: ['text'],
      thinking: ['effort'],
      efforts: 'low medium high',
      sources: [peers, about('1a0bdb93f', 'gpt-oss-120b')],
    },
    {
      names: ['gpt-6+-astra*', 'gpt-6.1+-sol*'],
      ...always,
      efforts: 'low medium high xhigh max',
      chatEfforts: 'low medium high xhigh',
    },
    {
      names: ['gpt-5.4+-pro*'],
      ...always,
      efforts: 'medium high xhigh',
      sources: [
        peers,
        proEfforts,
        offered('2593e131a', 'gpt-5.5-pro'),
        offered('2593e131a', 'gpt-5.4-pro'),
      ],
    },
    {
      names: ['gpt-5.2+-pro*'],
      ...always,
      ...first,
      efforts: 'medium high xhigh',
      sources: [peers, proEfforts, offered('ecee1e625', 'gpt-5.2-pro')],
    },
    {
      names: ['gpt-5-pro*'],
      ...always,
      ...first,
      efforts: 'high',
      outputTokens: 272_000,
      sources: [peers, efforts, offered('0760ceffd', 'gpt-5-pro')],
    },
    {
      names: ['gpt-5.1+-chat*'],
      ...always,
      contextTokens: 128_000,
      outputTokens: 16_384,
      input: ['text', 'image'],
      efforts: 'medium',
      sources: [
        peers,
        offered('8734c00cd', 'gpt-5.2-chat-latest'),
        offered('0760ceffd', 'gpt-5.1-chat-latest'),
      ],
    },
    {
      names: ['gpt-5-chat*'],
      ...quick,
      sources: [peers, offered('ecee1e625', 'gpt-5-chat-latest')],
    },
    { names: ['gpt-5.6+*'], ...newest },
    { names: ['gpt-5.5+*'], ...newest, efforts: 'none low medium high xhigh' },
    {
      names: ['gpt-5.4+*'],
      ...optional,
      effortWithTools: 'none',
      efforts: 'none low medium high xhigh',
    },
    { names: ['gpt-5.2+*'], ...optional, ...first, efforts: 'none low medium high xhigh' },
    {
      names: ['gpt-5.1-codex-max*'],
      ...always,
      ...first,
      efforts: 'low medium high xhigh',
      sources: [peers, codexEfforts, offered('ecee1e625', 'gpt-5.1-codex-max')],
    },
    {
      names: ['gpt-5.1-codex*', 'gpt-5-codex*'],
      ...always,
      ...first,
      efforts: 'low medium high',
      sources: [
        peers,
        offered('0760ceffd', 'gpt-5.1-codex'),
        offered('0760ceffd', 'gpt-5.1-codex-mini'),
        offered('0760ceffd', 'gpt-5-codex'),
      ],
    },
    { names: ['gpt-5.1+*'], ...optional, ...first, efforts: 'none low medium high' },
    { names: ['gpt-5*'], ...always, ...first, efforts: 'minimal low medium high' },
    {
      names: ['gpt-4.1*'],
      ...older,
      contextTokens: 1_047_576,
      outputTokens: 32_768,
      input: ['text', 'image', 'file'],
      sources: [...older.sources, about('f6c6f0436', 'gpt-4.1')],
    },
    {
      names: ['gpt-4o-2024-05-13'],
      ...older,
      contextTokens: 128_000,
      outputTokens: 4096,
      sources: [...older.sources, offered('0f899d76d', 'gpt-4o-2024-05-13')],
    },
    {
      names: ['gpt-4o*', 'chatgpt-4o*'],
      ...older,
      contextTokens: 128_000,
      outputTokens: 16_384,
      input: ['text', 'image', 'file'],
      sources: [...older.sources, about('506b1b027', 'gpt-4o')],
    },
    {
      names: ['gpt-4-turbo*'],
      ...older,
      contextTokens: 128_000,
      outputTokens: 4096,
      sources: [...older.sources, offered('0f899d76d', 'gpt-4-turbo')],
    },
    { names: ['gpt-4*', 'gpt-3*'], ...older, input: ['text'] },
    {
      names: ['o1-mini*'],
      ...always,
      contextTokens: 128_000,
      outputTokens: 65_536,
      input: ['text'],
      efforts: '',
      toolSchemas: 'plain',
      sources: [peers, schemas, offered('0f899d76d', 'o1-mini')],
    },
    {
      names: ['o1-preview*'],
      ...always,
      contextTokens: 128_000,
      outputTokens: 32_768,
      input: ['text'],
      efforts: '',
      toolSchemas: 'plain',
      sources: [peers, schemas, offered('0f899d76d', 'o1-preview')],
    },
    {
      names: ['o1+-deep-research*', 'o1+-mini-deep-research*'],
      ...always,
      contextTokens: 200_000,
      outputTokens: 100_000,
      input: ['text', 'image'],
      efforts: 'medium',
      toolSchemas: 'plain',
      sources: [peers, schemas, offered('0760ceffd', 'o3-deep-research')],
    },
    {
      names: ['o1+*'],
      ...always,
      contextTokens: 200_000,
      outputTokens: 100_000,
      efforts: 'low medium high',
      toolSchemas: 'plain',
      sources: [
        peers,
        schemas,
        offered('0760ceffd', 'o1'),
        offered('8734c00cd', 'o3'),
        offered('0760ceffd', 'o4-mini'),
      ],
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
    source: offered('e2f67ad68', 'gpt-6-astra'),
  },
  {
    names: ['gpt-5.6-sol*'],
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    source: offered('47eabd647', 'gpt-5.6-sol'),
  },
  {
    names: ['gpt-5.5'],
    input: 5,
    output: 30,
    cacheRead: 0.5,
    source: offered('2593e131a', 'gpt-5.5'),
  },
  {
    names: ['gpt-5.4'],
    input: 2.5,
    output: 15,
    cacheRead: 0.25,
    source: offered('137b27cbe', 'gpt-5.4'),
  },
  {
    names: ['gpt-5.2', 'gpt-5.2-2025*'],
    input: 1.75,
    output: 14,
    cacheRead: 0.175,
    source: offered('ecee1e625', 'gpt-5.2'),
  },
  {
    names: ['gpt-5-mini*'],
    input: 0.25,
    output: 2,
    cacheRead: 0.025,
    source: offered('8734c00cd', 'gpt-5-mini'),
  },
  {
    names: ['gpt-5-nano*'],
    input: 0.05,
    output: 0.4,
    cacheRead: 0.005,
    source: offered('0760ceffd', 'gpt-5-nano'),
  },
  {
    names: ['gpt-5-chat*'],
    input: 1.25,
    output: 10,
    cacheRead: 0.125,
    source: offered('bc73d0816', 'gpt-5-chat-latest'),
  },
  {
    names: ['gpt-5', 'gpt-5-2025*'],
    input: 1.25,
    output: 10,
    cacheRead: 0.125,
    source: offered('0760ceffd', 'gpt-5'),
  },
  {
    names: ['o4-mini', 'o4-mini-2025*'],
    input: 1.1,
    output: 4.4,
    cacheRead: 0.275,
    source: offered('0760ceffd', 'o4-mini'),
  },
  {
    names: ['o3', 'o3-2025*'],
    input: 2,
    output: 8,
    cacheRead: 0.5,
    source: offered('8734c00cd', 'o3'),
  },
]
