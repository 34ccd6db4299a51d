import { aiSdk, digest, modelsDev, pi, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const agentscope = {
  date: '2026-11-23',
  url: 'https://java.agentscope.io/v2/en/integration/model/kimi',
}
const synaps = { date: '2026-11-23', url: 'https://docs.rs/crate/synaps-engine/0.11.0/source/' }
const langertha = {
  date: '2026-11-23',
  url: 'https://metacpan.org/pod/Langertha::Engine::MoonshotAnthropic',
}
const schemaTypes = {
  date: '2026-03-26',
  url: 'https://github.com/MoonshotAI/kimi-cli/issues/1595',
}
const schemaReferences = {
  date: '2026-04-24',
  url: 'https://github.com/MoonshotAI/kimi-cli/issues/2061',
}
const toolUse = { date: '2026-11-30', url: 'https://platform.kimi.ai/docs/api/tool-use' }
const toolNames = { date: '2026-07-22', url: 'https://github.com/MoonshotAI/kimi-cli/issues/2531' }
const placeholders = {
  date: '2026-08-13',
  url: 'https://github.com/farion1231/cc-switch/commit/c82624761',
}
const forcedTools = {
  date: '2026-08-31',
  url: 'https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152',
}

export const moonshot = {
  name: 'moonshot',
  title: 'Moonshot AI (Kimi)',
  keyVariable: 'MOONSHOT_API_KEY',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.moonshot.ai/v1',
      auth: 'bearer',
      regions: { china: 'https://api.moonshot.cn/v1' },
      sources: [digest, modelsDev],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.moonshot.ai/anthropic',
      auth: 'x-api-key',
      regions: { china: 'https://api.moonshot.cn/anthropic' },
      sources: [digest, langertha],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://api.moonshot.ai/v1',
      auth: 'bearer',
      sources: [digest],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not sent by clients that know the vendor; `system` is.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: [pi],
    },
    {
      fact: 'The token limit is `max_completion_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
      sources: [synaps],
    },
    {
      fact: 'All earlier reasoning is read from `reasoning_content`; placeholders are not wanted.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: {
          reasoningField: 'reasoning_content',
          reasoningInHistory: 'always',
          missingReasoning: 'omit',
        },
      },
      sources: [synaps, placeholders],
    },
    {
      fact: 'Sampling is fixed by the platform.',
      protocols: ['chat-completions'],
      models: ['kimi-*'],
      refuses: ['temperature', 'top_p', 'n', 'presence_penalty', 'frequency_penalty'],
      sources: [synaps, aiSdk],
    },
    {
      fact: 'Models up to K2.6 are switched by `thinking.type`; there are no levels.',
      protocols: ['chat-completions'],
      options: { efforts: '', chatCompletions: { thinking: 'type' } },
      sources: [synaps, agentscope, pydanticAi],
    },
    {
      fact: 'While these models reason, as they do by default, no tool can be forced.',
      protocols: ['chat-completions'],
      models: ['kimi-k2.5*', 'kimi-k2.6*'],
      options: { chatCompletions: { toolChoice: 'unthinking' } },
      sources: [forcedTools],
    },
    {
      fact: 'K3 can be forced to call, but not to call a tool by its name.',
      protocols: ['chat-completions'],
      models: ['kimi-k3+*', 'k3+'],
      options: { chatCompletions: { toolChoice: 'words' } },
      sources: [forcedTools],
    },
    {
      fact: 'Schemas of tools must be plain, with a type in each and nothing next to references. Names begin with a letter and have three letters at least. `strict` is read; without it, arguments are enforced. There are 128 tools at most.',
      protocols: ['chat-completions', 'responses'],
      options: {
        tools: { schemas: 'typed', mostTools: 128 },
        chatCompletions: { namesByLetter: true },
        responses: { namesByLetter: true },
      },
      sources: [toolUse, agentscope, schemaTypes, schemaReferences, toolNames],
    },
  ],
} as const satisfies Vendor
