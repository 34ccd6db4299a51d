import type { Vendor } from './vendor.ts'

export const xai = {
  name: 'xai',
  title: 'xAI',
  keyVariable: 'XAI_API_KEY',
  endpoints: [
    { protocol: 'responses', baseUrl: 'https://api.x.ai/v1', auth: 'bearer', sources: ['https://docs.x.ai/developers/model-capabilities/text/comparison.md'] },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.x.ai/v1',
      auth: 'bearer',
      sources: ['https://docs.x.ai/developers/model-capabilities/text/comparison.md', 'https://www.developersdigest.tech/reference/api-compatibility'],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.x.ai',
      auth: 'x-api-key',
      support: 'partial',
      sources: ['https://docs.x.ai/developers/rest-api-reference/inference/legacy'],
    },
  ],
  facts: [
    {
      fact: 'Reasoning models refuse stop sequences and penalties.',
      protocols: ['chat-completions'],
      models: ['grok-4*', 'grok-5*', 'grok-code*'],
      refuses: ['stop', 'presence_penalty', 'frequency_penalty'],
      sources: ['https://docs.x.ai/developers/model-capabilities/text/comparison.md', 'https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
    {
      fact: 'Fields of OpenAI alone are refused.',
      protocols: ['responses'],
      refuses: ['metadata', 'prompt_cache_retention', 'safety_identifier', 'service_tier', 'truncation'],
      sources: ['https://github.com/farion1231/cc-switch/tree/5ca9459d5'],
    },
  ],
} as const satisfies Vendor
