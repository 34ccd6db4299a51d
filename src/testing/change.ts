import { leaves } from './json.ts'

/**
 * One leaf of a JSON value, and another value for it. A conversion that keeps a value keeps the
 * other one as well, so properties that compare the two outputs need not know where a protocol puts
 * things, or how it groups them.
 */
export type Change = {
  path: string
  before: string | number | boolean
  after: string | number | boolean
}

/** No generated value contains this, and every protocol accepts it in names and ids. */
export const mark = 'Zq7'

/** A change of the leaf with this number. Undefined: no leaf can be changed. */
export function changeOf(
  value: unknown,
  pick: number,
  words: (key: string) => readonly unknown[] = () => [],
): Change | undefined {
  const found = leaves(value).filter(leaf =>
    ['string', 'number', 'boolean'].includes(typeof leaf.value),
  )
  const leaf = found[pick % Math.max(1, found.length)]
  if (!leaf) return undefined
  const before = leaf.value as Change['before']
  const others = words(keyOf(leaf.path)).filter(
    (word): word is Change['before'] => typeof word === typeof before && word !== before,
  )
  const turn = Math.floor(pick / found.length)
  const after =
    others.length > 0 && turn % 3 === 0
      ? others[Math.floor(turn / 3) % others.length]
      : other(before)
  return after === undefined ? undefined : { path: leaf.path, before, after }
}

/** All changes of leaves. `key`: that of the value itself. */
export function changesOf(
  value: unknown,
  words: (key: string) => readonly unknown[],
  key: string,
): Change[] {
  return leaves(value).flatMap(({ path, value: leaf }) => {
    if (typeof leaf !== 'string' && typeof leaf !== 'number' && typeof leaf !== 'boolean') return []
    const others = [other(leaf), ...words(keyOf(path) || key)].filter(
      (word): word is Change['before'] => typeof word === typeof leaf && word !== leaf,
    )
    return others.map(after => ({ path, before: leaf, after }))
  })
}

function other(value: Change['before']): Change['before'] {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number')
    return Number.isSafeInteger(value + 1) ? value + 700_001 : 700_001.5
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

/** A copy with another leaf; everything that is not on the way to it is shared. */
export function changed(value: unknown, { path, after }: Change): unknown {
  return withValue(value, keysOf(path), after)
}

function withValue(value: unknown, keys: string[], leaf: unknown): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return leaf
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      index === Number(key) ? withValue(item, rest, leaf) : item,
    )
  // Also sets keys such as `__proto__` as own keys.
  return Object.fromEntries(
    Object.entries(value as object).map(([name, item]) => [
      name,
      name === key ? withValue(item, rest, leaf) : item,
    ]),
  )
}

/** A copy without the value at the pointer. */
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
      Object.entries(one).flatMap(([name, item]) => {
        if (name !== key) return [[name, item]]
        if (rest.length > 0) return [[name, drop(item, rest)]]
        return []
      }),
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
