import { readdirSync } from 'node:fs'
import type { Strict } from './faults.ts'

export type { Strict } from './faults.ts'

const found = readdirSync(new URL('.', import.meta.url)).filter(file => file.endsWith('.ts') && file !== 'index.ts' && file !== 'faults.ts')

/** By protocol name: the file of that name beside this one. */
const validators = new Map(
  await Promise.all(
    found.map(async file => [file.replace(/\.ts$/, ''), ((await import(new URL(file, import.meta.url).href)) as { strict: Strict }).strict] as const),
  ),
)

/** Every protocol of the registry needs one, so that laws can ask a second opinion. */
export function strictOf(protocol: string): Strict {
  const known = validators.get(protocol)
  if (!known) throw new Error(`write test/support/strict/${protocol}.ts`)
  return known
}
