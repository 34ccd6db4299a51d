import { type Command, InvalidArgumentError } from 'commander'
import type { KeyInfo, KeyLimits, Location, Records } from '../records/index.ts'

/** Where records are kept, unless the configuration says otherwise: PostgreSQL by `DATABASE_URL`, else a file of this folder. */
export function locationOf(environment: Readonly<Record<string, string | undefined>>, given?: string): Location {
  const place = given ?? environment['DATABASE_URL'] ?? 'wireglot.db'
  return /^postgres(ql)?:\/\//.test(place) ? { url: place } : { file: place }
}

type Given = Omit<KeyLimits, 'models' | 'expiresAt'> & { models?: string[]; expires?: string; database?: string }

/** Adds `wireglot keys`. */
export function addKeys(program: Command): void {
  const keys = program.command('keys').description('keys of clients in the database of records; a running gateway accepts them within seconds')
  const database = '--database <file or URL>'
  const where = 'default: DATABASE_URL, else wireglot.db'
  keys
    .command('create')
    .description('create a key; its secret is shown only now')
    .argument('<name>')
    .option('--group <name>', 'a group of the configuration')
    .option('--models <ids>', 'models with commas between; a * at the end matches any rest', toList)
    .option('--requests-per-minute <number>', 'limit', toNumber)
    .option('--tokens-per-minute <number>', 'limit', toNumber)
    .option('--tokens-per-day <number>', 'budget', toNumber)
    .option('--tokens-per-month <number>', 'budget', toNumber)
    .option('--dollars-per-day <number>', 'budget; needs prices in the configuration', toNumber)
    .option('--dollars-per-month <number>', 'budget; needs prices in the configuration', toNumber)
    .option('--expires <time>', 'ISO 8601, such as 2030-01-01', toTime)
    .option(database, where)
    .action(async (name: string, { database: place, expires, ...limits }: Given) => {
      const { secret, ...info } = await using(place, ({ keys: all }) => all.create(name, { ...limits, ...(expires !== undefined && { expiresAt: expires }) }))
      process.stdout.write(`${lineOf(info)}\n${secret}\n`)
    })
  keys
    .command('list')
    .description('list the keys, without their secrets')
    .option(database, where)
    .action(async ({ database: place }: { database?: string }) => {
      for (const info of await using(place, ({ keys: all }) => all.list())) process.stdout.write(`${lineOf(info)}\n`)
    })
  keys
    .command('rotate')
    .description('give a key a new secret, which is shown only now')
    .argument('<name>')
    .option(database, where)
    .action(async (name: string, { database: place }: { database?: string }) => {
      const { secret } = await using(place, ({ keys: all }) => all.rotate(name))
      process.stdout.write(`${secret}\n`)
    })
  for (const [word, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const)
    keys
      .command(word)
      .argument('<name>')
      .option(database, where)
      .action(async (name: string, { database: place }: { database?: string }) => {
        process.stdout.write(`${lineOf(await using(place, ({ keys: all }) => all.change(name, { disabled })))}\n`)
      })
  keys
    .command('delete')
    .argument('<name>')
    .option(database, where)
    .action(async (name: string, { database: place }: { database?: string }) => {
      await using(place, ({ keys: all }) => all.delete(name))
      process.stdout.write(`deleted ${name}\n`)
    })
}

async function using<T>(place: string | undefined, act: (records: Records) => Promise<T>): Promise<T> {
  const { openRecords } = await import('../records/index.ts')
  const records = await openRecords(locationOf(process.env, place))
  try {
    return await act(records)
  } finally {
    await records.close()
  }
}

/** One line per key: the limits as JSON, without what a reader cannot use. */
function lineOf({ name, hint, disabled, createdAt, ...limits }: KeyInfo): string {
  return [name, `${hint}…`, disabled ? 'disabled' : 'enabled', createdAt.slice(0, 10), JSON.stringify(limits)].join('  ')
}

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

function toTime(text: string): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('Expected a time such as 2030-01-01.')
  return new Date(time).toISOString()
}
