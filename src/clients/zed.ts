import type { AddressUsage } from '../address/check.ts'
import { type Client, json, lines } from './client.ts'

const usage: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }

export const zed: Client = {
  title: 'Zed',
  usages: [usage],
  remarks: [
    'max_tokens is the context window of the model, which Zed cannot ask for: check the number where the gateway does not know it.',
    'Zed reads the key from the environment in which it starts. In place of that, paste it under Settings, AI, LLM Providers.',
  ],
  snippets({ models, limits, keyEnv, addressFor }) {
    const address = addressFor(usage)
    const listed = models.map(id => ({
      name: id,
      display_name: id,
      max_tokens: limits[id]?.contextTokens ?? 128_000,
    }))
    return [
      {
        ...usage,
        title: 'settings',
        address,
        language: 'json',
        file: '~/.config/zed/settings.json',
        text: json({
          language_models: {
            openai_compatible: { wireglot: { api_url: address, available_models: listed } },
          },
        }),
      },
      {
        ...usage,
        title: 'environment, beside the settings',
        address,
        language: 'sh',
        // Its name follows from that of the provider.
        text: lines(`export WIREGLOT_API_KEY="$${keyEnv}"`, 'zed'),
      },
    ]
  },
}
