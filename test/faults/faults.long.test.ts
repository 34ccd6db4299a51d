import { expect, test } from 'vitest'
import { listenedGateway } from '../gateway/listening.ts'
import { behaviours, type Cell, pairs, runAll } from './cells.ts'
import { cutAt, faults } from './faults.ts'

/**
 * A share of `npm run test:faults`: every fault meets a client that validates what it received,
 * streamed and complete, and a client that does not wait; every pair and every kind of client come
 * up, but not all at once.
 */
const validating = ['sdk', 'strict'] as const
const hasty = behaviours.filter(behaviour => !/sdk|strict|half/.test(behaviour))
const share = faults.flatMap((fault, i): Cell[] => {
  const pairAt = (k: number) => pairs[(i * 3 + k * 5) % pairs.length] as (typeof pairs)[number]
  return [
    ...validating.map(
      (behaviour, k): Cell => ({ fault, ...pairAt(k), stream: (i + k) % 2 === 0, behaviour }),
    ),
    { fault, ...pairAt(2), stream: i % 4 < 2, behaviour: hasty[i % hasty.length] ?? 'stalls' },
  ]
})
const halves = pairs.map(
  (pair, i): Cell => ({
    fault: faults[0] as Cell['fault'],
    ...pair,
    stream: i % 2 === 0,
    behaviour: behaviours[5 + (i % 2)] ?? 'sdk',
  }),
)
const cuts = pairs.flatMap((pair, i) =>
  [true, false].flatMap(stream =>
    [0, 61, 203, 419, 777].map(
      (at): Cell => ({ fault: cutAt(at + i), ...pair, stream, behaviour: 'strict' }),
    ),
  ),
)

test.each([
  ['faults of a response', share],
  ['half a request', halves],
  ['cuts anywhere', cuts],
] as const)(
  '%s: every client gets a response or an error, every upstream call ends, and nothing leaks',
  async (_, cells) => {
    expect(await runAll(cells, listenedGateway)).toEqual([])
    expect(cells.length).toBeGreaterThan(15)
  },
)

test('every fault, every pair, every kind of client and both forms are in the share', () => {
  const validated = share.filter(({ behaviour }) => behaviour === 'sdk' || behaviour === 'strict')
  expect(validated.filter(({ stream }) => stream).map(({ fault }) => fault.name)).toEqual(
    faults.map(({ name }) => name),
  )
  expect(validated.filter(({ stream }) => !stream).map(({ fault }) => fault.name)).toEqual(
    faults.map(({ name }) => name),
  )
  for (const { client, served } of pairs)
    expect(
      validated.filter(cell => cell.client === client && cell.served === served).length,
    ).toBeGreaterThan(2)
  for (const behaviour of behaviours)
    expect(
      [...share, ...halves].filter(cell => cell.behaviour === behaviour).length,
    ).toBeGreaterThan(7)
})
