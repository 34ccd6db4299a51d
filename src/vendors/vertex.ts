import type { Vendor } from './vendor.ts'

export const vertex = {
  name: 'vertex',
  title: 'Google Vertex AI',
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
      options: { gcToolInvocations: 'omit' },
      sources: ['https://cloud.google.com/vertex-ai/docs/reference'],
    },
    {
      fact: 'Models up to 2.5 have a budget of thinking, and no levels.',
      protocols: ['generate-content'],
      models: ['gemini-2*'],
      options: { gcThinking: 'budget' },
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
    {
      fact: 'This model always thinks, with a budget of 128 at least.',
      protocols: ['generate-content'],
      models: ['gemini-2.5-pro*'],
      options: { gcLeastBudget: 128 },
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
    {
      fact: 'These models have no level `minimal`.',
      protocols: ['generate-content'],
      models: ['gemini-3-pro*', 'gemini-3.1-pro*', 'gemini-3.7-flash*'],
      options: { gcEfforts: 'low medium high' },
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
  ],
} as const satisfies Vendor
