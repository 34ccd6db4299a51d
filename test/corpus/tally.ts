import { expect } from 'vitest'

/**
 * Files that cannot pass, each with the reason. Keys are names as the suite prints them; `pair`
 * suffixes are left out.
 */
export type Exceptions = Record<string, string>

/**
 * Tries every case and says how many held. Fails for a case that does not hold and is not listed,
 * for a listed one that holds after all, and when a twentieth or more is listed.
 */
export async function tally<Case extends { name: string }>(
  title: string,
  cases: Case[],
  exceptions: Exceptions,
  attempt: (one: Case) => Promise<void> | void,
): Promise<void> {
  const faults: string[] = []
  const listed = new Set<string>()
  const failed = new Set<string>()
  for (const one of cases) {
    try {
      await attempt(one)
    } catch (error) {
      failed.add(one.name)
      if (Object.hasOwn(exceptions, one.name)) listed.add(one.name)
      else
        faults.push(
          `${one.name}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 1500),
        )
    }
  }
  console.log(
    `${title}: ${cases.length - failed.size} of ${cases.length} hold, ${listed.size} listed exceptions`,
  )
  const names = new Set(cases.map(({ name }) => name))
  const needless = Object.keys(exceptions).filter(name => names.has(name) && !listed.has(name))
  expect(cases.length, 'there is something to try').toBeGreaterThan(0)
  expect(faults.join('\n')).toBe('')
  expect(needless, 'listed, but they hold').toEqual([])
  expect(listed.size).toBeLessThan(cases.length / 20)
}
