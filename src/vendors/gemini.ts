import type { Vendor } from './vendor.ts'

export const gemini = {
  name: 'gemini',
  title: 'Google Gemini',
  keyVariable: 'GEMINI_API_KEY',
  endpoints: [
    { protocol: 'generate-content', baseUrl: 'https://generativelanguage.googleapis.com', auth: 'protocol', sources: ['https://ai.google.dev/api'] },
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
      options: { ccOptionalFields: 'drop', ccTopK: 'drop' },
      sources: ['https://ai.google.dev/gemini-api/docs/openai'],
    },
  ],
} as const satisfies Vendor
