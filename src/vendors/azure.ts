import { claudeModels } from './anthropic.ts'
import { openaiModels } from './openai.ts'
import {
  aiSdk,
  digest,
  metaschema,
  openaiReference,
  openaiSchemas,
  openaiTools,
} from './sources.ts'
import type { Vendor } from './vendor.ts'

const foundry = {
  date: '2026-11-23',
  url: 'https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry',
}

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
      sources: [digest, aiSdk],
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
      sources: [digest, aiSdk],
    },
    {
      protocol: 'messages',
      baseUrl: 'https://{resource}.services.ai.azure.com/anthropic',
      auth: 'x-api-key',
      sources: [digest, foundry],
    },
  ],
  facts: [
    {
      fact: 'OpenAI models accept the role `developer` and system messages anywhere in the conversation.',
      protocols: ['chat-completions'],
      models: ['gpt-*', 'o1*', 'o3*', 'o4*'],
      options: { systemPlacement: 'keep', chatCompletions: { instructionsRole: 'developer' } },
      sources: [digest],
    },
    {
      fact: 'Earlier reasoning has no field in chat-completions and is refused.',
      protocols: ['chat-completions'],
      models: ['gpt-*', 'o1*', 'o3*', 'o4*'],
      options: { chatCompletions: { reasoningInHistory: 'never' } },
      sources: [openaiReference],
    },
    {
      fact: 'Models of OpenAI are not behind the endpoint of messages, which has Claude alone.',
      protocols: ['messages'],
      models: ['gpt-*', 'o1*', 'o3*', 'o4*'],
      speak: { protocol: 'responses', when: 'always' },
      sources: [foundry],
    },
    {
      fact: 'Claude is behind the endpoint of messages alone.',
      protocols: ['responses', 'chat-completions'],
      models: ['claude-*'],
      speak: { protocol: 'messages', when: 'always' },
      sources: [foundry],
    },
    {
      fact: 'Tools are checked as OpenAI does, whatever a deployment is called.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { schemas: 'fitting' } },
      sources: [metaschema],
    },
    {
      fact: 'More than 128 tools are refused, as by OpenAI.',
      protocols: ['chat-completions', 'responses'],
      options: { tools: { mostTools: 128 } },
      sources: [openaiTools],
    },
    {
      fact: 'Older models take plain schemas alone.',
      protocols: ['chat-completions', 'responses'],
      models: ['gpt-3*', 'gpt-4*', 'chatgpt-4*', 'o1+*'],
      options: { tools: { schemas: 'plain' } },
      sources: [openaiSchemas],
    },
    {
      fact: 'Freeform tools are accepted as custom tools.',
      protocols: ['chat-completions'],
      models: ['gpt-5+*'],
      options: { chatCompletions: { customTools: 'write' } },
      sources: [openaiReference],
    },
    ...openaiModels,
    ...claudeModels,
  ],
} as const satisfies Vendor
