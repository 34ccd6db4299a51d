import type { Vendor } from './vendor.ts'

export const xai = {
  name: 'xai',
  title: 'xAI',
  telemetryName: 'x_ai',
  keyVariable: 'XAI_API_KEY',
  endpoints: [
    {
      protocol: 'responses',
      baseUrl: 'https://api.x.ai/v1',
      auth: 'bearer',
      tools: [
        'function',
        'web_search',
        'x_search',
        'image_generation',
        'collections_search',
        'file_search',
        'code_execution',
        'code_interpreter',
        'mcp',
        'shell',
      ],
      sources: ['https://docs.x.ai/developers/model-capabilities/text/comparison.md'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.x.ai/v1',
      auth: 'bearer',
      sources: [
        'https://docs.x.ai/developers/model-capabilities/text/comparison.md',
        'https://www.developersdigest.tech/reference/api-compatibility',
      ],
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
      fact: 'Fields of OpenAI alone are refused.',
      protocols: ['responses'],
      refuses: [
        'metadata',
        'prompt_cache_retention',
        'safety_identifier',
        'service_tier',
        'truncation',
      ],
      sources: ['https://github.com/farion1231/cc-switch/tree/5ca9459d5'],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`; dropping it is the main cause of cache misses.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning_content', reasoningInHistory: 'always' },
      },
      sources: ['https://github.com/lidge-jun/opencodex/tree/6ae83b1f1'],
    },
    {
      fact: 'Schemas of tools must be plain objects.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'plain' } },
      sources: [
        'https://github.com/router-for-me/CLIProxyAPI/tree/a7e3596b7',
        'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
      ],
    },
    {
      fact: 'A choice of tools without tools is refused, and so is `external_web_access`.',
      protocols: ['responses'],
      options: { responses: { choiceWithoutTools: 'drop' } },
      refuses: ['tools.*.external_web_access'],
      sources: [
        'https://github.com/farion1231/cc-switch/tree/5ca9459d5',
        'https://github.com/router-for-me/CLIProxyAPI/tree/a7e3596b7',
      ],
    },
  ],
} as const satisfies Vendor
