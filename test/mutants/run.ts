import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Mutant, mutants } from './mutants.ts'

/**
 * Plants every fault of the list alone and looks whether a law notices, and if none does, whether a table does.
 * Prints a line for each, and writes the score into docs/architecture.md. Words on the command line choose faults by their text.
 * Exit code 1: a fault lived.
 */
const words = process.argv.slice(2)
const chosen = mutants.filter(({ fault, room }) => words.every(word => fault.includes(word) || room.includes(word)))
const root = fileURLToPath(new URL('../../', import.meta.url))

type Verdict = Mutant & { killedBy: 'a law' | 'a table' | undefined }

type Asked = { by: 'a law' | 'a table'; folders: readonly string[]; runs?: string }

/** Most faults are noticed after few throws of the dice; those that are not are given all of them in the end. */
const asked: readonly Asked[] = [
  { by: 'a law', folders: ['test/laws'], runs: '40' },
  {
    by: 'a table',
    folders: ['test/protocols', 'test/translate', 'test/kit', 'test/canonical', 'test/failures', 'test/api.test.ts', 'test/notes.test.ts'],
  },
  { by: 'a law', folders: ['test/laws'] },
]

async function judge(mutant: Mutant): Promise<Verdict> {
  for (const suite of asked) if (await notices(mutant.fault, suite)) return { ...mutant, killedBy: suite.by }
  return { ...mutant, killedBy: undefined }
}

function notices(fault: string, { folders, runs }: Asked): Promise<boolean> {
  const environment: NodeJS.ProcessEnv = { ...process.env, WIREGLOT_MUTANT: fault, ...(runs && { WIREGLOT_LAW_RUNS: runs }) }
  delete environment['WIREGLOT_SHARED']
  return new Promise((resolve, reject) => {
    const child = spawn('npx', ['vitest', 'run', '--config', 'test/mutants/config.ts', ...folders], { cwd: root, env: environment })
    let out = ''
    child.stdout.on('data', chunk => {
      out += String(chunk)
    })
    child.stderr.on('data', chunk => {
      out += String(chunk)
    })
    child.on('error', reject)
    child.on('close', code => {
      // A suite that could not run at all would look like a kill.
      if (!/Tests\s/.test(out)) reject(new Error(`the suite did not run over «${fault}»:\n${out.slice(-2000)}`))
      else resolve(code !== 0)
    })
  })
}

// A suite that fails anyway would notice everything.
for (const suite of asked.slice(0, 2)) if (await notices('none', suite)) throw new Error(`${suite.folders.join(', ')} fail with no fault planted`)

const verdicts: Verdict[] = []
const waiting = [...chosen]
await Promise.all(
  [1, 2].map(async () => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const verdict = await judge(mutant)
      verdicts.push(verdict)
      console.log(`${verdict.killedBy ? `killed by ${verdict.killedBy}` : 'LIVED'}: ${verdict.fault} (${verdict.room})`)
    }
  }),
)

const count = (by: Verdict['killedBy']) => verdicts.filter(({ killedBy }) => killedBy === by).length
const score = `${verdicts.length - count(undefined)} of ${verdicts.length} planted faults are noticed: ${count('a law')} by a law, ${count('a table')} by a table.`
console.log(score)
if (words.length === 0) {
  const page = `${root}docs/architecture.md`
  const text = readFileSync(page, 'utf8')
  writeFileSync(page, text.replace(/<!-- mutants -->\n[\s\S]*?<!-- \/mutants -->/, `<!-- mutants -->\n${score}\n<!-- /mutants -->`))
}
process.exitCode = count(undefined) === 0 ? 0 : 1
