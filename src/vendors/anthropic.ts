import type { Fact, Vendor } from './vendor.ts'

/**
 * What differs between the models of Anthropic, wherever they are served. `before`: a prefix of
 * their names there.
 */
export const claudeModels = (before: '' | '*' = ''): readonly Fact[] => {
  const named = (...names: string[]) => names.map(name => `${before}${name}`)
  return [
    {
      fact: 'A system message inside the conversation is accepted by newer models only.',
      protocols: ['messages'],
      options: { messages: { systemPlacement: 'auto' } },
      sources: ['https://docs.anthropic.com/en/api'],
    },
    {
      fact: 'Models up to 4.5 have thinking with a budget, and no effort.',
      protocols: ['messages'],
      models: named(
        'claude-2*',
        'claude-3*',
        'claude-opus-4',
        'claude-opus-4-0*',
        'claude-opus-4-1*',
        'claude-opus-4-2*',
        'claude-sonnet-4',
        'claude-sonnet-4-0*',
        'claude-sonnet-4-2*',
        'claude-opus-4-5*',
        'claude-sonnet-4-5*',
        'claude-haiku-4-5*',
      ),
      options: { messages: { thinking: 'enabled', efforts: '' } },
      sources: [
        'https://docs.anthropic.com/en/api',
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
      ],
    },
    {
      fact: 'Opus 4.5 has both an effort and a budget.',
      protocols: ['messages'],
      models: named('claude-opus-4-5*'),
      options: { messages: { efforts: 'low medium high' } },
      sources: [
        'https://docs.anthropic.com/en/api',
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
      ],
    },
    {
      fact: 'The effort `xhigh` is unknown to 4.6.',
      protocols: ['messages'],
      models: named('claude-opus-4-6*', 'claude-sonnet-4-6*'),
      options: { messages: { efforts: 'low medium high max' } },
      sources: [
        'https://docs.anthropic.com/en/api',
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
      ],
    },
    {
      fact: 'From Opus 4.7 on a budget of thinking is refused, and so are temperature, top_p and top_k.',
      protocols: ['messages'],
      models: named(
        'claude-opus-4-7*',
        'claude-opus-4-8*',
        'claude-opus-5*',
        'claude-sonnet-5*',
        'claude-haiku-5*',
        'claude-fable-*',
        'claude-mythos-*',
      ),
      options: { messages: { thinking: 'adaptive' } },
      refuses: ['temperature', 'top_p', 'top_k'],
      sources: [
        'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
        'https://docs.anthropic.com/en/api',
      ],
    },
  ]
}

export const anthropic = {
  name: 'anthropic',
  title: 'Anthropic',
  keyVariable: 'ANTHROPIC_API_KEY',
  endpoints: [
    {
      protocol: 'messages',
      baseUrl: 'https://api.anthropic.com',
      auth: 'x-api-key',
      sources: ['https://docs.anthropic.com/en/api'],
    },
    {
      protocol: 'chat-completions',
      baseUrl: 'https://api.anthropic.com/v1',
      auth: 'bearer',
      support: 'partial',
      sources: ['https://docs.anthropic.com/en/api/openai-sdk'],
    },
  ],
  facts: claudeModels(),
} as const satisfies Vendor
