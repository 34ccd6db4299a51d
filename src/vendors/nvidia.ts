import { modelsDev, opencodex, pi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const nimReference = {
  date: '2026-11-23',
  url: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
}
const nimReport = { date: '2026-11-23', url: 'https://github.com/openclaw/openclaw/issues/37048' }

export const nvidia = {
  name: 'nvidia',
  title: 'NVIDIA NIM',
  keyVariable: 'NVIDIA_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://integrate.api.nvidia.com/v1',
      auth: 'bearer',
      sources: [modelsDev, opencodex],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not accepted; `system` is.',
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: [nimReference, nimReport],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [nimReference, nimReport, opencodex],
    },
    {
      fact: 'Unknown fields are refused.',
      options: { chatCompletions: { optionalFields: 'drop', topK: 'drop' } },
      refuses: [
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'service_tier',
        'verbosity',
        'tools.*.function.strict',
      ],
      sources: [nimReference, nimReport],
    },
    {
      fact: 'Reasoning is switched in the chat template; there are no levels.',
      options: { efforts: '', chatCompletions: { thinking: 'template' } },
      sources: [nimReference, nimReport],
    },
    {
      fact: 'gpt-oss always reasons, in three levels.',
      models: ['gpt-oss*'],
      options: { efforts: 'low medium high', chatCompletions: { thinking: 'effort' } },
      sources: [nimReference, nimReport],
    },
    {
      fact: 'Kimi makes one call at a time.',
      models: ['kimi*'],
      options: { chatCompletions: { parallelCalls: 'forbid' } },
      sources: [nimReference, nimReport],
    },
    {
      fact: 'Some models copy a list of text parts into the response.',
      options: { chatCompletions: { textContent: 'string' } },
      sources: [pi],
    },
  ],
} as const satisfies Vendor
