import type { Fact, Vendor } from './vendor.ts'

/** What differs between the models of OpenAI, wherever they are served. */
export const openaiModels: readonly Fact[] = [
  {
    fact: 'Reasoning models refuse temperature, top_p, penalties, logit_bias and log probabilities while they reason.',
    protocols: ['chat-completions', 'responses'],
    models: [
      'o1*',
      'o3*',
      'o4*',
      'gpt-5',
      'gpt-5-mini*',
      'gpt-5-nano*',
      'gpt-5-pro*',
      'gpt-5-codex*',
      'gpt-5.1-codex*',
      'gpt-5.2-pro*',
      'gpt-5.4-pro*',
      'gpt-5.5*',
      'gpt-5.6*',
      'gpt-6*',
    ],
    refuses: [
      'temperature',
      'top_p',
      'presence_penalty',
      'frequency_penalty',
      'logit_bias',
      'logprobs',
      'top_logprobs',
    ],
    sources: [
      'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
      'https://github.com/khoj-ai/khoj/issues/1377',
    ],
  },
  {
    fact: 'Reasoning models refuse `max_tokens`; the limit is `max_completion_tokens`.',
    protocols: ['chat-completions'],
    models: ['o1*', 'o3*', 'o4*', 'gpt-5*', 'gpt-6*'],
    options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
    sources: ['https://platform.openai.com/docs/api-reference'],
  },
  {
    fact: 'These models refuse a combination of schemas at the root of parameters; gpt-5 and later take it.',
    protocols: ['chat-completions', 'responses'],
    models: ['gpt-3*', 'gpt-4*', 'o1*', 'o3*', 'o4*'],
    options: { tools: { schemas: 'plain' } },
    sources: ['https://platform.openai.com/docs/guides/structured-outputs'],
  },
  {
    fact: 'Function tools together with reasoning are refused in chat-completions; the responses protocol accepts them.',
    protocols: ['chat-completions'],
    models: ['gpt-5.6*', 'gpt-6*'],
    speak: { protocol: 'responses', when: 'tools' },
    sources: [
      'https://github.com/itzcrazykns/vane/issues/1173',
      'https://developers.openai.com/api/docs/guides/deployment-checklist',
    ],
  },
  {
    fact: 'These models do not reason, and have no effort.',
    protocols: ['chat-completions', 'responses'],
    models: ['gpt-3*', 'gpt-4*', 'gpt-5-chat*'],
    options: { chatCompletions: { efforts: '' }, responses: { efforts: '' } },
    sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
  },
  {
    fact: 'These models cannot stop reasoning, and have no effort `none`.',
    protocols: ['chat-completions', 'responses'],
    models: ['o1*', 'o3*', 'o4*'],
    options: {
      chatCompletions: { efforts: 'low medium high' },
      responses: { efforts: 'low medium high' },
    },
    sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
  },
  {
    fact: 'The effort `minimal` exists for the first gpt-5 only, which has no `none`.',
    protocols: ['chat-completions', 'responses'],
    models: ['gpt-5', 'gpt-5-mini*', 'gpt-5-nano*', 'gpt-5-pro*', 'gpt-5-codex*'],
    options: {
      chatCompletions: { efforts: 'minimal low medium high' },
      responses: { efforts: 'minimal low medium high' },
    },
    sources: ['https://github.com/pydantic/pydantic-ai/tree/4fda38988'],
  },
  {
    fact: 'These models always reason.',
    protocols: ['chat-completions', 'responses'],
    models: ['gpt-6-astra*', 'gpt-6.1-sol*'],
    options: {
      chatCompletions: { efforts: 'low medium high xhigh' },
      responses: { efforts: 'low medium high xhigh max' },
    },
    sources: ['https://developers.openai.com/api/docs/guides/deployment-checklist'],
  },
]

export const openai = {
  name: 'openai',
  title: 'OpenAI',
  keyVariable: 'OPENAI_API_KEY',
  endpoints: [
    {
      protocol: 'responses',
      baseUrl: 'https://api.openai.com/v1',
      auth: 'bearer',
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.openai.com/v1',
      auth: 'bearer',
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
  ],
  passThrough: ['/v1/embeddings', '/v1/moderations', '/v1/images/*', '/v1/audio/*'],
  facts: [
    {
      fact: 'The role `developer` and system messages anywhere in the conversation are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { instructionsRole: 'developer', systemPlacement: 'keep' } },
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
    {
      fact: 'The token limit is `max_completion_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_completion_tokens' } },
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
    {
      fact: '`store`, `metadata`, `safety_identifier`, `prompt_cache_key` and `prompt_cache_retention` are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { optionalFields: 'write' } },
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
    {
      fact: 'Earlier reasoning has no field in chat-completions and is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningInHistory: 'never' } },
      sources: ['https://platform.openai.com/docs/api-reference'],
    },
    ...openaiModels,
  ],
} as const satisfies Vendor
