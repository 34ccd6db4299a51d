import { expect, test } from 'vitest'
import { listenedGateway } from '../gateway/listening.ts'
import { type Cell, pairs, runAll } from './cells.ts'
import { cutAt, faults } from './faults.ts'

const cellsOf = (fault: Cell['fault'], given: typeof pairs): Cell[] =>
  given.map((pair, i) => ({
    fault,
    ...pair,
    stream: true,
    behaviour: i % 2 === 0 ? 'strict' : 'sdk',
    resumes: true,
  }))

/** Faults in the middle of a stream on every pair, all others on some. */
const some = (i: number) => pairs.filter((_, k) => k % 5 === i % 5)
// Endless text is no beginning of the response, so nothing that continues it can be right.
const continuable = faults.filter(({ name }) => name !== 'text without an end')
const broken = continuable.flatMap((fault, i) => cellsOf(fault, fault.breaks ? pairs : some(i)))
const cuts = [150, 420, 777, 1100, 1500].flatMap((at, i) =>
  pairs.flatMap((pair, k) => cellsOf(cutAt(at + 7 * k + i), [pair])),
)

test.each([
  ['faults', broken],
  ['cuts anywhere', cuts],
] as const)(
  '%s in a stream that is continued: the response comes once, and whole, or it fails',
  async (_, cells) => {
    expect(await runAll(cells, listenedGateway)).toEqual([])
  },
)
