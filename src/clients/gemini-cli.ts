import type { AddressUsage } from '../address/check.ts'
import { type Client, json, lines, shellWord } from './client.ts'

const usage: AddressUsage = { protocol: 'generate-content', appends: 'version-and-endpoint' }

export const geminiCli: Client = {
  title: 'Gemini CLI',
  usages: [usage],
  remarks: [
    'It wants both: without the settings it takes an address in the environment for a way to sign in that it refuses.',
    'Without a configured model, Gemini CLI first lets a small model choose one. The gateway may not have that model, so set the model.',
  ],
  // It drops reasoning and keeps the signatures of calls.
  needs: [{ agents: ['GeminiCLI'], options: { generateContent: { signedReasoning: 'calls' } } }],
  snippets({ model, keyEnv, addressFor }) {
    const address = addressFor(usage)
    return [
      {
        ...usage,
        title: 'settings',
        address,
        language: 'json',
        file: '~/.gemini/settings.json',
        text: json({
          security: { auth: { selectedType: 'gemini-api-key' } },
          model: { name: model },
        }),
      },
      {
        ...usage,
        title: 'environment, beside the settings',
        address,
        language: 'sh',
        text: lines(
          `export GOOGLE_GEMINI_BASE_URL=${shellWord(address)}`,
          `export GEMINI_API_KEY="$${keyEnv}"`,
          `gemini -m ${shellWord(model)}`,
        ),
      },
    ]
  },
}
