import type { Vendor } from './vendor.ts'

export const azure = {
  name: 'azure',
  title: 'Azure OpenAI',
  keyVariable: 'AZURE_OPENAI_API_KEY',
  endpoints: [
    {
      protocol: 'responses',
      baseUrl: 'https://{resource}.openai.azure.com/openai/v1',
      auth: 'api-key',
      sources: ['https://www.developersdigest.tech/reference/api-compatibility', 'https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://{resource}.openai.azure.com/openai/v1',
      auth: 'api-key',
      sources: ['https://www.developersdigest.tech/reference/api-compatibility', 'https://github.com/vercel/ai/tree/ed857f50f'],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://{resource}.services.ai.azure.com/anthropic',
      auth: 'x-api-key',
      sources: [
        'https://www.developersdigest.tech/reference/api-compatibility',
        'https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry',
      ],
    },
  ],
  facts: [
    {
      fact: 'OpenAI models accept the role `developer` and system messages anywhere in the conversation.',
      protocols: ['chat-completions'],
      models: ['gpt-*', 'o1*', 'o3*', 'o4*'],
      options: { instructionsRole: 'developer', systemPlacement: 'keep' },
      sources: ['https://www.developersdigest.tech/reference/api-compatibility'],
    },
    {
      fact: 'Reasoning models refuse temperature, top_p, penalties, logit_bias and log probabilities while they reason.',
      protocols: ['chat-completions', 'responses'],
      models: ['o1*', 'o3*', 'o4*', 'gpt-5', 'gpt-5-mini*', 'gpt-5.5*', 'gpt-5.6*', 'gpt-6*'],
      refuses: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs'],
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
    {
      fact: 'Function tools together with reasoning are refused in chat-completions; the responses protocol accepts them.',
      protocols: ['chat-completions'],
      models: ['gpt-5.6*', 'gpt-6*'],
      speak: { protocol: 'responses', when: 'tools' },
      sources: ['https://github.com/itzcrazykns/vane/issues/1173'],
    },
  ],
} as const satisfies Vendor
