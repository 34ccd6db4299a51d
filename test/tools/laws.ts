import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

/**
 * The properties with a new seed and many runs. Prints the seed before anything else, each property
 * as it holds or fails with its time, and the sum at the end. `WIREGLOT_LAW_SEED` repeats an
 * earlier run. A full run takes hours, so it can be cut: arguments choose files, `--of 'messages →
 * responses'` a protocol or pair, `--share 1/8` every eighth property of a pair, always the same
 * ones.
 */
const seed = process.env['WIREGLOT_LAW_SEED'] ?? String(randomInt(2 ** 31))
const throws = process.env['WIREGLOT_LAW_RUNS'] ?? '100000'
const reported = `WIREGLOT_LAW_SEED=${seed} WIREGLOT_LAW_RUNS=${throws}`

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string' }, of: { type: 'string' } },
})
const { share, of } = values
if (share !== undefined && !/^[1-9]\d*\/[1-9]\d*$/.test(share))
  throw new Error(`a share is 1/8, not ${share}`)
const cut = [
  ...words,
  ...(of === undefined ? [] : [`--of '${of}'`]),
  ...(share === undefined ? [] : [`--share ${share}`]),
].join(' ')
console.log(`${reported} ${cut}`)

const vitest = [
  'vitest',
  'run',
  '--testTimeout=0',
  '--reporter=verbose',
  '--slowTestThreshold=0',
  '--hideSkippedTests',
]
const chosen = [
  ...(words.length > 0 ? words : ['test/laws']),
  ...(of === undefined ? [] : ['-t', of.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')]),
]
const { status } = spawnSync('npx', [...vitest, ...chosen], {
  stdio: 'inherit',
  env: {
    ...process.env,
    WIREGLOT_TEST_ALL: '1',
    WIREGLOT_LAW_SEED: seed,
    WIREGLOT_LAW_RUNS: throws,
    ...(share !== undefined && { WIREGLOT_LAW_SHARE: share }),
  },
})
console.log(
  status === 0
    ? `every property held: ${reported} ${cut}`
    : `a property failed; the same seed again: ${reported} npm run laws -- ${cut}`,
)
process.exitCode = status ?? 1
