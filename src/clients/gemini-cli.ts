import type { AddressUsage } from '../address/check.ts'
import { type Client, type ClientSetup, json, keyLines, lines, shellWord } from './client.ts'

const usage: AddressUsage = { protocol: 'generate-content', appends: 'version-and-endpoint' }

const settingsOf = ({ model }: ClientSetup) => ({
  security: { auth: { selectedType: 'gemini-api-key' } },
  model: { name: model },
})

const addressVariable = 'GOOGLE_GEMINI_BASE_URL'
const keyVariable = 'GEMINI_API_KEY'

export const geminiCli: Client = {
  title: 'Gemini CLI',
  usages: [usage],
  remarks: [
    'It wants both: without the settings it takes an address in the environment for a way to sign in that it refuses.',
    'Without a configured model, Gemini CLI first lets a small model choose one. The gateway may not have that model, so set the model.',
  ],
  // It drops reasoning and keeps the signatures of calls.
  needs: [{ agents: ['GeminiCLI'], options: { generateContent: { signedReasoning: 'calls' } } }],
  snippets(setup) {
    const { model, keyEnv, addressFor } = setup
    const address = addressFor(usage)
    return [
      {
        ...usage,
        title: 'settings',
        address,
        language: 'json',
        file: '~/.gemini/settings.json',
        text: json(settingsOf(setup)),
      },
      {
        ...usage,
        title: 'environment, beside the settings',
        address,
        language: 'sh',
        text: lines(
          keyLines(keyEnv),
          `export ${addressVariable}=${shellWord(address)}`,
          `export ${keyVariable}="$${keyEnv}"`,
          `gemini -m ${shellWord(model)}`,
        ),
      },
    ]
  },
  run: {
    command: 'gemini',
    npm: '@google/gemini-cli',
    settings(setup) {
      const { key, folder, addressFor } = setup
      // It has no flag for settings, and takes files of the system from root alone.
      const homeVariable = 'GEMINI_CLI_HOME'
      return {
        env: {
          [addressVariable]: addressFor(usage),
          [keyVariable]: key,
          [homeVariable]: folder,
        },
        unset: ['GEMINI_MODEL'],
        file: { path: '.gemini/settings.json', settings: settingsOf(setup), homeVariable },
      }
    },
  },
}
