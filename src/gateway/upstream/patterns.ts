/** Ids of models, where a `*` at the end matches any rest. */

export const isMatch = (pattern: string, id: string): boolean =>
  pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern

/** Is there an id that matches both patterns? */
export function overlap(one: string, other: string): boolean {
  if (one === other) return true
  const [a, b] = [one.replace(/\*$/, ''), other.replace(/\*$/, '')]
  return (one.endsWith('*') && b.startsWith(a)) || (other.endsWith('*') && a.startsWith(b))
}
