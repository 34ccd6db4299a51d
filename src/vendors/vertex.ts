import { claudeModels } from './anthropic.ts'
import { geminiModels } from './gemini.ts'
import { aiSdk, geminiReferences, geminiTools } from './sources.ts'
import type { Vendor } from './vendor.ts'

const reference = { date: '2026-11-23', url: 'https://cloud.google.com/vertex-ai/docs/reference' }
const claudeGuide = {
  date: '2026-11-26',
  url: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude',
}

/**
 * Locations whose host is not `{region}-aiplatform`. Source:
 * https://cloud.google.com/vertex-ai/docs/reference
 */
const hostsOf = (rest: string) => ({
  global: `https://aiplatform.googleapis.com/v1/projects/{project}/locations/global/${rest}`,
  us: `https://aiplatform.us.rep.googleapis.com/v1/projects/{project}/locations/us/${rest}`,
  eu: `https://aiplatform.eu.rep.googleapis.com/v1/projects/{project}/locations/eu/${rest}`,
})

export const vertex = {
  name: 'vertex',
  title: 'Google Vertex AI',
  telemetryName: 'gcp.vertex_ai',
  endpoints: [
    {
      protocol: 'generate-content',
      baseUrl:
        'https://{region}-aiplatform.googleapis.com/v1/projects/{project}/locations/{region}/publishers/google',
      regions: hostsOf('publishers/google'),
      auth: 'bearer',
      addVersion: false,
      sources: [reference],
    },
    {
      protocol: 'messages',
      baseUrl:
        'https://{region}-aiplatform.googleapis.com/v1/projects/{project}/locations/{region}/publishers/anthropic',
      regions: hostsOf('publishers/anthropic'),
      auth: 'bearer',
      api: 'raw-predict',
      addVersion: false,
      sources: [claudeGuide],
    },
    {
      protocol: 'chat-completions',
      baseUrl:
        'https://{region}-aiplatform.googleapis.com/v1/projects/{project}/locations/{region}/endpoints/openapi',
      regions: hostsOf('endpoints/openapi'),
      auth: 'bearer',
      addVersion: false,
      support: 'partial',
      sources: [aiSdk],
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
      fact: 'The field that asks for the calls of built-in tools is unknown.',
      protocols: ['generate-content'],
      options: { generateContent: { toolInvocations: 'omit' } },
      sources: [reference],
    },
    ...claudeModels,
    ...geminiModels,
    {
      fact: 'Claude is served with the messages protocol alone.',
      protocols: ['generate-content', 'chat-completions', 'responses'],
      models: ['claude-*'],
      speak: { protocol: 'messages', when: 'always' },
      sources: [claudeGuide],
    },
    {
      fact: 'Gemini is not served with the messages protocol.',
      protocols: ['messages'],
      models: ['gemini-*'],
      speak: { protocol: 'generate-content', when: 'always' },
      sources: [reference],
    },
  ],
} as const satisfies Vendor
