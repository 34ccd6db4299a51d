import { keepingReasoning, providers } from './ai-sdk.ts'
import { type Client, json } from './client.ts'

export const opencode: Client = {
  title: 'opencode',
  usages: providers.map(([usage]) => usage),
  remarks: [
    'Over messages and responses it gives reasoning back, over chat completions what is signed only with the option `name: "google"` beside the address, with which it tells no effort.',
  ],
  needs: [{ agents: ['opencode/'], options: keepingReasoning }],
  snippets: ({ model, models, keyEnv, addressFor }) =>
    providers.map(([usage, npm]) => {
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
