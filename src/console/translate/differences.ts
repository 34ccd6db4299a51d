import { isObject } from '../../kit/json/json.ts'
import { step } from '../../kit/notes/path.ts'

/** A leaf of the source that differs after the way there and back. `now` absent: it is missing. */
export type Difference = { path: string; was: unknown; now?: unknown }

/** Leaves of `source` that `returned` does not have at the same place. Additions are not losses. */
export function differences(source: unknown, returned: unknown): Difference[] {
  const found: Difference[] = []
  compare(source, returned, '', found)
  return found
}

function compare(was: unknown, now: unknown, path: string, found: Difference[]): void {
  if (Array.isArray(was) && Array.isArray(now)) {
    const partner = partners(was, now)
    for (const [index, item] of was.entries())
      compare(item, partner(index), path + step(index), found)
  } else if (isObject(was) && isObject(now)) {
    for (const [key, item] of Object.entries(was))
      compare(item, Object.hasOwn(now, key) ? now[key] : undefined, path + step(key), found)
  } else if (now === undefined && !isLeaf(was)) {
    for (const [key, item] of Object.entries(was as object))
      compare(item, undefined, path + step(Array.isArray(was) ? Number(key) : key), found)
  } else if (!isSame(was, now)) found.push({ path, was, ...(now !== undefined && { now }) })
}

const isLeaf = (value: unknown) =>
  typeof value !== 'object' || value === null || Object.keys(value).length === 0

/**
 * Pairs the items of two lists: equal beginnings and ends belong together, so that a removed item
 * does not shift the others.
 */
function partners(was: readonly unknown[], now: readonly unknown[]): (index: number) => unknown {
  if (was.length === now.length) return index => now[index]
  const common = Math.min(was.length, now.length)
  let end = 0
  while (end < common && isSame(was[was.length - 1 - end], now[now.length - 1 - end])) end++
  return index => {
    if (index >= was.length - end) return now[index + now.length - was.length]
    return index < now.length - end ? now[index] : undefined
  }
}

/** The order of keys does not matter. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  if (!isObject(one) || !isObject(other)) return one === other
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every(key => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  )
}
