import { existsSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { dollars } from '../kit/text/dollars.ts'
import type { Dimension, Sum } from '../records/index.ts'
import { withChoices } from './choices.ts'
import { adminKeyIn, type Place, placed, placeHere, refuseTwoPlaces } from './keys.ts'
import { adminCalls } from './remote-keys.ts'

/** A command loads the records where it needs them. */
const dimensions = ['key', 'model', 'channel', 'group'] as const satisfies readonly Dimension[]

type Options = Place & { by: Dimension; since?: number; json?: true; csv?: true }

/** Adds `wireglot usage`. */
export function addUsage(program: Command): void {
  placed(program.command('usage'))
    .description('who spent what: requests, tokens and cost from the database of records')
    .addOption(withChoices(new Option('--by <what>', 'a row for each').default('key'), dimensions))
    .option(
      '--since <time>',
      'ISO 8601, such as 2030-01-01; whole days (UTC) where it is days ago (default: the first of this month)',
      toTime,
    )
    .option('--json', 'as JSON')
    .option('--csv', 'as CSV')
    .addHelpText('after', '\nExample: wireglot usage --by model --since 2030-01-01 --csv')
    .action(async ({ by, since = startOfMonth(new Date()), json, csv, ...place }: Options) => {
      if (json && csv) throw new Error('give either --json or --csv')
      const rows = (await sumsOf(place, since, by)).map(rowOf)
      if (json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
      else if (csv) process.stdout.write(csvOf(by, rows))
      else process.stdout.write(tableOf(by, rows, since))
    })
}

async function sumsOf(place: Place, from: number, by: Dimension): Promise<Sum[]> {
  const { url, adminKeyEnv } = place
  if (url !== undefined) {
    refuseTwoPlaces(place)
    const call = adminCalls(url, adminKeyIn(adminKeyEnv))
    return (await call<{ sums: Sum[] }>('GET', `usage?total=true&by=${by}&from=${from}`)).sums
  }
  const location = await placeHere(place)
  // To open it would create it.
  if ('file' in location && !existsSync(location.file))
    throw new Error(`there is no database ${location.file}: give --database, or --url`)
  const { openRecords } = await import('../records/index.ts')
  const records = await openRecords(location)
  try {
    return await records.total({ from }, by)
  } finally {
    await records.close()
  }
}

/**
 * `cost`: null where no price is known. `unpriced`: the requests that it lacks. `emulated`: those
 * in which something stood in for what the model lacks.
 */
type Row = {
  name: string
  requests: number
  failures: number
  input: number
  output: number
  cost: number | null
  unpriced: number
  emulated: number
}

const rowOf = ({ cost, name, ...sum }: Sum): Row => ({
  name,
  requests: sum.requests,
  failures: sum.failures,
  input: sum.input,
  output: sum.output,
  cost: cost ?? null,
  unpriced: sum.unpriced,
  emulated: sum.emulated,
})

const columns = ['requests', 'failures', 'input', 'output', 'cost', 'unpriced', 'emulated'] as const

const zeros = { requests: 0, failures: 0, input: 0, output: 0, unpriced: 0, emulated: 0 }

function csvOf(by: Dimension, rows: readonly Row[]): string {
  const lines = rows.map(row =>
    [quoted(row.name), ...columns.map(column => row[column] ?? '')].join(','),
  )
  return [[by, ...columns].join(','), ...lines, ''].join('\r\n')
}

/** A program for tables takes some first characters for a formula. */
const quoted = (text: string) =>
  /[",\r\n]|^[=+\-@\t]/.test(text)
    ? `"${text.replace(/^(?=[=+\-@\t])/, "'").replaceAll('"', '""')}"`
    : text

function tableOf(by: Dimension, rows: readonly Row[], since: number): string {
  const heads = [by, 'requests', 'failed', 'tokens in', 'tokens out', 'cost', 'emulated']
  const cells = rows.map(row => [row.name || '(none)', ...shown(row)])
  const total = rows.reduce(
    (sum, row) => {
      for (const column of columns)
        if (row[column] !== null) sum[column] = (sum[column] ?? 0) + row[column]
      return sum
    },
    { name: '', cost: null, ...zeros } as Row,
  )
  const lines = [heads, ...cells, ...(rows.length > 1 ? [['all', ...shown(total)]] : [])]
  const widths = heads.map((_, index) => Math.max(...lines.map(line => line[index]?.length ?? 0)))
  const text = lines.map(line =>
    line
      .map((cell, index) =>
        index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join('  '),
  )
  const unpriced =
    total.unpriced > 0
      ? [`The cost lacks ${numbers.format(total.unpriced)} requests whose price is not known.`]
      : []
  const title = `since ${new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return [title, ...text, ...unpriced, ''].join('\n')
}

const numbers = new Intl.NumberFormat('en-US')
const shown = ({ requests, failures, input, output, cost, emulated }: Row): string[] => [
  ...[requests, failures, input, output].map(number => numbers.format(number)),
  cost === null ? '-' : dollars(cost),
  numbers.format(emulated),
]

const startOfMonth = (now: Date) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth())

function toTime(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time) || time < 0)
    throw new InvalidArgumentError('Expected a time such as 2030-01-01.')
  return time
}
