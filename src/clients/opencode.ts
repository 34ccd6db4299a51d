import { providers } from './ai-sdk.ts'
import { type Client, json } from './client.ts'

export const opencode: Client = {
  title: 'opencode',
  usages: providers.map(([usage]) => usage),
  remarks: [
    'Over messages and responses it gives signed reasoning back, over chat completions only with the option `name: "google"` beside the address, with which it tells no effort.',
    'Over messages and responses it forgets reasoning that is not signed: a server that wants it beside calls (DeepSeek, Kimi) then needs the option ccMissingReasoning: blank at its channel.',
  ],
  // Over chat-completions it keeps of reasoning plain text and the signatures of calls.
  needs: [{ agents: ['opencode/'], options: { ccThoughts: 'calls' } }],
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
