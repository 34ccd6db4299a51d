/**
 * As `list.push(...more)`, which fails for a hundred thousand elements: each is an argument on the
 * stack.
 */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one)
}
