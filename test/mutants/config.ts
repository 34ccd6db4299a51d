import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { fileOf, mutants, planted } from './mutants.ts'

/** Those that notice most, most telling first; the run ends with the first failure. */
const telling = [
  'laws/silence',
  'laws/notes',
  'laws/identity',
  'laws/grammar',
  'notes.test',
  'losses',
  'request.test',
  'response.test',
  'error.test',
  'stream',
]

class TellingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      (telling.findIndex(words => moduleId.includes(words)) + telling.length + 1) %
      (telling.length + 1)
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

/** The suite over a source with one fault in it: `WIREGLOT_MUTANT` names the fault, at the moment in which its file is read. */
export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  plugins: [
    {
      name: 'plant',
      enforce: 'pre',
      load(id) {
        const mutant = mutants.find(({ fault }) => fault === process.env['WIREGLOT_MUTANT'])
        return mutant && id === fileOf(mutant)
          ? planted(mutant, readFileSync(id, 'utf8'))
          : undefined
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
    sequence: { sequencer: TellingFirst },
  },
})
