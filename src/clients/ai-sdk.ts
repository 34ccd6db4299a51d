import type { AddressUsage } from '../address/check.ts'
import type { WrittenOptions } from '../protocols/index.ts'
import { type Client, lines, quoted } from './client.ts'

/** Its package, its factory, and further arguments of that. */
type Provider = readonly [AddressUsage, npm: string, create: string, more: string]

/** The one that gives reasoning back and needs no store. */
export const messagesProvider: Provider = [
  { protocol: 'messages', appends: 'endpoint' },
  '@ai-sdk/anthropic',
  'createAnthropic',
  '',
]

/** The provider of each protocol. */
export const providers: readonly Provider[] = [
  [
    { protocol: 'chat-completions', appends: 'endpoint' },
    '@ai-sdk/openai-compatible',
    'createOpenAICompatible',
    "name: 'wireglot', includeUsage: true, supportsStructuredOutputs: true, ",
  ],
  [{ protocol: 'responses', appends: 'endpoint' }, '@ai-sdk/openai', 'createOpenAI', ''],
  messagesProvider,
  [
    { protocol: 'generate-content', appends: 'endpoint' },
    '@ai-sdk/google',
    'createGoogleGenerativeAI',
    '',
  ],
]

/**
 * Without these options it loses reasoning between steps: over chat-completions everything except
 * plain text and the signatures of calls, over messages and responses unsigned reasoning, over
 * responses also raw reasoning, over generate-content signatures without text.
 */
export const keepingReasoning: WrittenOptions = {
  chatCompletions: { signedReasoning: 'calls', unsignedReasoning: 'seal' },
  responses: { rawReasoning: 'summary' },
  generateContent: { signedReasoning: 'calls' },
}

export const aiSdk: Client = {
  title: 'Vercel AI SDK',
  usages: providers.map(([usage]) => usage),
  remarks: [
    'Unlike the vendors’ own libraries, those of the AI SDK want the version in the address.',
    "Over chat-completions its versions up to 6 give signed reasoning back only if the provider is called so: `name: 'google'`.",
    'Over responses it refers to earlier steps by their ids, which needs a gateway that stores responses (`store`); with `providerOptions: { openai: { store: false } }` it sends them.',
  ],
  needs: [{ agents: ['ai/', 'ai-sdk/', 'ai-sdk-'], options: keepingReasoning }],
  snippets: ({ model, keyEnv, addressFor }) =>
    providers.map(([usage, npm, create, more]) => {
      const address = addressFor(usage)
      return {
        ...usage,
        title: `JavaScript, over ${usage.protocol}`,
        address,
        language: 'js',
        text: lines(
          "import { generateText } from 'ai'",
          `import { ${create} } from '${npm}'`,
          '',
          `const wireglot = ${create}({ ${more}baseURL: ${quoted(address)}, apiKey: process.env.${keyEnv} })`,
          `const { text } = await generateText({ model: wireglot(${quoted(model)}), prompt: 'Hello there' })`,
          'console.log(text)',
        ),
      }
    }),
}
