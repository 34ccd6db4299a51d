import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const usage: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }

export const openaiCompatible: Client = {
  title: 'fields for an "OpenAI compatible" provider (Cursor, Continue, Open WebUI …)',
  usages: [usage],
  remarks: [
    'A client that calls from its own servers, as Cursor does, cannot reach an address of your machine.',
  ],
  snippets({ model, models, keyEnv, addressFor }) {
    const address = addressFor(usage)
    const continued = models.flatMap(id => [
      `  - name: ${quoted(id)}`,
      '    provider: openai',
      `    model: ${quoted(id)}`,
      `    apiBase: ${quoted(address)}`,
      `    apiKey: \${{ secrets.${keyEnv} }}`,
    ])
    return [
      {
        ...usage,
        title: 'fields',
        address,
        language: 'text',
        text: lines(
          `Base URL  ${address}`,
          `API key   the value of ${keyEnv}, or any text where the gateway asks for none`,
          `Model     ${model}`,
          ...models.filter(id => id !== model).map(id => `          ${id}`),
        ),
      },
      {
        ...usage,
        title: 'Continue',
        address,
        language: 'yaml',
        file: '~/.continue/config.yaml',
        text: lines('name: wireglot', 'version: 1.0.0', 'schema: v1', 'models:', ...continued),
      },
    ]
  },
}
