/**
 * What happens after each test of a worker. Test files of one worker share their modules, and
 * Vitest runs a hook of a module only for the first file that loads it. So modules register their
 * hooks here, and `test/tools/after-each.ts` runs them for every file.
 */
const hooks: (() => unknown)[] = []

export function afterEachTest(hook: () => unknown): void {
  hooks.push(hook)
}

/** Runs every hook. @throws the first error of one */
export async function runHooks(): Promise<void> {
  const errors: unknown[] = []
  for (const hook of hooks) {
    try {
      await hook()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
