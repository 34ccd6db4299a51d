import type { AddressUsage } from '../address/check.ts'
import { type Client, json, lines, shellWord } from './client.ts'

const usage: AddressUsage = { protocol: 'messages', appends: 'version-and-endpoint' }

export const claudeCode: Client = {
  title: 'Claude Code',
  usages: [usage],
  remarks: [
    'The small model for background tasks is set too. Without it, Claude Code requests a model that the gateway may not have.',
    'An ANTHROPIC_API_KEY in the environment goes before the token: unset it.',
  ],
  // `claude -p` prints the last block of a response, and nothing if that is not a text.
  needs: [{ agents: ['claude-cli/'], options: { messages: { lastSignature: 'drop' } } }],
  snippets({ model, keyEnv, addressFor }) {
    const address = addressFor(usage)
    const env = {
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    }
    return [
      {
        ...usage,
        title: 'environment',
        address,
        language: 'sh',
        text: lines(
          ...Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}`),
          `export ANTHROPIC_AUTH_TOKEN="$${keyEnv}"`,
          'unset ANTHROPIC_API_KEY',
          'claude',
        ),
      },
      {
        ...usage,
        title: 'settings',
        address,
        language: 'json',
        file: '~/.claude/settings.json',
        text: json({ env, apiKeyHelper: `printenv ${keyEnv}` }),
      },
    ]
  },
}
