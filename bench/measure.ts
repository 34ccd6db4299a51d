import { Bench } from 'tinybench'

/** Fewer only try whether all of it runs. */
const defaultRounds = Number(process.env['BENCH_ROUNDS'] ?? 4)

/** floor`: the task that this one is a multiple of. */
export type Task = { name: string; units: number; floor?: string; work: () => unknown }

/** Microseconds of one unit, and how many times the floor that is. */
export type Measured = { name: string; us: number; ratio?: number }

/**
 * All tasks in turn, several times over, so that whatever else the machine does falls on each
 * alike. The best round's median counts: nothing makes a machine faster than it is. `warmMs`: long
 * code takes longer until it is compiled.
 */
export async function measure(
  tasks: readonly Task[],
  { rounds = defaultRounds, ms = 60, warmMs = 180 } = {},
): Promise<Measured[]> {
  const best = new Map<string, number>()
  for (let round = 0; round < rounds; round++)
    for (const { name, units, work } of tasks) {
      const bench = new Bench({
        time: ms,
        warmupTime: round === 0 ? warmMs : ms / 4,
        iterations: 16,
        warmupIterations: 4,
        throws: true,
      })
      bench.add(name, work)
      await bench.run()
      const result = bench.tasks[0]?.result
      if (!result || !('latency' in result)) throw new Error(`nothing was measured of ${name}`)
      best.set(name, Math.min(best.get(name) ?? Infinity, (result.latency.p50 * 1000) / units))
    }
  return tasks.map(({ name, floor }) => {
    const us = best.get(name) ?? Number.NaN
    const under = floor === undefined ? undefined : best.get(floor)
    return { name, us, ...(under !== undefined && { ratio: us / under }) }
  })
}
