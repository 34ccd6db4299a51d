import { type Command, InvalidArgumentError } from 'commander'
import { omitUndefined } from '../kit/fields/omit.ts'
import type {
  KeyInfo,
  KeyLimits,
  Keys,
  Location,
  NewKeyLimits,
  RecordsOptions,
} from '../records/index.ts'
import { remoteKeys } from './remote-keys.ts'

/**
 * Where records are kept, unless the configuration says otherwise: PostgreSQL by `DATABASE_URL`,
 * else a file of this folder.
 */
export function locationOf(
  environment: Readonly<Record<string, string | undefined>>,
  given?: string,
): Location {
  const place = given ?? environment['DATABASE_URL'] ?? 'wireglot.db'
  return /^postgres(ql)?:\/\//.test(place) ? { url: place } : { file: place }
}

/** Where a gateway in this folder keeps records, unless `database` or `config` say another place. */
export async function placeHere({ database, config }: Place): Promise<Location> {
  if (database !== undefined) return locationOf({}, database)
  const { recordsIn } = await import('./key-names.ts')
  return (await recordsIn(process.cwd(), config)) ?? locationOf(process.env)
}

/** Where the keys are: in a database, or behind the admin API of a gateway. */
export type Place = { config?: string; database?: string; url?: string; adminKeyEnv: string }
type AsJson = { json?: true }
type Given = Place &
  AsJson &
  Omit<KeyLimits, 'models' | 'expiresAt'> & { models?: string[]; expires?: string }

/** Adds the options that say where the keys and records are. */
export const placed = (command: Command): Command =>
  command
    .option(
      '--config <file>',
      'the configuration of the gateway (default: wireglot.config.* in this folder)',
    )
    .option(
      '--database <file or URL>',
      'default: that of the configuration, else DATABASE_URL, else wireglot.db',
    )
    .option('--url <url>', 'the address of a running gateway, in place of its database')
    .option(
      '--admin-key-env <name>',
      'with --url: the environment variable with the admin key',
      'WIREGLOT_ADMIN_KEY',
    )

/** Adds `wireglot keys`. */
export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .description(
      'keys of clients in the database of records; a running gateway accepts them within seconds',
    )
  const secretOptions = (command: Command) =>
    command.option('--json', 'print the key with its limits and its secret as JSON')
  secretOptions(placed(keys.command('create')))
    .description('create a key; its secret, which is shown only now, goes to standard output')
    .argument('<name>')
    .option('--group <name>', 'a group of the configuration')
    .option('--models <ids>', 'models with commas between; a * at the end matches any rest', toList)
    .option('--requests-per-minute <number>', 'limit', orNone(toCount))
    .option('--tokens-per-minute <number>', 'limit', orNone(toCount))
    .option('--tokens-per-day <number>', 'budget', orNone(toCount))
    .option('--tokens-per-month <number>', 'budget', orNone(toCount))
    .option('--dollars-per-day <number>', 'budget, by the prices of the models', orNone(toNumber))
    .option('--dollars-per-month <number>', 'budget, by the prices of the models', orNone(toNumber))
    .option('--expires <time>', 'ISO 8601, such as 2030-01-01', toTime)
    .addHelpText(
      'after',
      `
A limit that is not given is that of "newKeys" in the configuration, where it has one. none: without it.`,
    )
    .action(
      async (
        name: string,
        { expires, config, database, url, adminKeyEnv, json, ...limits }: Given,
      ) => {
        const wanted = {
          ...withoutNone(limits),
          ...(expires !== undefined && { expiresAt: expires }),
        }
        const place = { adminKeyEnv, ...omitUndefined({ config, database, url }) }
        // The configuration of a gateway elsewhere is not here.
        const folder = url === undefined ? await readFolder(config) : undefined
        let isFirst = false
        const create = async (all: Omit<Keys, 'find'>) => {
          isFirst = url === undefined && (await all.list()).length === 0
          return all.create(name, wanted)
        }
        const created = await using(place, create, { newKeys: () => folder?.newKeys ?? {} })
        const { unpriced, ...key }: typeof created & { unpriced?: string[] } = created
        printSecret(key, json)
        if (isFirst && !json) process.stderr.write(firstKey)
        if (unpriced) {
          const { unpricedWarning } = await import('../records/unpriced.ts')
          warn(unpricedWarning(name, unpriced))
        }
        for (const fault of (await folder?.faultsOf(name, key)) ?? []) warn(fault)
      },
    )
  placed(keys.command('list'))
    .description('list the keys, without their secrets')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: Place & AsJson) => {
      const list = await using(place, all => all.list())
      if (json) printJson(list)
      else for (const info of list) process.stdout.write(`${lineOf(info)}\n`)
    })
  secretOptions(placed(keys.command('rotate')))
    .description('give a key a new secret, which is shown only now')
    .argument('<name>')
    .action(async (name: string, { json, ...place }: Place & AsJson) => {
      printSecret(await using(place, all => all.rotate(name)), json)
    })
  for (const [word, disabled, description] of [
    ['disable', true, 'refuse requests with this key'],
    ['enable', false, 'accept a disabled key again'],
  ] as const)
    placed(keys.command(word))
      .description(description)
      .argument('<name>')
      .action(async (name: string, place: Place) => {
        process.stdout.write(
          `${lineOf(await using(place, all => all.change(name, { disabled })))}\n`,
        )
      })
  placed(keys.command('delete'))
    .description('delete a key; its records stay')
    .argument('<name>')
    .action(async (name: string, place: Place) => {
      await using(place, all => all.delete(name))
      process.stdout.write(`deleted ${name}\n`)
    })
}

async function using<T>(
  place: Place,
  act: (keys: Omit<Keys, 'find'>) => Promise<T>,
  options: Pick<RecordsOptions, 'newKeys'> = {},
): Promise<T> {
  const { url, adminKeyEnv } = place
  if (url !== undefined) {
    refuseTwoPlaces(place)
    return act(remoteKeys(url, adminKeyIn(adminKeyEnv)))
  }
  const { openRecords } = await import('../records/index.ts')
  const records = await openRecords(await placeHere(place), options)
  try {
    return await act(records.keys)
  } finally {
    await records.close()
  }
}

/** @throws Error if `--url` is not alone */
export function refuseTwoPlaces({ config, database }: Place): void {
  if (database !== undefined) throw new Error('give either --database or --url')
  if (config !== undefined) throw new Error('give either --config or --url')
}

/** @throws Error if the variable is not set */
export function adminKeyIn(variable: string): string {
  const adminKey = process.env[variable]
  if (adminKey) return adminKey
  throw new Error(
    `the environment has no ${variable}: export the admin key, or name another variable with --admin-key-env`,
  )
}

async function readFolder(config: string | undefined) {
  const { configIn } = await import('./key-names.ts')
  return configIn(process.cwd(), config)
}

const warn = (message: string) => void process.stderr.write(`wireglot: ${message}\n`)

const firstKey =
  'This is the first key: a gateway that runs already without an admin key asks for keys once it is started again\n'

/**
 * The secret alone goes to standard output, so that a script can keep it: `KEY=$(wireglot keys
 * create ci)`.
 */
function printSecret({ secret, ...info }: KeyInfo & { secret: string }, json?: true): void {
  if (json) printJson({ ...info, secret })
  else {
    process.stderr.write(`${lineOf(info)}\n`)
    process.stdout.write(`${secret}\n`)
  }
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** One line per key: the limits as JSON, without what a reader cannot use. */
function lineOf({ id: _, name, hint, disabled, createdAt, ...limits }: KeyInfo): string {
  return [
    name,
    `${hint}…`,
    disabled ? 'disabled' : 'enabled',
    createdAt.slice(0, 10),
    JSON.stringify(limits),
  ].join('  ')
}

/** The word for no limit: commander writes `''` for null. */
const none = 'none'

const withoutNone = (limits: KeyLimits): NewKeyLimits =>
  Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [name, limit === none ? null : limit]),
  )

const orNone =
  <T>(read: (text: string) => T) =>
  (text: string): T | typeof none =>
    text === none ? none : read(text)

const toList = (text: string) =>
  text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)

function toNumber(text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number) || number < 0) throw new InvalidArgumentError('Expected a number.')
  return number
}

function toCount(text: string): number {
  const count = toNumber(text)
  if (!Number.isSafeInteger(count)) throw new InvalidArgumentError('Expected a whole number.')
  return count
}

function toTime(text: string): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('Expected a time such as 2030-01-01.')
  return new Date(time).toISOString()
}
