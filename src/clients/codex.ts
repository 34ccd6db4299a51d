import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const usage: AddressUsage = { protocol: 'responses', appends: 'endpoint' }
const file = '~/.codex/config.toml'

export const codex: Client = {
  title: 'Codex',
  usages: [usage],
  remarks: ['Settings with WebSocket are for gateways that say that they have it; where there is none, 426 sends Codex on to plain HTTP.'],
  snippets({ model, keyEnv, addressFor }) {
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
    )
    return [
      { ...usage, title: 'settings', address, language: 'toml', file, text },
      { ...usage, title: 'settings with WebSocket', address, language: 'toml', file, text: `${text}\nsupports_websockets = true` },
    ]
  },
}
