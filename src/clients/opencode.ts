import { keepingReasoning, messagesProvider, providers } from './ai-sdk.ts'
import { type Client, type ClientSetup, json, type ModelLimits } from './client.ts'

const settingsOf = (
  { model, smallModel, models, limits, keyEnv }: ClientSetup,
  npm: string,
  address: string,
) => ({
  $schema: 'https://opencode.ai/config.json',
  model: `wireglot/${model}`,
  small_model: `wireglot/${smallModel}`,
  provider: {
    wireglot: {
      npm,
      name: 'wireglot',
      options: { baseURL: address, apiKey: `{env:${keyEnv}}` },
      models: Object.fromEntries(models.map(id => [id, { name: id, ...limitOf(limits[id]) }])),
    },
  },
})

/** Without limits it never compacts. It takes both or none. Source: https://opencode.ai/docs/models */
const limitOf = ({ contextTokens, maxOutputTokens }: ModelLimits = {}) =>
  contextTokens !== undefined &&
  maxOutputTokens !== undefined && { limit: { context: contextTokens, output: maxOutputTokens } }

export const opencode: Client = {
  title: 'opencode',
  usages: providers.map(([usage]) => usage),
  remarks: [
    'Over messages and responses it sends reasoning back. Over chat completions it sends signed reasoning only with the option `name: "google"` next to the address, and then it sends no effort.',
  ],
  needs: [{ agents: ['opencode/'], options: keepingReasoning }],
  snippets: setup =>
    providers.map(([usage, npm]) => {
      const address = setup.addressFor(usage)
      return {
        ...usage,
        title: `settings, over ${usage.protocol}`,
        address,
        language: 'json',
        file: 'opencode.json',
        text: json(settingsOf(setup, npm, address)),
      }
    }),
  run: {
    command: 'opencode',
    npm: 'opencode-ai',
    settings(setup) {
      const [usage, npm] = messagesProvider
      const settings = settingsOf(setup, npm, setup.addressFor(usage))
      return { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) } }
    },
  },
}
