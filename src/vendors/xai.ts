import { ccSwitch, digest, opencodex } from './sources.ts'
import type { Vendor } from './vendor.ts'

const cliProxy = {
  date: '2026-08-22',
  url: 'https://github.com/router-for-me/CLIProxyAPI/tree/a7e3596b7',
}
const comparison = {
  date: '2026-11-23',
  url: 'https://docs.x.ai/developers/model-capabilities/text/comparison.md',
}
const legacy = {
  date: '2026-11-23',
  url: 'https://docs.x.ai/developers/rest-api-reference/inference/legacy',
}

const toolCount = {
  date: '2026-08-24',
  url: 'https://github.com/router-for-me/CLIProxyAPI/issues/5214',
}

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
      sources: [comparison],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.x.ai/v1',
      auth: 'bearer',
      sources: [comparison, digest],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.x.ai',
      auth: 'x-api-key',
      support: 'partial',
      sources: [legacy],
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
      sources: [ccSwitch],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`; dropping it is the main cause of cache misses.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning_content', reasoningInHistory: 'always' },
      },
      sources: [opencodex],
    },
    {
      fact: 'Schemas of tools must be plain objects.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'plain' } },
      sources: [cliProxy, opencodex],
    },
    {
      fact: 'More than 200 tools are refused.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { mostTools: 200 } },
      sources: [toolCount],
    },
    {
      fact: 'A choice of tools without tools is refused, and so is `external_web_access`.',
      protocols: ['responses'],
      options: { responses: { choiceWithoutTools: 'drop' } },
      refuses: ['tools.*.external_web_access'],
      sources: [ccSwitch, cliProxy],
    },
  ],
} as const satisfies Vendor
