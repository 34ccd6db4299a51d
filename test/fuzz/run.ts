import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { writeSection } from '../tools/reliability.ts'
import { found, targetOf } from './case.ts'
import { targets } from './targets.ts'

/**
 * Random bodies, streams and HTTP messages that are nearly right, for every decoder, every pair of
 * stream machines, the frames of text/event-stream and the gateway: `npm run fuzz -- --seconds
 * 120`. Prints the number of its first case before anything else; `--from N` starts there, `--to N`
 * ends before it, and time that is too short for that is a failure; `--case N` runs that one alone.
 * What it finds is kept in seeds.json, which every run of the tests tries again. `--record` adds
 * what was spent to docs/reliability.md.
 */
const option = (name: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at > 0 ? Number(process.argv[at + 1]) : undefined
}

/** A thread does not inherit what reads TypeScript. */
const bootstrap =
  "import('tsx/esm/api').then(({ register }) => { register(); return import(require('node:worker_threads').workerData.file) })"
/** More of them say no more. */
const enough = 100

type Spent = { cases: number; seconds: number; runs: number; findings: number }

const seedsFile = new URL('./seeds.json', import.meta.url)
const spentFile = new URL('./spent.json', import.meta.url)
const read = <T>(file: URL) => JSON.parse(readFileSync(file, 'utf8')) as T
/** No case takes a hundredth of this. */
const hangMs = 60_000

const only = option('case')
if (only === undefined)
  await fuzz(
    option('seconds') ?? 60,
    option('from') ?? randomInt(2 ** 40),
    option('to') ?? Number.MAX_SAFE_INTEGER,
  )
else {
  const finding = await found(only)
  console.log(finding ?? `${targetOf(only).name}: nothing found`)
  process.exit(finding === undefined ? 0 : 1)
}

async function fuzz(seconds: number, from: number, to: number): Promise<void> {
  console.log(
    `fuzzing ${targets.length} targets for ${seconds} s: npm run fuzz -- --seconds ${seconds} --from ${from}`,
  )
  const started = Date.now()
  const until = started + seconds * 1000
  const findings = new Map<number, string>()
  let next = from
  while (Date.now() < until && next < to && findings.size < enough)
    next = await work({ from: next, to, until }, findings)
  for (const [number, finding] of findings)
    console.log(`\ncase ${number} (npm run fuzz -- --case ${number}): ${finding}`)
  const spent: Spent = {
    cases: next - from,
    seconds: Math.round((Date.now() - started) / 1000),
    runs: 1,
    findings: findings.size,
  }
  console.log(`\n${spent.cases} cases in ${spent.seconds} s, ${findings.size} findings`)
  if (findings.size > 0) {
    const seeds = read<number[]>(seedsFile)
    writeFileSync(
      seedsFile,
      `${JSON.stringify([...new Set([...seeds, ...findings.keys()])].slice(-500))}\n`,
    )
    process.exitCode = 1
  }
  if (next < to && to < Number.MAX_SAFE_INTEGER) {
    console.log(`there was no time for the cases from ${next} on`)
    process.exitCode = 1
  }
  if (process.argv.includes('--record')) record(spent)
}

/**
 * One worker until the time or the cases are over, or until it hangs. Gives the number of the first
 * case that was not run.
 */
function work(
  { from, to, until }: { from: number; to: number; until: number },
  findings: Map<number, string>,
): Promise<number> {
  const place = new SharedArrayBuffer(8)
  const present = new Float64Array(place)
  present[0] = from
  return new Promise(resolve => {
    const file = new URL('./worker.ts', import.meta.url).href
    const worker = new Worker(bootstrap, {
      eval: true,
      workerData: { from, to, until, place, file },
    })
    let before = from
    let since = Date.now()
    const end = (next: number) => {
      clearInterval(watch)
      void worker.terminate()
      resolve(next)
    }
    const watch = setInterval(() => {
      const now = present[0] ?? from
      if (now !== before) {
        before = now
        since = Date.now()
      } else if (Date.now() - since > hangMs) {
        findings.set(now, `${targetOf(now).name}: hangs`)
        end(now + 1)
      }
    }, 1_000)
    worker.on(
      'message',
      ({ number, finding, done }: { number?: number; finding?: string; done?: number }) => {
        if (number !== undefined && finding !== undefined && !findings.has(number)) {
          findings.set(number, finding)
          console.log(`found: case ${number}: ${finding.slice(0, 300)}`)
        }
        if (done !== undefined) end(done)
      },
    )
    worker.on('error', error => {
      const now = present[0] ?? from
      findings.set(now, `${targetOf(now).name}: ends the process: ${error.stack}`)
      end(now + 1)
    })
  })
}

function record({ cases, seconds, runs, findings }: Spent): void {
  const before = read<Spent>(spentFile)
  const sum: Spent = {
    cases: before.cases + cases,
    seconds: before.seconds + seconds,
    runs: before.runs + runs,
    findings: before.findings + findings,
  }
  writeFileSync(spentFile, `${JSON.stringify(sum)}\n`)
  writeSection('fuzz', [
    '| targets | cases | hours | runs | findings |',
    '| --- | --- | --- | --- | --- |',
    `| ${targets.length} | ${sum.cases.toLocaleString('en')} | ${(sum.seconds / 3600).toFixed(2)} | ${sum.runs} | ${sum.findings} |`,
  ])
}
