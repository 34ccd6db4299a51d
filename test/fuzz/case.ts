import { createGenerator } from './random.ts'
import { type Target, targets } from './targets.ts'

/** Cases are numbered: the number gives the target and the seed. */
export const targetOf = (number: number): Target => targets[number % targets.length] as Target

/** What was found in one case; undefined: nothing. */
export async function found(number: number): Promise<string | undefined> {
  const { name, run } = targetOf(number)
  try {
    await run(createGenerator(Math.imul(number, 0x9e3779b1)))
    return undefined
  } catch (error) {
    const [, ...where] =
      error instanceof Error && error.name !== 'Finding' ? (error.stack ?? '').split('\n') : []
    const place = where.filter(line => line.includes('/src/')).slice(0, 3)
    return `${name}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}${place.map(line => `\n  ${line.trim()}`).join('')}`
  }
}
