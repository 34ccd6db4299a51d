import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { protocolNames } from '../../src/protocols/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import { writeSection } from '../tools/reliability.ts'
import { type Behaviour, behaviours, type Cell, nameOf, pairs, run, startBench } from './cells.ts'
import { cutAt, type Fault, faults } from './faults.ts'
import { scriptOf } from './upstream.ts'

/**
 * Every fault × every pair of protocols × whole and streamed × every kind of client: `npm run
 * test:faults`. Arguments choose faults by their names; `--every K` cuts responses after every K-th
 * byte (default 7). A full run writes its figures into docs/reliability.md.
 */
const words = process.argv
  .slice(2)
  .filter((word, i, all) => !word.startsWith('--') && !all[i - 1]?.startsWith('--'))
const every = Number(process.argv[process.argv.indexOf('--every') + 1] || 7) || 7
const atOnce = 24

const halves: readonly Behaviour[] = behaviours.filter(behaviour => /half/.test(behaviour))
const others: readonly Behaviour[] = behaviours.filter(behaviour => !/half/.test(behaviour))

const cells = (fault: Fault, some: readonly Behaviour[]): Cell[] =>
  pairs.flatMap(pair =>
    [true, false].flatMap(stream => some.map(behaviour => ({ fault, ...pair, stream, behaviour }))),
  )

/** For the longest response of a protocol; a shorter one is cut at its last byte. */
function cuts(): Cell[] {
  return protocolNames.flatMap(served => {
    const { stream, response } = wireOf(served)
    const lengths = {
      stream: Buffer.byteLength(stream(scriptOf('cxx')).join('')),
      whole: Buffer.byteLength(JSON.stringify(response(scriptOf('cxx')))),
    }
    return protocolNames.flatMap(client =>
      [true, false].flatMap(streamed =>
        Array.from(
          { length: Math.floor(lengths[streamed ? 'stream' : 'whole'] / every) },
          (_, i): Cell => {
            const behaviour = i % 10 === 0 ? 'sdk' : 'strict'
            return { fault: cutAt(i * every), client, served, stream: streamed, behaviour }
          },
        ),
      ),
    )
  })
}

type Sum = { tried: number; right: number }
const sums = new Map<string, Sum>()
const wrong: string[] = []

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** What is held after each fault's cells, when all of them are over. */
const heaps: number[] = []

async function tryAll(kind: string, list: readonly Cell[]): Promise<void> {
  const sum = sums.get(kind) ?? { tried: 0, right: 0 }
  sums.set(kind, sum)
  const bench = await startBench()
  const queue = list.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const cell of queue) {
        const fault = await run(bench, cell).catch(error => `broke: ${String(error)}`)
        sum.tried++
        if (fault === undefined) sum.right++
        else {
          wrong.push(`${nameOf(cell)}: ${fault}`)
          console.log(`wrong: ${nameOf(cell)}: ${fault.slice(0, 700)}`)
        }
      }
    }),
  )
  const behind = await bench.close()
  if (behind.length > 0) {
    wrong.push(`${kind}: stayed behind: ${behind.join(', ')}`)
    console.log(wrong.at(-1))
    sum.right = Math.min(sum.right, sum.tried - 1)
  }
  collect()
  heaps.push(process.memoryUsage().heapUsed / 1e6)
}

/** Between two quarters of the run, of which the first warms up. */
function grown(): string {
  const quarter = (i: number) =>
    heaps.slice(Math.floor((heaps.length * i) / 4), Math.floor((heaps.length * (i + 1)) / 4))
  const mean = (list: readonly number[]) =>
    list.reduce((sum, value) => sum + value, 0) / list.length
  const [second, last] = [mean(quarter(1)), mean(quarter(3))]
  if (last > second * 1.2 + 10)
    wrong.push(`the heap grew from ${second.toFixed(0)} to ${last.toFixed(0)} MB`)
  return `${second.toFixed(1)} MB in the second quarter of the run, ${last.toFixed(1)} MB in the last`
}

const started = Date.now()
process.on('unhandledRejection', error => wrong.push(`an unhandled rejection: ${String(error)}`))
const chosen = faults.filter(
  ({ name }) => words.length === 0 || words.some(word => name.includes(word)),
)
for (const fault of chosen) await tryAll('of a response', cells(fault, others))
if (words.length === 0) {
  const [fine] = faults as [Fault]
  await tryAll('half a request', cells(fine, halves))
  await tryAll(`cut after every ${every}th byte`, cuts())
}
const total: Sum = { tried: 0, right: 0 }
for (const { tried, right } of sums.values()) {
  total.tried += tried
  total.right += right
}
console.log(
  `${total.tried} cells, ${total.right} right, ${Math.round((Date.now() - started) / 1000)} s`,
)
if (words.length === 0)
  writeSection('faults', [
    '| | cells tried | cells right |',
    '| --- | --- | --- |',
    ...[...sums].map(
      ([kind, { tried, right }]) =>
        `| ${kind === 'of a response' ? `${faults.length} faults of a response` : kind} | ${tried.toLocaleString('en')} | ${right.toLocaleString('en')} |`,
    ),
    `| all | ${total.tried.toLocaleString('en')} | ${total.right.toLocaleString('en')} |`,
    '',
    `Heap after collection, when the cells of a fault were over: ${grown()}.`,
  ])
if (wrong.length > 0) console.log(wrong.slice(-20).join('\n').slice(0, 10_000))
process.exit(wrong.length > 0 ? 1 : 0)
