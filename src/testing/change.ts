import { leaves } from './json.ts'

/**
 * One leaf of a JSON value and what else could stand there. Whoever carries a value carries another one in its place too:
 * laws that compare the two outcomes need no knowledge of where a wire puts things, or how it groups them.
 */
export type Change = { path: string; before: string | number | boolean; after: string | number | boolean }

/** No value of a generator holds this, and every wire takes it inside names and ids. */
export const mark = 'Zq7'

/** A change of the leaf that is chosen by number; undefined where there is no leaf that could be another. */
export function changeOf(value: unknown, pick: number, words: (key: string) => readonly unknown[] = () => []): Change | undefined {
  const found = leaves(value).filter(leaf => ['string', 'number', 'boolean'].includes(typeof leaf.value))
  const leaf = found[pick % Math.max(1, found.length)]
  if (!leaf) return undefined
  const before = leaf.value as Change['before']
  const others = words(keyOf(leaf.path)).filter((word): word is Change['before'] => typeof word === typeof before && word !== before)
  const turn = Math.floor(pick / found.length)
  const after = others.length > 0 && turn % 3 === 0 ? others[Math.floor(turn / 3) % others.length] : other(before)
  return after === undefined ? undefined : { path: leaf.path, before, after }
}

/** Every change of a leaf that there is. `key`: at which the value itself stands. */
export function changesOf(value: unknown, words: (key: string) => readonly unknown[], key: string): Change[] {
  return leaves(value).flatMap(({ path, value: leaf }) => {
    if (typeof leaf !== 'string' && typeof leaf !== 'number' && typeof leaf !== 'boolean') return []
    const others = [other(leaf), ...words(keyOf(path) || key)].filter((word): word is Change['before'] => typeof word === typeof leaf && word !== leaf)
    return others.map(after => ({ path, before: leaf, after }))
  })
}

function other(value: Change['before']): Change['before'] {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return Number.isSafeInteger(value + 1) ? value + 700_001 : 700_001.5
  const object = objectIn(value)
  return object ? JSON.stringify({ ...object, [mark]: true }) : `${value}${mark}`
}

function objectIn(text: string): object | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

/** A copy in which the leaf is another one; all that does not lead to it is shared. */
export function changed(value: unknown, { path, after }: Change): unknown {
  return withValue(value, keysOf(path), after)
}

function withValue(value: unknown, keys: string[], leaf: unknown): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return leaf
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === Number(key) ? withValue(item, rest, leaf) : item))
  // Own keys stay own keys, whatever their names.
  return Object.fromEntries(Object.entries(value as object).map(([name, item]) => [name, name === key ? withValue(item, rest, leaf) : item]))
}

/** A copy without what stands at the pointer. */
export function without(value: unknown, path: string): unknown {
  const keys = keysOf(path)
  const last = keys.at(-1)
  const drop = (one: unknown, [key, ...rest]: string[]): unknown => {
    if (typeof one !== 'object' || one === null || key === undefined) return one
    if (Array.isArray(one))
      return rest.length > 0
        ? one.map((item: unknown, index) => (index === Number(key) ? drop(item, rest) : item))
        : one.filter((_, index) => index !== Number(last))
    return Object.fromEntries(
      Object.entries(one).flatMap(([name, item]) => (name !== key ? [[name, item]] : rest.length > 0 ? [[name, drop(item, rest)]] : [])),
    )
  }
  return drop(value, keys)
}

export const keysOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))

const keyOf = (path: string) => keysOf(path).findLast(key => !/^\d+$/.test(key)) ?? ''
