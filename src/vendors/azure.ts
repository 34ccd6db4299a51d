import { claudeModels } from './anthropic.ts'
import { openaiModels } from './openai.ts'
import type { Vendor } from './vendor.ts'

export const azure = {
  name: 'azure',
  title: 'Azure OpenAI',
  telemetryName: 'azure.ai.openai',
  keyVariable: 'AZURE_OPENAI_API_KEY',
  endpoints: [
    {
      protocol: 'responses',
      baseUrl: 'https://{resource}.openai.azure.com/openai/v1',
      auth: 'api-key',
      sources: [
        'https://www.developersdigest.tech/reference/api-compatibility',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://{resource}.openai.azure.com/openai/v1',
      auth: 'api-key',
      apis: [
        {
          api: 'deployments',
          baseUrl: 'https://{resource}.openai.azure.com/openai/deployments',
          addVersion: false,
          auth: 'api-key',
        },
      ],
      sources: [
        'https://www.developersdigest.tech/reference/api-compatibility',
        'https://github.com/vercel/ai/tree/ed857f50f',
      ],
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
      options: { systemPlacement: 'keep', chatCompletions: { instructionsRole: 'developer' } },
      sources: ['https://www.developersdigest.tech/reference/api-compatibility'],
    },
    {
      fact: 'Earlier reasoning has no field in chat-completions and is refused.',
      protocols: ['chat-completions'],
      models: ['gpt-*', 'o1*', 'o3*', 'o4*'],
      options: { chatCompletions: { reasoningInHistory: 'never' } },
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
    {
      fact: 'Models of OpenAI are not behind the endpoint of messages, which has Claude alone.',
      protocols: ['messages'],
      models: ['gpt-*', 'o1*', 'o3*', 'o4*'],
      speak: { protocol: 'responses', when: 'always' },
      sources: [
        'https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry',
      ],
    },
    {
      fact: 'Claude is behind the endpoint of messages alone.',
      protocols: ['responses', 'chat-completions'],
      models: ['claude-*'],
      speak: { protocol: 'messages', when: 'always' },
      sources: [
        'https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry',
      ],
    },
    {
      fact: 'Tools are checked as OpenAI does, whatever a deployment is called.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'fitting' } },
      sources: ['https://github.com/griptape-ai/griptape/issues/2150'],
    },
    {
      fact: 'Older models take plain schemas alone.',
      protocols: ['chat-completions', 'responses'],
      models: ['gpt-3*', 'gpt-4*', 'chatgpt-4*', 'o1+*'],
      options: { tools: { schemas: 'plain' } },
      sources: ['https://platform.openai.com/docs/guides/structured-outputs'],
    },
    {
      fact: 'Freeform tools are accepted as custom tools.',
      protocols: ['chat-completions'],
      models: ['gpt-5+*'],
      options: { chatCompletions: { customTools: 'write' } },
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
    ...openaiModels,
    ...claudeModels,
  ],
} as const satisfies Vendor
