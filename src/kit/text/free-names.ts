/** Names that are in use. `next`: by stem, the number that its next name tries. Plain data. */
export type UsedNames = { names: Set<string>; next: Map<string, number> }

export const startNames = (): UsedNames => ({ names: new Set(), next: new Map() })

/**
 * Takes the name if it is free, else the first free one of `numbered(2)`, `numbered(3)` and so on,
 * which differ only in their number for one `stem`.
 */
export function takeName(
  { names, next }: UsedNames,
  name: string,
  stem: string,
  numbered: (nth: number) => string,
): string {
  let free = name
  if (names.has(name)) {
    // Lower numbers are taken: to try them again for each name would take quadratic time.
    let nth = next.get(stem) ?? 2
    do free = numbered(nth++)
    while (names.has(free))
    next.set(stem, nth)
  }
  names.add(free)
  return free
}
