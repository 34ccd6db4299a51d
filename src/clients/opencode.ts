import type { AddressUsage } from '../address/check.ts'
import { type Client, json } from './client.ts'

/** The packages that it speaks each protocol with. */
const packages: [AddressUsage, string][] = [
  [{ protocol: 'chat-completions', appends: 'endpoint' }, '@ai-sdk/openai-compatible'],
  [{ protocol: 'responses', appends: 'endpoint' }, '@ai-sdk/openai'],
  [{ protocol: 'messages', appends: 'endpoint' }, '@ai-sdk/anthropic'],
  [{ protocol: 'generate-content', appends: 'endpoint' }, '@ai-sdk/google'],
]

export const opencode: Client = {
  title: 'opencode',
  usages: packages.map(([usage]) => usage),
  snippets: ({ model, models, keyEnv, addressFor }) =>
    packages.map(([usage, npm]) => {
      const address = addressFor(usage)
      const provider = {
        npm,
        name: 'wireglot',
        options: { baseURL: address, apiKey: `{env:${keyEnv}}` },
        models: Object.fromEntries(models.map(id => [id, { name: id }])),
      }
      const settings = {
        $schema: 'https://opencode.ai/config.json',
        model: `wireglot/${model}`,
        small_model: `wireglot/${model}`,
        provider: { wireglot: provider },
      }
      return { ...usage, title: `settings, over ${usage.protocol}`, address, language: 'json', file: 'opencode.json', text: json(settings) }
    }),
}
