import type { AddressUsage } from '../address/check.ts'
import { type Client, type ClientSetup, json, keyLines, lines, shellWord } from './client.ts'

const usage: AddressUsage = { protocol: 'messages', appends: 'version-and-endpoint' }

/**
 * All settings but the key. It takes the first of the two limits for models that it does not know,
 * and the second for all.
 * Source: https://code.claude.com/docs/en/env-vars
 */
const variables = ({ model, smallModel, limits, addressFor }: ClientSetup) => {
  const context = limits[model]?.contextTokens
  return {
    ANTHROPIC_BASE_URL: addressFor(usage),
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: smallModel,
    ...(context !== undefined && {
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: `${context}`,
      CLAUDE_CODE_AUTO_COMPACT_WINDOW: `${context}`,
    }),
  }
}

const keyVariable = 'ANTHROPIC_AUTH_TOKEN'

/** They go before the token, or lead to another provider. */
const inTheWay = [
  'ANTHROPIC_API_KEY',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_VERTEX',
]

export const claudeCode: Client = {
  title: 'Claude Code',
  usages: [usage],
  remarks: [
    'The small model for background tasks is set too. Without it, Claude Code requests a model that the gateway may not have.',
    'An ANTHROPIC_API_KEY in the environment goes before the token, and CLAUDE_CODE_USE_BEDROCK leads elsewhere: unset them.',
    'The variables under `env` in `~/.claude/settings.json` go before those of the shell.',
  ],
  // `claude -p` prints the last block of a response, and nothing if that is not a text. The first
  // line of its system prompt changes in every request.
  needs: [
    {
      agents: ['claude-cli/'],
      options: { messages: { lastSignature: 'drop', billingLine: 'drop' } },
    },
  ],
  snippets(setup) {
    const { keyEnv, addressFor } = setup
    const address = addressFor(usage)
    const env = variables(setup)
    return [
      {
        ...usage,
        title: 'environment',
        address,
        language: 'sh',
        text: lines(
          keyLines(keyEnv),
          ...Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}`),
          `export ${keyVariable}="$${keyEnv}"`,
          `unset ${inTheWay.join(' ')}`,
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
  run: {
    command: 'claude',
    npm: '@anthropic-ai/claude-code',
    settings(setup) {
      const env = { ...variables(setup), [keyVariable]: setup.key }
      // The user's own settings go before the environment, and those of this flag before both.
      const file = { path: 'settings.json', settings: { env } }
      return {
        args: ['--settings', `${setup.folder}/${file.path}`],
        env,
        unset: inTheWay,
        file,
      }
    },
  },
}
