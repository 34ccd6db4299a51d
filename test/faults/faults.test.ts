import { expect, test } from 'vitest'
import { behaviours, type Cell, nameOf, pairs, run, startBench } from './cells.ts'
import { cutAt, faults } from './faults.ts'

/** A share of `npm run test:faults`: every fault meets every pair and every kind of client, but not all at once. */
const share = faults.flatMap((fault, i): Cell[] =>
  pairs
    .filter((_, j) => (i + j) % 8 === 0)
    .map((pair, j) => ({ fault, ...pair, stream: (i + j) % 3 !== 0, behaviour: behaviours[(i * 2 + j * 3) % 5] ?? 'sdk' })),
)
const halves = pairs.map((pair, i): Cell => ({ fault: faults[0] as Cell['fault'], ...pair, stream: i % 2 === 0, behaviour: behaviours[5 + (i % 2)] ?? 'sdk' }))
const cuts = pairs.flatMap((pair, i) =>
  [true, false].flatMap(stream => [0, 61, 203, 419, 777].map((at): Cell => ({ fault: cutAt(at + i), ...pair, stream, behaviour: 'strict' }))),
)

test.each([
  ['faults of an answer', share],
  ['half a request', halves],
  ['cuts anywhere', cuts],
] as const)('%s: every client gets a reply or an error, every upstream call ends, and nothing stays behind', async (_, cells) => {
  const bench = await startBench()
  const wrong: string[] = []
  const queue = cells.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const cell of queue) {
        const fault = await run(bench, cell)
        if (fault !== undefined) wrong.push(`${nameOf(cell)}: ${fault}`)
      }
    }),
  )
  expect([...wrong, ...(await bench.close())]).toEqual([])
  expect(cells.length).toBeGreaterThan(15)
})
