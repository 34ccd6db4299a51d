/** Words of a wire and what they mean. Several words may share a meaning: the first one listed is written. */
export type TwoWay<Wire extends string, Ours extends string> = {
  toOurs(word: string): Ours | undefined
  /** `raw`, when it is a word of this wire with that meaning; else the first word listed; undefined: no word means it. */
  toWire(meaning: Ours, raw?: string): Wire | undefined
}

export function twoWay<Wire extends string, Ours extends string>(rows: readonly (readonly [Wire, Ours])[]): TwoWay<Wire, Ours> {
  const ours = new Map<string, Ours>(rows)
  const wire = new Map<Ours, Wire>()
  for (const [word, meaning] of rows) if (!wire.has(meaning)) wire.set(meaning, word)
  return {
    toOurs: word => ours.get(word),
    toWire: (meaning, raw) => (raw !== undefined && ours.get(raw) === meaning ? (raw as Wire) : wire.get(meaning)),
  }
}
