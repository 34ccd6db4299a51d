import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { fileOf, mutants, planted } from './mutants.ts'

/** The suite over a source with one fault in it: `WIREGLOT_MUTANT` names the fault, `none` plants none. */
const named = process.env['WIREGLOT_MUTANT']
const mutant = mutants.find(({ fault }) => fault === named)
if (!mutant && named !== 'none') throw new Error('WIREGLOT_MUTANT names no fault of the list')
const root = fileURLToPath(new URL('../../', import.meta.url))
const file = mutant && fileOf(mutant)

export default defineConfig({
  root,
  plugins: [
    {
      name: 'plant',
      enforce: 'pre',
      load(id) {
        return mutant && id === file ? planted(mutant, readFileSync(file, 'utf8')) : undefined
      },
    },
  ],
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/tools/seed.ts'],
    testTimeout: 60_000,
    maxWorkers: 1,
    isolate: false,
    bail: 1,
  },
})
