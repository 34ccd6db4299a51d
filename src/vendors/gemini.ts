import { geminiReferences, geminiTools } from './sources.ts'
import type { Fact, Vendor } from './vendor.ts'

const reference = { date: '2026-11-23', url: 'https://ai.google.dev/api' }
const openaiGuide = { date: '2026-11-23', url: 'https://ai.google.dev/gemini-api/docs/openai' }
const penalties = {
  date: '2026-07-17',
  url: 'https://github.com/google-gemini/cookbook/issues/1290',
}
const unknownPenalty = {
  date: '2025-02-18',
  url: 'https://github.com/n4ze3m/page-assist/issues/418',
}

const signatures = {
  date: '2026-11-30',
  url: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
}
const lostSignatures = {
  date: '2026-04-01',
  url: 'https://github.com/Gitlawb/openclaude/issues/67',
}

/** What its models refuse in chat-completions, too. */
export const geminiModels: readonly Fact[] = [
  {
    fact: 'Models since 2.5 refuse penalties.',
    protocols: ['chat-completions'],
    models: ['gemini-2.5+*', 'gemini-*latest'],
    refuses: ['presence_penalty', 'frequency_penalty'],
    sources: [penalties, unknownPenalty],
  },
  {
    fact: 'Models since 3 refuse earlier calls without a signature, and take a placeholder.',
    protocols: ['chat-completions'],
    models: ['gemini-3+*', 'gemini-*latest'],
    options: { chatCompletions: { missingSignature: 'placeholder' } },
    sources: [signatures, lostSignatures],
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
      sources: [reference],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      auth: 'bearer',
      addVersion: false,
      support: 'partial',
      sources: [openaiGuide],
    },
  ],
  facts: [
    {
      fact: 'Nothing stands next to references, which name a definition.',
      protocols: ['generate-content'],
      options: { tools: { schemas: 'fitting' } },
      sources: [geminiReferences],
    },
    {
      fact: 'More than 512 functions are refused.',
      protocols: ['generate-content'],
      options: { tools: { mostTools: 512 } },
      sources: [geminiTools],
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
      sources: [openaiGuide],
    },
    ...geminiModels,
  ],
} as const satisfies Vendor
