/** Numbers that are the same for the same seed, so that every case can be thrown again. */
export type RandomSource = {
  /** 0 to below `bound`, whole. */
  below(bound: number): number
  /** So often: 0 never, 1 always. */
  chance(share: number): boolean
  one<T>(list: readonly T[]): T
}

/** Mulberry32: a few lines, and good enough to choose places by. */
export function createGenerator(seed: number): RandomSource {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    below,
    chance: share => next() < share,
    one<T>(list: readonly T[]): T {
      if (list.length === 0) throw new RangeError('nothing to choose from')
      return list[below(list.length)] as T
    },
  }
}
