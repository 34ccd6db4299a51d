import type { Vendor } from './vendor.ts'

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
      sources: [
        'https://www.developersdigest.tech/reference/api-compatibility',
        'https://github.com/anomalyco/models.dev/tree/f3fc69229',
      ],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://api.moonshot.ai/anthropic',
      auth: 'x-api-key',
      regions: { china: 'https://api.moonshot.cn/anthropic' },
      sources: [
        'https://www.developersdigest.tech/reference/api-compatibility',
        'https://metacpan.org/pod/Langertha::Engine::MoonshotAnthropic',
      ],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://api.moonshot.ai/v1',
      auth: 'bearer',
      sources: ['https://www.developersdigest.tech/reference/api-compatibility'],
    },
  ],
  facts: [
    {
      fact: 'The role `developer` is not sent by clients that know the vendor; `system` is.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/earendil-works/pi/tree/2e5a972a'],
    },
    {
      fact: 'The token limit is `max_completion_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
      sources: ['https://docs.rs/crate/synaps-engine/0.11.0/source/'],
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
      sources: [
        'https://docs.rs/crate/synaps-engine/0.11.0/source/',
        'https://github.com/farion1231/cc-switch',
      ],
    },
    {
      fact: 'Sampling is fixed by the platform.',
      protocols: ['chat-completions'],
      models: ['kimi-*'],
      refuses: ['temperature', 'top_p', 'n', 'presence_penalty', 'frequency_penalty'],
      sources: [
        'https://docs.rs/crate/synaps-engine/0.11.0/source/',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
    },
    {
      fact: 'Models up to K2.6 are switched by `thinking.type`; there are no levels.',
      protocols: ['chat-completions'],
      options: { efforts: '', chatCompletions: { thinking: 'type' } },
      sources: [
        'https://docs.rs/crate/synaps-engine/0.11.0/source/',
        'https://java.agentscope.io/v2/en/integration/model/kimi',
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
      ],
    },
    {
      fact: 'Schemas of tools must be plain, with a type in each and nothing next to references; `strict` is left out. Names begin with a letter.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'typed' }, chatCompletions: { namesByLetter: true } },
      refuses: ['tools.*.function.strict'],
      sources: [
        'https://github.com/vercel/ai/tree/ed857f50f',
        'https://java.agentscope.io/v2/en/integration/model/kimi',
        'https://github.com/MoonshotAI/kimi-cli/issues/1595',
        'https://github.com/MoonshotAI/kimi-cli/issues/2061',
        'https://github.com/MoonshotAI/kimi-cli/issues/2531',
      ],
    },
  ],
} as const satisfies Vendor
