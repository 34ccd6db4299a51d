import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const usage: AddressUsage = { protocol: 'responses', appends: 'endpoint' }
const file = '~/.codex/config.toml'

export const codex: Client = {
  title: 'Codex',
  usages: [usage],
  remarks: [
    'With `supports_websockets = true` in `[model_providers.wireglot]`, Codex uses WebSocket. The gateway needs `webSocket` in its configuration; without it, 426 makes Codex use plain HTTP.',
  ],
  snippets({ model, keyEnv, webSocket, addressFor }) {
    const address = addressFor(usage)
    const text = lines(
      `model = ${quoted(model)}`,
      'model_provider = "wireglot"',
      '',
      '[model_providers.wireglot]',
      'name = "wireglot"',
      `base_url = ${quoted(address)}`,
      `env_key = ${quoted(keyEnv)}`,
      'wire_api = "responses"',
      ...(webSocket ? ['supports_websockets = true'] : []),
    )
    return [{ ...usage, title: 'settings', address, language: 'toml', file, text }]
  },
}
