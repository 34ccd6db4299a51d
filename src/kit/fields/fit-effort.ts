import { isObject, type JsonObject, without } from '../json/json.ts'
import { nearestEffort } from './effort.ts'
import { wordsOf } from './fit.ts'

/**
 * The body with the effort at this path as the nearest of `efforts`. If there are none, it is left
 * out, and with it each object that would be empty. The same body if there is nothing to change.
 */
export function fitEffort(
  body: JsonObject,
  path: readonly [string, ...string[]],
  efforts: string | undefined,
  report: { add(code: 'reasoning.no-effort' | 'reasoning.effort', at: string): void },
): JsonObject {
  const wanted = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), body)
  if (efforts === undefined || typeof wanted !== 'string') return body
  const word = nearestEffort(wanted, wordsOf(efforts))
  if (word === wanted) return body
  report.add(word === undefined ? 'reasoning.no-effort' : 'reasoning.effort', `/${path.join('/')}`)
  return withWord(body, path, word)
}

function withWord(
  object: JsonObject,
  [key, ...rest]: readonly [string, ...string[]],
  word: string | undefined,
): JsonObject {
  const [next, ...more] = rest
  const inner = object[key]
  const value =
    next !== undefined && isObject(inner) ? withWord(inner, [next, ...more], word) : word
  return value === undefined || (isObject(value) && Object.keys(value).length === 0)
    ? without(object, [key])
    : { ...object, [key]: value }
}
