import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { constants as system, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { isatty } from 'node:tty'
import { Argument, type Command, Option } from 'commander'
import { checkAddress } from '../address/check.ts'
import {
  anyKey,
  type Client,
  type ClientProgram,
  type ModelLimits,
  type RunSettings,
} from '../clients/client.ts'
import { clients, defaultKeyEnv, setupOf } from '../clients/index.ts'
import { isObject, parseJson } from '../kit/json/json.ts'
import { knownModel } from '../models/index.ts'
import type { Vendor } from '../vendors/index.ts'
import { copyAgain, faultOfKey } from '../verify/key.ts'
import { withChoices } from './choices.ts'
import { envFileOption, loadEnvironment } from './env-file.ts'
import type { Environment } from './environment.ts'
import { writeSettingsFile } from './settings-file.ts'
import { toVendor } from './vendors.ts'

type Options = {
  model?: string
  smallModel?: string
  vendor?: Vendor
  base?: string
  config?: string
  envFile?: string
}

/** The gateway of a client: one in this process, or a running one. */
type Gateway = { base: string; key: string; isOwn: boolean; close(): Promise<void> }

/**
 * `folder`: where the client works, and where configurations are looked for. Default: those of the
 * process.
 */
type Surroundings = {
  environment: Environment
  folder: string
  err(text: string): void
  stdio: StdioOptions
}

/** The code of a shell for a program that it does not find. */
const notFound = 127

/** By the name of the client and by its command. */
const runnable = new Map<string, { title: string; program: ClientProgram }>(
  Object.entries<Client>(clients).flatMap(([name, { title, run: program }]) => {
    const names = program ? new Set([program.command, name]) : []
    return [...names].flatMap(one => (program ? [[one, { title, program }] as const] : []))
  }),
)

const help = `
A gateway that needs a key gets that of ${defaultKeyEnv}.
Exit code: that of the client; 127: the client is not installed.

Example: DEEPSEEK_API_KEY=… wireglot run claude --model deepseek-chat
Example: wireglot run codex --model coder -- exec "Say hello"`

const afterDashes = '(arguments of the client come after --: npx wireglot run claude -- -p hello)\n'

/** Adds `wireglot run`. */
export function addRun(program: Command): void {
  program
    .command('run')
    .description(
      'start a client program with a gateway of its own, or with a running one; its files stay as they are',
    )
    .addArgument(withChoices(new Argument('<client>', 'which client'), [...runnable.keys()].sort()))
    .argument('[args...]', 'arguments of the client, after --')
    .option('--model <id>', 'the model to use (default: the one that the gateway has)')
    .option('--small-model <id>', 'the model for background tasks (default: the same)')
    .addOption(
      new Option(
        '--vendor <name>',
        'the vendor of the model; its key is in its usual environment variable',
      )
        .argParser(toVendor)
        .conflicts(['config', 'base']),
    )
    .addOption(
      new Option(
        '--config <file>',
        'the configuration of the gateway (default: as for serve)',
      ).conflicts('base'),
    )
    .option('--base <url>', 'the address of a running gateway, in place of one of its own')
    .option(...envFileOption)
    .configureOutput({
      outputError(message, write) {
        write(message)
        if (message.startsWith('error: unknown option')) write(afterDashes)
      },
    })
    .addHelpText('after', help)
    .action(async (name: string, args: string[], { envFile, ...options }: Options) => {
      loadEnvironment(envFile)
      process.exitCode = await run(name, args, options)
    })
}

/**
 * Runs a client until it ends. Returns its exit code.
 * @throws Error when the gateway cannot be started, or the model is unclear
 */
export async function run(
  name: string,
  args: readonly string[],
  options: Options,
  surroundings: Partial<Surroundings> = {},
): Promise<number> {
  const all = {
    environment: process.env,
    folder: process.cwd(),
    err: (text: string) => void process.stderr.write(text),
    stdio: 'inherit' as const,
    ...surroundings,
  }
  const client = runnable.get(name)
  if (!client) throw new Error(`there is no client ${name}`)
  const { title, program } = client
  const file = await fileOf(program.command, all.environment)
  if (file === undefined) {
    all.err(
      `wireglot: there is no ${program.command} on the PATH. To install ${title}: npm install -g ${program.npm}\n`,
    )
    return notFound
  }
  const temporary = await mkdtemp(join(tmpdir(), 'wireglot-run-'))
  try {
    const gateway = await gatewayFor(options, all)
    try {
      const settings = await settingsFor(program, {
        gateway,
        options,
        temporary,
        environment: all.environment,
      })
      const child = spawn(file, [...(settings.args ?? []), ...args], {
        cwd: all.folder,
        stdio: all.stdio,
        env: environmentOf(all.environment, gateway, settings),
      })
      return await ended(child)
    } finally {
      await gateway.close()
    }
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** The settings of a client, whose file is written into the temporary folder. */
async function settingsFor(
  program: ClientProgram,
  {
    gateway,
    options,
    temporary,
    environment,
  }: { gateway: Gateway; options: Options; temporary: string; environment: Environment },
): Promise<RunSettings> {
  const { base, key } = gateway
  const { smallModel, model = await onlyModel(gateway) } = options
  const limits = { [model]: await limitsOf(model, gateway) }
  const setup = setupOf({ base, model, limits, ...(smallModel !== undefined && { smallModel }) })
  const settings = program.settings({ ...setup, key, folder: temporary })
  if (settings.file) await writeSettingsFile(temporary, settings.file, environment)
  return settings
}

/** The first executable file of this name on the PATH. Undefined: there is none. */
async function fileOf(command: string, { PATH = '' }: Environment): Promise<string | undefined> {
  for (const folder of PATH.split(delimiter).filter(Boolean)) {
    const file = join(folder, command)
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}

/** @throws Error when the gateway cannot be started */
async function gatewayFor(
  { base, config, vendor }: Options,
  { environment, folder, err }: Surroundings,
): Promise<Gateway> {
  const given = environment[defaultKeyEnv] || undefined
  if (base !== undefined) {
    const fault = given === undefined ? undefined : faultOfKey(given)
    if (fault !== undefined) throw new Error(`${defaultKeyEnv}: ${fault}. ${copyAgain}`)
    return { base, key: given ?? anyKey, isOwn: false, close: async () => {} }
  }
  const { serve } = await import('./serve.ts')
  const own = `run-${randomBytes(24).toString('base64url')}`
  // Its lines would be in the middle of what the client shows.
  let isStarting = true
  const { url, accepts, close } = await serve(
    {
      host: '127.0.0.1',
      port: 0,
      log: 'off',
      grace: 0,
      clientKey: own,
      ...(config !== undefined && { config }),
      ...(vendor && { vendor: vendor.name }),
    },
    {
      environment,
      folder,
      out() {},
      err(line) {
        if (isStarting) err(`wireglot: ${messageIn(line)}\n`)
      },
    },
  )
  isStarting = false
  // With a key of the user, limits and records are theirs.
  const key = given !== undefined && (await accepts(given)) ? given : own
  return { base: url, key, isOwn: true, close }
}

/** Warnings of the gateway are JSON. */
function messageIn(line: string): string {
  const entry = parseJson(line)
  return isObject(entry) && typeof entry['message'] === 'string' ? entry['message'] : line
}

/** How many models a message names. */
const mostNamed = 20

const listingMs = 2000

/** The model of a gateway that has one. @throws Error that names the models of another */
async function onlyModel({ base, key }: Gateway): Promise<string> {
  const { listModels } = await import('../verify/index.ts')
  const ids = await listModels({ base, key }).catch((error: Error) => {
    throw new Error(`name a model with --model, since they cannot be listed: ${error.message}`)
  })
  const [first, ...others] = ids
  if (first !== undefined && others.length === 0) return first
  if (first === undefined) throw new Error('name a model with --model: the gateway lists none')
  const more = ids.length > mostNamed ? `, and ${ids.length - mostNamed} more` : ''
  throw new Error(`choose a model with --model: ${ids.slice(0, mostNamed).join(', ')}${more}`)
}

/**
 * The limits of a model as the gateway lists them, which knows the configuration. If it lists none
 * in time, those that are known by the name.
 */
async function limitsOf(name: string, { base, key }: Gateway): Promise<ModelLimits> {
  const { service = base } = checkAddress(base)
  const response = await fetch(`${service}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(listingMs),
  }).catch(() => undefined)
  const page = parseJson((await response?.text().catch(() => '')) ?? '')
  const listed: unknown[] = isObject(page) && Array.isArray(page['data']) ? page['data'] : []
  const found = listed.find(one => isObject(one) && one['id'] === name)
  const { model } = knownModel(name) ?? {}
  if (!isObject(found))
    return { contextTokens: model?.contextTokens, maxOutputTokens: model?.outputTokens }
  const tokens = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined
  return {
    contextTokens: tokens(found['context_length']),
    maxOutputTokens: tokens(found['max_output_tokens']),
  }
}

function environmentOf(
  environment: Environment,
  { key, isOwn }: Gateway,
  { env, unset = [] }: RunSettings,
) {
  const all: NodeJS.ProcessEnv = { ...environment, [defaultKeyEnv]: key, ...env }
  for (const name of unset) delete all[name]
  // A proxy of the network cannot reach this machine.
  if (isOwn && Object.keys(all).some(name => /^(?:https?|all)_proxy$/i.test(name)))
    for (const name of ['NO_PROXY', 'no_proxy'])
      all[name] = [all[name], '127.0.0.1'].filter(Boolean).join(',')
  return all
}

/**
 * The exit code of a program, as a shell gives it. Signals to this process go to the program.
 * @throws Error when it cannot be started
 */
async function ended(child: ChildProcess): Promise<number> {
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  // A terminal sends Ctrl+C to both. A second one would make most clients exit.
  const hasTerminal = [0, 1, 2].some(isatty)
  const interrupt = (signal: NodeJS.Signals) => void (hasTerminal || child.kill(signal))
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', forward)
  process.on('SIGHUP', forward)
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) =>
        resolve(code ?? 128 + (signal === null ? 0 : system.signals[signal])),
      )
    })
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', forward)
    process.off('SIGHUP', forward)
  }
}
