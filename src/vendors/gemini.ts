import type { Fact, Vendor } from './vendor.ts'

/** What differs between the models of Gemini, wherever they are served. */
export const geminiModels: readonly Fact[] = [
  {
    fact: 'Models up to 2.5 have a budget of thinking, and no levels.',
    protocols: ['generate-content'],
    models: ['gemini-2*'],
    options: { generateContent: { thinking: 'budget' } },
    sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
  },
  {
    fact: 'This model always thinks, with a budget of 128 at least.',
    protocols: ['generate-content'],
    models: ['gemini-2.5-pro*'],
    options: { generateContent: { leastBudget: 128 } },
    sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
  },
  {
    fact: 'These models have no level `minimal`.',
    protocols: ['generate-content'],
    models: ['gemini-3-pro*', 'gemini-3.1-pro*', 'gemini-3.7-flash*'],
    options: { generateContent: { efforts: 'low medium high' } },
    sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
  },
]

export const gemini = {
  name: 'gemini',
  title: 'Google Gemini',
  telemetryName: 'gcp.gemini',
  keyVariable: 'GEMINI_API_KEY',
  endpoints: [
    {
      protocol: 'generate-content',
      baseUrl: 'https://generativelanguage.googleapis.com',
      auth: 'protocol',
      sources: ['https://ai.google.dev/api'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      auth: 'bearer',
      addVersion: false,
      support: 'partial',
      sources: ['https://ai.google.dev/gemini-api/docs/openai'],
    },
  ],
  facts: [
    {
      fact: 'Unknown fields are refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { optionalFields: 'drop', topK: 'drop' } },
      refuses: [
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'logit_bias',
      ],
      sources: ['https://ai.google.dev/gemini-api/docs/openai'],
    },
    ...geminiModels,
  ],
} as const satisfies Vendor
