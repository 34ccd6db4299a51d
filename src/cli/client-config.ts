import { Argument, type Command, InvalidArgumentError } from 'commander'
import {
  type ClientName,
  clientConfig,
  clientConfigText,
  clientNames,
  defaultKeyEnv,
  setupOf,
} from '../clients/index.ts'
import { knownModel } from '../models/index.ts'
import { withChoices } from './choices.ts'

type CommandOptions = {
  base: string
  model?: string
  smallModel?: string
  context?: number
  keyEnv: string
  webSocket?: true
  json?: true
}

function toTokens(text: string): number {
  const tokens = Number(text)
  if (!Number.isSafeInteger(tokens) || tokens < 1)
    throw new InvalidArgumentError('expected a number of tokens')
  return tokens
}

export function addClientConfig(program: Command): void {
  program
    .command('client-config')
    .description('settings that point a client program at a gateway, ready to paste')
    .addArgument(withChoices(new Argument('<client>', 'which client'), clientNames))
    .requiredOption('--base <url>', 'address of the gateway')
    .option('--model <id>', 'the model to use')
    .option('--small-model <id>', 'the model for background tasks (default: the same)')
    .option('--context <tokens>', 'its context window (default: as known by its name)', toTokens)
    .option('--key-env <name>', 'environment variable that holds the key', defaultKeyEnv)
    .option('--web-socket', 'the gateway accepts WebSocket connections')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExample: wireglot client-config codex --base https://gateway.example --model sonnet',
    )
    .action((client: ClientName, { json, context, ...options }: CommandOptions) => {
      const { model } = setupOf(options)
      const known = knownModel(model)?.model
      const contextTokens = context ?? known?.contextTokens
      const limits = { [model]: { contextTokens, maxOutputTokens: known?.outputTokens } }
      const config = clientConfig(client, { ...options, limits })
      process.stdout.write(json ? `${JSON.stringify(config, null, 2)}\n` : clientConfigText(config))
    })
}
