/**
 * A table of wire words and canonical words. Several wire words may have one meaning: the first one
 * listed is written.
 */
export type TwoWay<Wire extends string, Ours extends string> = {
  toOurs(word: string): Ours | undefined
  /**
   * `raw` if it is a wire word with that meaning, else the first such word. Undefined: there is
   * none.
   */
  toWire(meaning: Ours, raw?: string): Wire | undefined
}

export function twoWay<Wire extends string, Ours extends string>(
  rows: readonly (readonly [Wire, Ours])[],
): TwoWay<Wire, Ours> {
  const ours = new Map<string, Ours>(rows)
  const wire = new Map<Ours, Wire>()
  for (const [word, meaning] of rows) if (!wire.has(meaning)) wire.set(meaning, word)
  return {
    toOurs: word => ours.get(word),
    toWire: (meaning, raw) =>
      raw !== undefined && ours.get(raw) === meaning ? (raw as Wire) : wire.get(meaning),
  }
}
