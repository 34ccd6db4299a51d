import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'

/**
 * The laws with new dice and many throws. Prints the seed before anything else, each law as it holds or fails, and the sum
 * at the end. `WIREGLOT_LAW_SEED` throws the dice of an earlier run again; words on the command line choose files.
 */
const seed = process.env['WIREGLOT_LAW_SEED'] ?? String(randomInt(2 ** 31))
const throws = process.env['WIREGLOT_LAW_RUNS'] ?? '100000'
const told = `WIREGLOT_LAW_SEED=${seed} WIREGLOT_LAW_RUNS=${throws}`
console.log(told)

const words = process.argv.slice(2)
const vitest = ['vitest', 'run', '--config', 'test/tools/vitest.config.ts', '--testTimeout=0', '--reporter=verbose']
const { status } = spawnSync('npx', [...vitest, ...(words.length > 0 ? words : ['test/laws'])], {
  stdio: 'inherit',
  env: { ...process.env, WIREGLOT_LAW_SEED: seed, WIREGLOT_LAW_RUNS: throws },
})
console.log(status === 0 ? `every law held: ${told}` : `a law failed; the same dice again: ${told} npm run laws`)
process.exitCode = status ?? 1
