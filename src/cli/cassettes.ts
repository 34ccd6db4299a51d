import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Difference } from '../cassettes/index.ts'
import { printable } from '../kit/text/text.ts'
import { type ProtocolName, protocolNames } from '../protocols/index.ts'
import type { Vendor, VendorName } from '../vendors/index.ts'
import { withChoices } from './choices.ts'
import { envFileOption, loadEnvironment } from './env-file.ts'
import { toVendor } from './vendors.ts'

type ReplayCommand = {
  to?: ProtocolName
  vendor?: Vendor
  model?: string
  base?: string
  keyEnv?: string
  send?: true
  json?: true
  envFile?: string
}

/** Adds `wireglot explain` and `wireglot replay`. */
export function addCassettes(program: Command): void {
  program
    .command('explain')
    .description('say in plain sentences what happened in the exchanges of cassettes')
    .argument('<files...>', 'cassettes, or folders of them')
    .addHelpText('after', '\nExample: wireglot explain cassettes')
    .action(async (files: string[]) => {
      const { explain, readCassettes } = await import('../cassettes/index.ts')
      print(explain(await readCassettes(files)))
    })
  program
    .command('replay')
    .description('translate a cassette again, and show the differences to then')
    .argument('<file>', 'a cassette')
    .addOption(withChoices(new Option('--to <protocol>', 'another protocol'), protocolNames))
    .addOption(new Option('--vendor <name>', 'another vendor').argParser(toVendor))
    .option('--model <id>', 'another model, by the name that the upstream has for it')
    .option('--send', 'send the request; without it nothing is sent')
    .option('--base <url>', 'where to send it (default: that of the vendor, else of then)', toUrl)
    .option(
      '--key-env <name>',
      'environment variable with the key (default: the usual one of the vendor)',
    )
    .option('--json', 'the new cassette and the differences, as JSON')
    .option(...envFileOption)
    .addHelpText(
      'after',
      `
Exit code 1: there are differences.
Example: wireglot replay cassettes/one.json --to messages
Example: wireglot replay cassettes/one.json --vendor deepseek --model deepseek-chat --send`,
    )
    .action(replayFile)
}

async function replayFile(file: string, options: ReplayCommand): Promise<void> {
  const { to, vendor, model, base, keyEnv, send, json, envFile } = options
  loadEnvironment(envFile)
  const { readCassettes, replay } = await import('../cassettes/index.ts')
  const [cassette, ...others] = await readCassettes([file])
  if (!cassette || others.length > 0) throw new Error(`${file} is not one cassette: name one file`)
  const name = keyEnv ?? vendor?.keyVariable ?? (await usualKey(cassette.attempts.at(-1)?.vendor))
  const apiKey = name === undefined ? undefined : process.env[name]
  if (send && name !== undefined && !apiKey)
    throw new Error(
      `the environment variable ${name} has no key: set it, or name another with --key-env`,
    )
  const { now, differences } = await replay(cassette, {
    to,
    vendor: vendor?.name as VendorName | undefined,
    model,
    send: send && { apiKey, baseUrl: base },
  })
  if (json) process.stdout.write(`${JSON.stringify({ now, differences }, undefined, 2)}\n`)
  else {
    const lines: string[] = []
    if (to ?? vendor ?? send) {
      for (const { protocol, body } of now.attempts)
        lines.push(`The request in ${protocol}:`, body.text ?? '', '')
      if (now.response) {
        const { status, body } = now.response
        const text = body.frames?.map(frame => frame.text).join('') ?? body.text ?? ''
        lines.push(`The response to the client, with status ${status}:`, text, '')
      }
    }
    print([...lines, ...differences.map(lineOf), sumOf(differences)])
  }
  if (differences.length > 0) process.exitCode = 1
}

async function usualKey(name: string | undefined): Promise<string | undefined> {
  const { vendors } = await import('../vendors/index.ts')
  return Object.values<Vendor>(vendors).find(one => one.name === name)?.keyVariable
}

const sumOf = ({ length }: readonly Difference[]) =>
  length === 0 ? 'There is no difference to then.' : `There are ${length} differences to then.`

function lineOf({ at, before, after }: Difference): string {
  const show = (value: unknown) =>
    value === undefined ? 'nothing' : shortened(JSON.stringify(value))
  return `${at}: then ${show(before)}, now ${show(after)}`
}

const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

function toUrl(text: string): string {
  if (URL.canParse(text)) return text
  throw new InvalidArgumentError('A URL like https://host.')
}

/** Clients and upstreams have written parts of them. */
const print = (lines: readonly string[]) =>
  void process.stdout.write(
    `${lines
      .flatMap(line => line.split('\n'))
      .map(printable)
      .join('\n')}\n`,
  )
