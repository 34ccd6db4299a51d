import { Argument, type Command } from 'commander'
import {
  type ClientName,
  clientConfig,
  clientConfigText,
  clientNames,
  defaultKeyEnv,
} from '../clients/index.ts'
import { withChoices } from './choices.ts'

type CommandOptions = {
  base: string
  model?: string
  smallModel?: string
  keyEnv: string
  webSocket?: true
  json?: true
}

export function addClientConfig(program: Command): void {
  program
    .command('client-config')
    .description('settings that point a client program at a gateway, ready to paste')
    .addArgument(withChoices(new Argument('<client>', 'which client'), clientNames))
    .requiredOption('--base <url>', 'address of the gateway')
    .option('--model <id>', 'the model to use')
    .option('--small-model <id>', 'the model for background tasks (default: the same)')
    .option('--key-env <name>', 'environment variable that holds the key', defaultKeyEnv)
    .option('--web-socket', 'the gateway accepts WebSocket connections')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExample: wireglot client-config codex --base https://gateway.example --model sonnet',
    )
    .action((client: ClientName, { json, ...options }: CommandOptions) => {
      const config = clientConfig(client, options)
      process.stdout.write(json ? `${JSON.stringify(config, null, 2)}\n` : clientConfigText(config))
    })
}
