import { claudeModels } from './anthropic.ts'
import { aiSdk, pydanticAi } from './sources.ts'
import type { Vendor } from './vendor.ts'

const apis = {
  date: '2026-11-27',
  url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/apis.html',
}
const chatGuide = {
  date: '2026-11-23',
  url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions-mantle.html',
}
const messagesGuide = {
  date: '2026-11-23',
  url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html',
}
const responsesGuide = {
  date: '2026-11-23',
  url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.md',
}
const apisByModel = {
  date: '2026-11-27',
  url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/models-api-compatibility.html',
}
const tanstack = {
  date: '2026-11-27',
  url: 'https://tanstack.com/ai/latest/docs/adapters/bedrock.md',
}
const schemaRoot = { date: '2026-08-24', url: 'https://github.com/kirodotdev/Kiro/issues/11026' }

/** Newer than the schema by which the service checks requests. */
const newerModels = [
  '*claude-opus-4.7+*',
  '*claude-sonnet-5+*',
  '*claude-haiku-5+*',
  '*claude-fable-*',
  '*claude-mythos-*',
]
const unstructured =
  'Newer models of Claude take neither strict tools nor a schema for the response.'
const peers = [aiSdk, pydanticAi]

export const bedrock = {
  name: 'bedrock',
  title: 'Amazon Bedrock',
  telemetryName: 'aws.bedrock',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  endpoints: [
    {
      protocol: 'messages',
      baseUrl: 'https://bedrock-mantle.{region}.api.aws/anthropic',
      auth: 'x-api-key',
      apis: [
        {
          api: 'invoke-model',
          baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
          auth: 'bearer',
        },
      ],
      sources: [messagesGuide],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1',
      auth: 'bearer',
      sources: [responsesGuide],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/v1',
      auth: 'bearer',
      sources: [chatGuide],
    },
    {
      protocol: 'converse',
      baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
      auth: 'bearer',
      sources: [apis],
    },
  ],
  facts: [
    ...claudeModels,
    {
      fact: 'Schemas of tools are checked: an object at the root, for Claude without combinations.',
      protocols: ['converse'],
      options: { tools: { schemas: 'fitting' } },
      sources: [schemaRoot],
    },
    {
      fact: 'Streaming tool arguments in parts is not supported.',
      protocols: ['messages'],
      refuses: ['tools.*.eager_input_streaming'],
      sources: [messagesGuide, pydanticAi],
    },
    {
      fact: unstructured,
      protocols: ['messages'],
      models: newerModels,
      refuses: ['output_config.format', 'tools.*.strict'],
      sources: peers,
    },
    {
      fact: unstructured,
      protocols: ['converse'],
      models: newerModels,
      refuses: ['outputConfig.textFormat', 'toolConfig.tools.*.toolSpec.strict'],
      sources: peers,
    },
    {
      fact: 'Models of OpenAI are not served with the messages protocol.',
      protocols: ['messages'],
      models: ['*gpt-*'],
      speak: { protocol: 'responses', when: 'always' },
      sources: [responsesGuide],
    },
    {
      fact: 'Claude is not served with the protocols of OpenAI.',
      protocols: ['chat-completions', 'responses'],
      models: ['*claude-*'],
      speak: { protocol: 'messages', when: 'always' },
      sources: [messagesGuide],
    },
    {
      fact: 'gpt-oss is served with chat-completions; with responses only on another host.',
      protocols: ['messages', 'responses'],
      models: ['*gpt-oss*'],
      speak: { protocol: 'chat-completions', when: 'always' },
      sources: [apisByModel, responsesGuide],
    },
    {
      fact: 'Models of other vendors are served with neither the messages protocol nor responses; Converse serves every model with conversations.',
      protocols: ['messages', 'responses'],
      models: [
        '*ai21.*',
        '*amazon.*',
        '*cohere.*',
        '*deepseek.*',
        '*google.*',
        '*meta.*',
        '*minimax.*',
        '*mistral.*',
        '*moonshot.*',
        '*moonshotai.*',
        '*nvidia.*',
        '*qwen.*',
        '*writer.*',
        '*zai.*',
      ],
      speak: { protocol: 'converse', when: 'always' },
      sources: [apisByModel],
    },
    {
      fact: 'Nova, Llama and some others are served by Converse alone.',
      protocols: ['chat-completions'],
      models: [
        '*ai21.*',
        '*amazon.*',
        '*cohere.*',
        '*deepseek.r1-*',
        '*kimi-k2-thinking*',
        '*meta.*',
      ],
      speak: { protocol: 'converse', when: 'always' },
      sources: [apisByModel, tanstack],
    },
    {
      fact: 'Reasoning is sent in `reasoning`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningField: 'reasoning' } },
      sources: [chatGuide],
    },
  ],
} as const satisfies Vendor
