import { changed, mark, without } from '../../src/testing/change.ts'
import { valueAt } from './cross.ts'

/** One place of a body, and the value put there. `after` undefined: none, the key is missing. */
export type OddValue = { path: string; before: unknown; after: unknown; body: unknown }

/** Each place of a body with each value that does not belong there, and without its key. */
export function withOddValues(body: unknown): OddValue[] {
  return placesIn(body).flatMap(path => {
    const before = valueAt(body, path)
    const others = oddFor(before)
      .filter(after => after !== before)
      .map(after => ({
        path,
        before,
        after,
        body: changed(body, { path, before: '', after: after as string }),
      }))
    return [
      ...others,
      ...(/\/\d+$/.test(path)
        ? []
        : [{ path, before, after: undefined, body: without(body, path) }]),
    ]
  })
}

function placesIn(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inside = Object.entries(value).flatMap(([key, item]) =>
    placesIn(item, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
  return at === '' ? inside : [at, ...inside]
}

function oddFor(value: unknown): unknown[] {
  if (typeof value === 'string')
    return [
      mark,
      '',
      mark.repeat(1000),
      `${mark}\ud800`,
      null,
      700_001,
      true,
      [mark],
      { [mark]: mark },
    ]
  if (typeof value === 'number') return [-1, 0, 1.5, 1e21, null, '700001', true, [7]]
  if (typeof value === 'boolean') return [!value, null, mark, 1]
  if (Array.isArray(value))
    return [[], null, mark, {}, ...[null, 7, [], {}].map(one => [...(value as unknown[]), one])]
  return value === null ? [] : [{}, null, mark, [], 7]
}
