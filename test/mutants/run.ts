import { fork } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Question } from './lane.ts'
import { type Mutant, mutants } from './mutants.ts'

/**
 * Plants every fault of the list alone and checks whether a table notices it, and if not, whether a property does. Prints a line for each, and
 * writes the score into docs/contributing.md. Words on the command line choose faults by their text; `--lanes N` uses N processes at once
 * (2 if absent); `--after FILE` continues from the output of a stopped run. Exit code 1: a fault survived.
 */
const { positionals: words, values } = parseArgs({
  allowPositionals: true,
  options: { lanes: { type: 'string', default: '2' }, after: { type: 'string' } },
})
const chosen = mutants.filter(({ fault, room }) =>
  words.every(word => fault.includes(word) || room.includes(word)),
)
const root = fileURLToPath(new URL('../../', import.meta.url))

type Verdict = Mutant & { killedBy: 'a property' | 'a table' | undefined }

type Suite = { by: 'a property' | 'a table'; folders: readonly string[]; runs?: string }

const tables = [
  'test/protocols',
  'test/translate',
  'test/kit',
  'test/canonical',
  'test/failures',
  'test/api.test.ts',
  'test/notes.test.ts',
]

/** The tables of the fault's own room take seconds, all tables a minute, the properties several: they run in this order. */
const suitesOf = ({ room }: Mutant): readonly Suite[] => [
  ...(existsSync(`${root}test/${room}`)
    ? [{ by: 'a table', folders: [`test/${room}`] } as const]
    : []),
  { by: 'a table', folders: tables },
  // Most faults that no table notices are noticed after few runs.
  { by: 'a property', folders: ['test/laws'], runs: '10' },
  { by: 'a property', folders: ['test/laws'] },
]

type Lane = { ask(question: Question): Promise<string[]>; close(): void }

async function openLane(): Promise<Lane> {
  const child = fork(fileURLToPath(new URL('lane.ts', import.meta.url)), { cwd: root })
  let settle: { resolve(response: unknown): void; reject(why: Error): void } | undefined
  child.on('message', reported => settle?.resolve(reported))
  child.on('exit', code => settle?.reject(new Error(`a lane ended with ${code}`)))
  const result = () =>
    new Promise<unknown>((resolve, reject) => {
      settle = { resolve, reject }
    })
  await result()
  const ask: Lane['ask'] = async question => {
    const responded = result()
    child.send(question)
    return (await responded) as string[]
  }
  return { ask, close: () => child.kill() }
}

async function judge(mutant: Mutant, { ask }: Lane): Promise<Verdict> {
  for (const { by, ...question } of suitesOf(mutant))
    if ((await ask({ ...question, mutant })).length > 0) return { ...mutant, killedBy: by }
  return { ...mutant, killedBy: undefined }
}

function lineOf({ killedBy, fault, room }: Verdict): string {
  return `${killedBy ? `killed by ${killedBy}` : 'LIVED'}: ${fault} (${room})`
}

const lanes = await Promise.all(Array.from({ length: Number(values.lanes) }, openLane))
// A suite that fails anyway would notice everything.
const [first] = lanes
for (const folders of [tables, ['test/laws']]) {
  const failed = (await first?.ask({ folders, runs: '10' })) ?? ['there is no lane']
  if (failed.length > 0)
    throw new Error(`with no fault planted this fails already:\n${failed.join('\n')}`)
}

const before = values.after === undefined ? [] : readFileSync(values.after, 'utf8').split('\n')
const verdicts: Verdict[] = chosen.flatMap(mutant => {
  const [by] = (['a property', 'a table'] as const).filter(one =>
    before.includes(lineOf({ ...mutant, killedBy: one })),
  )
  return by ? [{ ...mutant, killedBy: by }] : []
})
const waiting = chosen.filter(({ fault }) => !verdicts.some(verdict => verdict.fault === fault))
await Promise.all(
  lanes.map(async lane => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const verdict = await judge(mutant, lane)
      verdicts.push(verdict)
      console.log(lineOf(verdict))
    }
    lane.close()
  }),
)

const count = (by: Verdict['killedBy']) => verdicts.filter(({ killedBy }) => killedBy === by).length
const score = `${verdicts.length - count(undefined)} of ${verdicts.length} planted faults are noticed: ${count('a table')} by a table, ${count('a property')} by a property where no table does.`
console.log(score)
if (words.length === 0) {
  const page = `${root}docs/contributing.md`
  const text = readFileSync(page, 'utf8')
  writeFileSync(
    page,
    text.replace(
      /<!-- mutants -->\n[\s\S]*?<!-- \/mutants -->/,
      `<!-- mutants -->\n${score}\n<!-- /mutants -->`,
    ),
  )
}
process.exitCode = count(undefined) === 0 ? 0 : 1
