import { geminiModels } from './gemini.ts'
import type { Vendor } from './vendor.ts'

export const vertex = {
  name: 'vertex',
  title: 'Google Vertex AI',
  telemetryName: 'gcp.vertex_ai',
  endpoints: [
    {
      protocol: 'generate-content',
      baseUrl: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers/google',
      auth: 'bearer',
      addVersion: false,
      sources: ['https://cloud.google.com/vertex-ai/docs/reference'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/endpoints/openapi',
      auth: 'bearer',
      addVersion: false,
      support: 'partial',
      sources: ['https://github.com/vercel/ai/tree/ed857f50f'],
    },
  ],
  facts: [
    {
      fact: 'The field that asks for the calls of built-in tools is unknown.',
      protocols: ['generate-content'],
      options: { generateContent: { toolInvocations: 'omit' } },
      sources: ['https://cloud.google.com/vertex-ai/docs/reference'],
    },
    ...geminiModels,
  ],
} as const satisfies Vendor
