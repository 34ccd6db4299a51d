import type { Vendor } from './vendor.ts'

export const bedrock = {
  name: 'bedrock',
  title: 'Amazon Bedrock',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  endpoints: [
    {
      protocol: 'messages',
      baseUrl: 'https://bedrock-mantle.{region}.api.aws/anthropic',
      auth: 'x-api-key',
      sources: ['https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html'],
    },
    {
      protocol: 'responses',
      baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1',
      auth: 'bearer',
      sources: ['https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.md'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/v1',
      auth: 'bearer',
      sources: ['https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions-mantle.html'],
    },
  ],
  facts: [
    {
      fact: 'temperature, top_p and top_k are refused.',
      protocols: ['messages'],
      models: ['*claude-opus-4-7*', '*claude-opus-4-8*', '*claude-opus-5*', '*claude-sonnet-5*', '*claude-fable-*', '*claude-mythos-*'],
      refuses: ['temperature', 'top_p', 'top_k'],
      sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
    },
  ],
} as const satisfies Vendor
