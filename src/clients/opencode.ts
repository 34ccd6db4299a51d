import { keepingReasoning, providers } from './ai-sdk.ts'
import { type Client, json } from './client.ts'

export const opencode: Client = {
  title: 'opencode',
  usages: providers.map(([usage]) => usage),
  remarks: [
    'Over messages and responses it sends reasoning back. Over chat completions it sends signed reasoning only with the option `name: "google"` next to the address, and then it sends no effort.',
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
      return {
        ...usage,
        title: `settings, over ${usage.protocol}`,
        address,
        language: 'json',
        file: 'opencode.json',
        text: json(settings),
      }
    }),
}
