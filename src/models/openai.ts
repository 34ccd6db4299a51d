import type { Maker, Model } from './model.ts'

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
