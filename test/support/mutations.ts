import { canonicalJson } from '../../src/testing/json.ts'
import { odd } from './odd-keys.ts'

/** A stream in which one event is other than it was. */
export type Mutation = {
  /** What was done, and to which event or value: indexes of lists are stars. */
  how: string
  events: unknown[]
  /** An unknown value, with its event. */
  stranger?: string
  /** Its path in its event. */
  keys: string[]
  event: unknown
}

/** No stream holds this. A word that any field for words may have. */
const stranger = 'zqzq'

/**
 * Each event dropped, doubled, and after the next one; the stream cut behind it, with and without
 * `[DONE]`.
 */
export function displaced(events: readonly unknown[]): Mutation[] {
  return events.flatMap((event, at) => {
    const [before, after] = [events.slice(0, at), events.slice(at + 1)]
    const [next, ...rest] = after
    const one = (what: string, changed: unknown[]): Mutation => ({
      how: `${what} ${nameOf(event)}`,
      events: changed,
      keys: [],
      event,
    })
    return [
      one('dropped', [...before, ...after]),
      one('doubled', [...before, event, ...events.slice(at)]),
      ...(next === undefined ? [] : [one('late', [...before, next, event, ...rest])]),
      one('cut after', [...before, event]),
      one('done after', [...before, event, '[DONE]']),
    ]
  })
}

/**
 * An unknown key in each object of each event, and other values in place of each value: of similar
 * ones only the first.
 */
export function altered(events: readonly unknown[]): Mutation[] {
  const seen = new Set<string>()
  return events.flatMap((event, at) =>
    placesIn(event).flatMap(({ keys, value }) => {
      const put = (how: string, other: unknown, reported?: string): Mutation[] => {
        const name = `${how} ${nameOf(event)}${pathOf(keys)}`
        if (seen.has(name) || canonicalJson(other) === canonicalJson(value)) return []
        seen.add(name)
        const changed = [
          ...events.slice(0, at),
          withValue(event, keys, other),
          ...events.slice(at + 1),
        ]
        return [
          {
            how: name,
            events: changed,
            keys,
            event,
            ...(reported !== undefined && { stranger: reported }),
          },
        ]
      }
      const inside = isObject(value)
        ? put('odd key in', { ...value, [odd]: stranger }, stranger)
        : []
      if (keys.length === 0) return inside
      return [
        ...inside,
        ...put('null for', null),
        ...put('nothing for', ''),
        ...put('a word for', stranger, stranger),
        ...put('an object for', { [stranger]: stranger }, stranger),
        ...put('a list for', [stranger], stranger),
      ]
    }),
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nameOf = (event: unknown): string =>
  isObject(event) ? String(event['type'] ?? '') : String(event)

const pathOf = (keys: readonly string[]) =>
  keys.map(key => (/^\d+$/.test(key) ? '/*' : `/${key}`)).join('')

function placesIn(value: unknown, keys: string[] = []): { keys: string[]; value: unknown }[] {
  if (typeof value !== 'object' || value === null) return keys.length > 0 ? [{ keys, value }] : []
  return [
    { keys, value },
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...keys, key])),
  ]
}

function withValue(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      String(index) === key ? withValue(item, rest, other) : item,
    )
  return isObject(value) ? { ...value, [key]: withValue(value[key], rest, other) } : other
}
