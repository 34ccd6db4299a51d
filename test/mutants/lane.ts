import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'
import { fileOf, type Mutant } from './mutants.ts'

/** What a lane checks: does one of these files notice the fault? `mutant` absent: a source without any. */
export type Question = { mutant?: Mutant; folders: readonly string[]; runs?: string }

/** A process that keeps everything but the planted file in memory, and checks one mutant after another. */
const vitest = await createVitest('test', {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  config: fileURLToPath(new URL('config.ts', import.meta.url)),
  watch: false,
  reporters: [{}],
})
delete process.env['WIREGLOT_SHARED']

/** The first things that went wrong; none: nothing did. */
async function failures({ mutant, folders, runs }: Question): Promise<string[]> {
  const file = mutant && fileOf(mutant)
  process.env['WIREGLOT_MUTANT'] = mutant?.fault ?? ''
  process.env['WIREGLOT_TEST_ALL'] = '1'
  process.env['WIREGLOT_LAW_RUNS'] = runs ?? ''
  if (file) vitest.invalidateFile(file)
  vitest.state.filesMap.clear()
  vitest.state.errorsSet.clear()
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    await vitest.globTestSpecifications([...folders]),
  )
  process.env['WIREGLOT_MUTANT'] = ''
  if (file) vitest.invalidateFile(file)
  // A suite that ran nothing at all would look like one that holds.
  if (testModules.length === 0) throw new Error(`nothing ran of ${folders.join(', ')}`)
  const failed = testModules.filter(module => !module.ok())
  return [
    ...failed.flatMap(module =>
      [...module.children.allTests('failed')].map(
        ({ fullName }) => `${module.relativeModuleId} > ${fullName}`,
      ),
    ),
    ...[...failed.flatMap(module => module.errors()), ...unhandledErrors].map(error =>
      JSON.stringify(error),
    ),
  ]
}

process.on('message', async (question: Question) => {
  process.send?.(await failures(question))
})
process.send?.('ready')
