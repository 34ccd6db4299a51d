/** A body that can be made longer in one way. */
export type Growth = { how: string; body(length: number): unknown }

type Keys = readonly (string | number)[]
type Change = (value: unknown) => unknown
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

/**
 * The elements again and again: what belongs together, such as calls and results, is renamed alike.
 */
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

function changedAt(value: unknown, [key, ...rest]: Keys, change: Change): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((inner, i) =>
      String(i) === String(key) ? changedAt(inner, rest, change) : inner,
    )
  const fields = value as Fields
  return { ...fields, [key]: changedAt(fields[key], rest, change) }
}

/** Each place changed in its own way. None is inside another. */
const grownAt = (body: unknown, places: readonly Keys[], change: (at: Keys) => Change): unknown =>
  places.reduce((made, keys) => changedAt(made, keys, change(keys)), body)

/**
 * All lists of the same depth made long, the outermost lists made long, and all objects of the same
 * depth with many more keys: one by one would take ten times as long, and a function that is linear
 * in all lists but one is still seen to grow faster.
 */
export function growths(body: unknown): Growth[] {
  const values = valuesIn(body)
  const lists = values.filter(({ value }) => Array.isArray(value) && value.length > 0)
  const outermost = lists.filter(
    ({ keys }) =>
      !lists.some(
        other => other.keys.length < keys.length && other.keys.every((key, i) => key === keys[i]),
      ),
  )
  const groups = byDepth(lists)
  if (outermost.length > (groups[0]?.places.length ?? 0))
    groups.push({ where: 'the outermost lists', places: outermost.map(({ keys }) => keys) })
  return [
    ...Object.entries(kinds).flatMap(([kind, rename]) =>
      groups.map(({ where, places }) => ({
        how: `${kind} in ${where}`,
        body: (length: number) =>
          grownAt(
            body,
            places,
            keys => list => repeated(list as unknown[], length, rename, nameOf(keys)),
          ),
      })),
    ),
    ...byDepth(values.filter(({ value }) => isFields(value))).map(({ where, places }) => ({
      how: `keys in ${where}`,
      body: (length: number) =>
        grownAt(body, places, () => value => withKeys(value as Fields, length)),
    })),
  ]
}

/** The name of the field that a list is in. */
const nameOf = (keys: Keys) => String(keys.findLast(key => Number.isNaN(Number(key))) ?? '')

function byDepth(found: readonly { keys: Keys }[]): { where: string; places: Keys[] }[] {
  const depths = [...new Set(found.map(({ keys }) => keys.length))].sort((a, b) => a - b)
  return depths.map(depth => {
    const places = found.map(({ keys }) => keys).filter(keys => keys.length === depth)
    return { where: places.map(keys => `/${keys.join('/')}`).join(' '), places }
  })
}

/** More of what a map has, of the first object in it, or texts. */
function withKeys(object: Fields, length: number): Fields {
  const values = Object.values(object)
  const isMap = new Set(values.map(value => typeof value)).size === 1
  const [first = 'v'] = isMap ? values : values.filter(isFields)
  const more = Array.from({ length }, (_, i) => [`key_${i}`, isMap || i % 2 === 0 ? first : 'v'])
  return { ...object, ...Object.fromEntries(more) }
}
