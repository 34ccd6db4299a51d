import { type Command, Option } from 'commander'
import { defaultKeyEnv } from '../clients/index.ts'
import { type ProtocolName, protocolNames } from '../protocols/index.ts'
import type { Check } from '../verify/check.ts'
import { withChoices } from './choices.ts'

type CommandOptions = { base: string; keyEnv?: string }
type VerifyOptions = CommandOptions & { model: string; protocol?: ProtocolName; json?: true }

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('send a gateway or a provider what clients send, and report what to change')
    .requiredOption('--base <url>', 'its address')
    .requiredOption('--model <id>', 'the model to test with')
    .option(...keyEnvOption)
    .addOption(
      withChoices(new Option('--protocol <protocol>', 'test only this protocol'), protocolNames),
    )
    .option('--json', 'as JSON')
    .addHelpText('after', verifyHelp)
    .action(runVerify)
}

const keyEnvOption = [
  '--key-env <name>',
  `environment variable that holds the key (default: ${defaultKeyEnv}, where it is set)`,
] as const

const verifyHelp = `
Example: wireglot verify --base https://gateway.example --model sonnet --key-env GATEWAY_KEY
Exit code 1: a check failed.`

/** Checks are printed as they end, or all at the end as JSON. */
async function runVerify({ base, model, keyEnv, protocol, json }: VerifyOptions): Promise<void> {
  const key = keyOf(keyEnv)
  const { checkText, verify } = await import('../verify/index.ts')
  const printCheck = (check: Check) => void process.stdout.write(`${checkText(check)}\n`)
  const result = await verify({
    base,
    model,
    ...(key !== undefined && { key }),
    ...(protocol && { protocol }),
    ...(!json && { onCheck: printCheck }),
  })
  const end = json ? JSON.stringify(result, null, 2) : `\n${summaryOf(result.checks)}`
  process.stdout.write(`${end}\n`)
  if (!result.ok) process.exitCode = 1
}

/** How many checks passed, failed and warned. */
export function summaryOf(checks: readonly { result: string }[]): string {
  const count = (wanted: string) => checks.filter(({ result }) => result === wanted).length
  const warned = count('warned')
  const warnings = `${warned} ${warned === 1 ? 'warning' : 'warnings'}`
  return `${count('passed')} passed, ${count('failed')} failed, ${warnings}`
}

export function addModels(program: Command): void {
  program
    .command('models')
    .description('list the models of a gateway or a provider')
    .requiredOption('--base <url>', 'its address')
    .option(...keyEnvOption)
    .addHelpText(
      'after',
      '\nExample: wireglot models --base https://gateway.example --key-env GATEWAY_KEY',
    )
    .action(async ({ base, keyEnv }: CommandOptions) => {
      const key = keyOf(keyEnv)
      const { listModels } = await import('../verify/index.ts')
      for (const id of await listModels({ base, ...(key !== undefined && { key }) }))
        process.stdout.write(`${id}\n`)
    })
}

/** @throws Error if the environment variable is not set */
function keyOf(keyEnv: string | undefined): string | undefined {
  const key = process.env[keyEnv ?? defaultKeyEnv]
  if (keyEnv !== undefined && !key)
    throw new Error(`the environment has no ${keyEnv}: export it, or name another variable`)
  return key || undefined
}
