import type { Vendor } from './vendor.ts'

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
      fact: 'Nothing stands next to references, which name a definition.',
      protocols: ['generate-content'],
      options: { tools: { schemas: 'fitting' } },
      sources: ['https://github.com/anomalyco/opencode/issues/12295'],
    },
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
  ],
} as const satisfies Vendor
