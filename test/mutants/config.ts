import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { fileOf, mutants, planted } from './mutants.ts'

/** The suite over a source with one fault in it: `WIREGLOT_MUTANT` names the fault, at the moment in which its file is read. */
export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  plugins: [
    {
      name: 'plant',
      enforce: 'pre',
      load(id) {
        const mutant = mutants.find(({ fault }) => fault === process.env['WIREGLOT_MUTANT'])
        return mutant && id === fileOf(mutant) ? planted(mutant, readFileSync(id, 'utf8')) : undefined
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
