import type { Maker, Model } from './model.ts'

const thinkingGuide = { date: '2026-11-23', url: 'https://ai.google.dev/gemini-api/docs/thinking' }
const peers = { date: '2026-08-22', url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988' }
const limits = { date: '2026-09-02', url: 'https://github.com/anomalyco/models.dev/tree/91a198383' }
const penalties = {
  date: '2026-07-17',
  url: 'https://github.com/google-gemini/cookbook/issues/1290',
}

const gemini = {
  contextTokens: 1_048_576,
  outputTokens: 65_536,
  input: ['text', 'image', 'audio', 'video', 'document'],
  refuses: ['generationConfig.presencePenalty', 'generationConfig.frequencyPenalty'],
  sources: [thinkingGuide, peers, limits, penalties],
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
  protocols: ['generate-content'],
  models: [
    {
      names: ['gemini-*image*', 'gemini-*tts*', 'gemini-*audio*', 'gemini-*live*'],
      sources: [limits],
    },
    { names: ['gemini-embedding*', 'gemini-robotics*', 'gemini-omni*'], sources: [limits] },
    { names: ['gemini-4+*'], ...leveled, efforts: 'low medium high xhigh' },
    { names: ['gemini-3.7+*'], ...leveled, efforts: 'low medium high' },
    { names: ['gemini-3+-pro*'], ...leveled, efforts: 'low medium high' },
    { names: ['gemini-3+*'], ...leveled, efforts: 'minimal low medium high' },
    {
      names: ['gemini-2.5+-pro*'],
      ...budgeted,
      thinking: ['budget'],
      budget: { least: 128, most: 32_768 },
    },
    {
      names: ['gemini-2.5+-flash-lite*'],
      ...budgeted,
      thinking: ['off', 'budget'],
      budget: { most: 24_576 },
    },
    {
      names: ['gemini-2.5+*'],
      ...budgeted,
      thinking: ['off', 'budget'],
      budget: { most: 24_576 },
    },
    {
      names: ['gemini-2+*', 'gemini-1+*'],
      ...budgeted,
      outputTokens: 8192,
      thinking: [],
      refuses: [],
    },
    { names: ['gemini-*'], ...leveled, efforts: 'low medium high' },
  ],
} as const satisfies Maker
