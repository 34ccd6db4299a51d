import { runsAll } from './sampled.ts'

/**
 * How many random cases a property gets: all of them in `npm run test:all`, a hundredth in `npm
 * test`, but at least 5. `WIREGLOT_LAW_RUNS` overrides both.
 */
export function runs(full: number): { numRuns: number } {
  const wanted = Number(process.env['WIREGLOT_LAW_RUNS'])
  if (wanted > 0) return { numRuns: wanted }
  return { numRuns: runsAll() ? full : Math.max(Math.round(full / 100), Math.min(full, 5)) }
}
