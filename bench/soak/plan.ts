import { type Covered, covered } from '../../test/support/covered.ts'

/** The number of a stream decides what becomes of it; all processes of the soak compute it. */

export const phases = [
  'before the first byte',
  'in the middle of a stream',
  'during a complete response',
] as const
export type Phase = (typeof phases)[number]

export const faults = [
  'error status',
  'broken connection',
  'early end',
  'error event',
  'HTML page',
  'silence',
] as const
export type FaultKind = (typeof faults)[number]

export type Plan = {
  word: string
  client: Covered
  served: Covered
  stream: boolean
  fault: FaultKind | undefined
  leaves: Phase | undefined
}

/** From here on they do nothing but leave; see `leaving`. */
const leavers = 3 * 2 ** 40

function phaseToLeaveIn(number: number, round: number): Phase | undefined {
  if (number >= leavers) return phases[number % phases.length]
  return number % 20 === 13 ? phases[round % phases.length] : undefined
}

/**
 * Five of a hundred meet a failing upstream, five leave, and every sixth asks for a complete
 * response; pairs come in turn.
 */
export function planOf(number: number): Plan {
  const round = Math.floor(number / 20)
  const pair = (number * 7 + round) % 16
  const leaves = phaseToLeaveIn(number, round)
  return {
    word: `n${number}`,
    client: covered[pair % 4] as Covered,
    served: covered[Math.floor(pair / 4)] as Covered,
    stream: leaves ? leaves !== 'during a complete response' : number % 6 !== 5,
    fault: number < leavers && number % 20 === 7 ? faults[round % faults.length] : undefined,
    leaves,
  }
}

/** The number of one of those that leave in this phase when all else is over. */
export const leaving = (phase: Phase, index: number) =>
  leavers + index * phases.length + phases.indexOf(phase)

export const isQuietLeaver = (word: string) => Number(word.slice(1)) >= leavers

/** Every chunk differs from every other, of all streams. */
export const textOf = (word: string, words: number) =>
  Array.from({ length: words }, (_, i) => `${word}.${i}; `).join('')

/** From one new client to the next. */
export const rampMs = 5

/** The orders to the clients: how many at once, or that it is over. */
export type Order = { atOnce: number } | { over: true }

/** What processes report to the one that started them. */
export type Message =
  | { port: number }
  | { heap: number; rss: number; handles: number; cpuMs: number }
  | { ended: string; at: number }
  | { open: number }
  | { left: string; phase: Phase; at: number }
  | { window: Window }
  | { done: Counts }

/** Milliseconds to the first byte of streams that came in these seconds. */
export type Window = { streams: number; p50: number; p99: number }

export type Counts = {
  whole: number
  /** Of failing upstreams, whose clients got an error. */
  reported: number
  /** Of failing upstreams, whose clients were shown a success. */
  sold: number
  left: number
  /** Without a fault, and still not what was sent. */
  lost: number
  /** Words of others in it. */
  mixed: number
  /** The first few that were not as they should be. */
  wrong: string[]
}
