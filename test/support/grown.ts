/** A body that can be made longer in one way. */
export type Growth = { how: string; body(length: number): unknown }

type Keys = readonly (string | number)[]
type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Fields whose value tells one element of a list from another. */
const nameLike =
  /(^|_)(id|name|title|url|uri|source|key|label|user)$|(Id|Name|Uri|Label)$|^(ids?|stop|text|data)$/

/** How the elements of a long list differ. */
const kinds: Record<string, (value: string, round: number) => string> = {
  alike: value => value,
  different: (value, round) => `${value}_${round}`,
  // Names that are cut to the same beginning.
  'long and different': (value, round) => `${value}_${'x'.repeat(80)}_${round}`,
}

function renamed(value: unknown, rename: (text: string) => string, key = ''): unknown {
  if (typeof value === 'string') return nameLike.test(key) ? rename(value) : value
  if (Array.isArray(value)) return value.map(one => renamed(one, rename, key))
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, renamed(inner, rename, name)]),
  )
}

/** The elements again and again: what belongs together, such as calls and results, is renamed alike. */
const repeated = (
  list: readonly unknown[],
  length: number,
  rename: (value: string, round: number) => string,
  key: string,
) =>
  Array.from({ length }, (_, i) => {
    const round = Math.floor(i / list.length)
    return round === 0 ? list[i] : renamed(list[i % list.length], text => rename(text, round), key)
  })

function valuesIn(value: unknown, keys: Keys = []): { keys: Keys; value: object }[] {
  if (typeof value !== 'object' || value === null) return []
  return [
    { keys, value },
    ...Object.entries(value).flatMap(([key, inner]) => valuesIn(inner, [...keys, key])),
  ]
}

function changedAt(
  value: unknown,
  [key, ...rest]: Keys,
  change: (value: unknown) => unknown,
): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((inner, i) =>
      String(i) === String(key) ? changedAt(inner, rest, change) : inner,
    )
  const fields = value as Fields
  return { ...fields, [key]: changedAt(fields[key], rest, change) }
}

const nameOf = (keys: Keys) => keys.map(key => `/${key}`).join('')

/** Each list of the body made long, each object with many more keys, and all outermost lists made long at once. */
export function growths(body: unknown): Growth[] {
  const values = valuesIn(body)
  const lists = values.filter(({ value }) => Array.isArray(value) && value.length > 0)
  const found = Object.entries(kinds).flatMap(([kind, rename]) => {
    const long = (length: number, keys: Keys) => (list: unknown) =>
      repeated(
        list as unknown[],
        length,
        rename,
        String(keys.findLast(key => Number.isNaN(Number(key))) ?? ''),
      )
    const each = lists.map(({ keys }) => ({
      how: `${kind} in ${nameOf(keys)}`,
      body: (length: number) => changedAt(body, keys, long(length, keys)),
    }))
    const outermost = lists.filter(
      ({ keys }) =>
        !lists.some(
          other => other.keys.length < keys.length && other.keys.every((key, i) => key === keys[i]),
        ),
    )
    const together: Growth = {
      how: `${kind} in all lists`,
      body: length =>
        outermost.reduce<unknown>(
          (made, { keys }) => changedAt(made, keys, long(length, keys)),
          body,
        ),
    }
    return outermost.length > 1 ? [...each, together] : each
  })
  const objects = values.filter(({ value }) => isFields(value))
  return [
    ...found,
    ...objects.map(({ keys, value }) => ({
      how: `keys in ${nameOf(keys)}`,
      body: (length: number) =>
        changedAt(body, keys, () => ({ ...value, ...manyKeys(value as Fields, length) })),
    })),
  ]
}

/** More of the object's first value that is no text, as in a map, or else texts. */
function manyKeys(object: Fields, length: number): Fields {
  const [first = 'v'] = Object.values(object).filter(isFields)
  return Object.fromEntries(
    Array.from({ length }, (_, i) => [`key_${i}`, i % 2 === 0 ? first : 'v']),
  )
}
