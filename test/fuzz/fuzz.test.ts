import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runsAll } from '../support/sampled.ts'
import { found } from './case.ts'
import { targets } from './targets.ts'

// A share of `npm run fuzz`, always with the same seed, and all cases that were ever found.

const rounds = runsAll() ? 20 : 5
const seeds = JSON.parse(readFileSync(new URL('./seeds.json', import.meta.url), 'utf8')) as number[]

test.each(targets.map(({ name }, index) => [name, index] as const))(
  '%s: finds nothing',
  async (_, index) => {
    for (let round = 0; round < rounds; round++)
      expect(await found(index + round * targets.length)).toBeUndefined()
  },
)

test('finds nothing when recorded seeds run again', async () => {
  for (const seed of seeds) expect(await found(seed), String(seed)).toBeUndefined()
})
