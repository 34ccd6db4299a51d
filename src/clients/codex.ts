import type { AddressUsage } from '../address/check.ts'
import { type Client, type ClientSetup, lines, type ModelLimits, quoted } from './client.ts'

const usage: AddressUsage = { protocol: 'responses', appends: 'endpoint' }
const file = '~/.codex/config.toml'

const table = 'model_providers.wireglot'

const settingsOf = ({ model, limits, keyEnv, webSocket, addressFor }: ClientSetup) => ({
  main: [
    `model = ${quoted(model)}`,
    'model_provider = "wireglot"',
    // Source: https://github.com/openai/codex/blob/main/docs/config.md
    ...contextLine(limits[model]),
  ],
  provider: [
    'name = "wireglot"',
    `base_url = ${quoted(addressFor(usage))}`,
    `env_key = ${quoted(keyEnv)}`,
    'wire_api = "responses"',
    ...(webSocket ? ['supports_websockets = true'] : []),
  ],
})

const contextLine = ({ contextTokens }: ModelLimits = {}) =>
  contextTokens === undefined ? [] : [`model_context_window = ${contextTokens}`]

export const codex: Client = {
  title: 'Codex',
  usages: [usage],
  remarks: [
    'With `supports_websockets = true` in `[model_providers.wireglot]`, Codex uses WebSocket. The gateway needs `webSocket` in its configuration; without it, 426 makes Codex use plain HTTP.',
  ],
  snippets(setup) {
    const { main, provider } = settingsOf(setup)
    const text = lines(...main, '', `[${table}]`, ...provider)
    const address = setup.addressFor(usage)
    return [{ ...usage, title: 'settings', address, language: 'toml', file, text }]
  },
  run: {
    command: 'codex',
    npm: '@openai/codex',
    settings(setup) {
      const { main, provider } = settingsOf(setup)
      const all = [...main, ...provider.map(line => `${table}.${line}`)]
      return { args: all.flatMap(line => ['-c', line.replace(' = ', '=')]) }
    },
  },
}
