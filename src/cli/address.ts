import { type Command, Option } from 'commander'
import {
  type AddressCheck,
  type AddressUsage,
  type Appends,
  checkAddress,
  listingAddress,
} from '../address/check.ts'
import type { Client } from '../clients/client.ts'
import { type ClientName, clientNames, clients } from '../clients/index.ts'
import { type ProtocolName, protocolNames } from '../protocols/index.ts'
import { withChoices } from './choices.ts'

type CommandOptions = {
  client?: ClientName
  protocol?: ProtocolName
  appends?: Appends
  json?: true
}

const usageWords: Record<Appends, string> = {
  nothing: 'a raw request goes to',
  endpoint: 'a client that adds only the endpoint is given',
  'version-and-endpoint': 'a client that adds version and endpoint is given',
}

export function addAddress(program: Command): void {
  program
    .command('address')
    .description('report what is wrong with a base URL, and the right one for each use')
    .argument('<url>', "the address in the client's settings")
    .addOption(
      withChoices(new Option('--client <name>', 'the client program that uses it'), clientNames),
    )
    .addOption(
      withChoices(new Option('--protocol <protocol>', 'what the client speaks'), protocolNames),
    )
    .addOption(
      withChoices(
        new Option('--appends <what>', 'what the client adds to its address by itself'),
        Object.keys(usageWords),
      ),
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExample: wireglot address https://gateway.example/v1/chat/completions\nExit code 1: the address is wrong.',
    )
    .action((url: string, { json, ...requested }: CommandOptions) => {
      const check = checkAddress(url, usageOf(requested))
      process.stdout.write(json ? `${JSON.stringify(check, null, 2)}\n` : tableOf(check))
      if (check.faults.some(({ severe }) => severe)) process.exitCode = 1
    })
}

/**
 * @throws Error if only one of the two options is given, or the client does not speak the protocol
 */
function usageOf({ client, protocol, appends }: CommandOptions): AddressUsage | undefined {
  if (client === undefined) {
    if ((protocol === undefined) !== (appends === undefined))
      throw new Error('--protocol and --appends are given together')
    return protocol && appends && { protocol, appends }
  }
  const { title, usages }: Client = clients[client]
  const usage = usages.find(one => protocol === undefined || one.protocol === protocol)
  if (!usage) throw new Error(`${title} does not speak ${protocol}`)
  return usage
}

function tableOf({ given, root, address, faults, usages }: AddressCheck): string {
  const lines = [
    given,
    ...faults.map(({ severe, message }) => `  ${severe ? 'wrong' : 'warning'}: ${message}`),
  ]
  if (faults.length === 0) lines.push('  nothing is wrong with it')
  if (root === undefined || address === undefined) return `${lines.join('\n')}\n`
  const [only, ...others] = usages
  if (only && others.length === 0)
    return `${[...lines, '', `${usageWords[only.appends]}  ${address}`].join('\n')}\n`
  lines.push('', `service root  ${root}`, `models        ${listingAddress(root)}`)
  const width = Math.max(...usages.map(({ address: one }) => one.length))
  for (const [appends, words] of Object.entries(usageWords)) {
    lines.push('', words)
    const rows = usages.filter(row => row.appends === appends)
    for (const one of new Set(rows.map(row => row.address)))
      lines.push(
        `  ${one.padEnd(width)}  ${rows.flatMap(row => (row.address === one ? [row.protocol] : [])).join(', ')}`,
      )
  }
  return `${lines.join('\n')}\n`
}
