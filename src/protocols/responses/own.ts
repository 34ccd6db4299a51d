import { isObject, type JsonObject } from '../../kit/json.ts'
import { createOwn } from '../../kit/own.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'responses'

export { nulls, splitNulls, under } from '../../kit/own.ts'
export const { keep, ownForm, ownOf, ownUnder, wireOf } = createOwn(protocolName)

/** Which of the usual keys are absent. */
export function absentOf(wire: JsonObject, usual: readonly string[]): { absent?: string[] } {
  const absent: string[] = []
  for (const key of usual) if (wire[key] === undefined) absent.push(key)
  return absent.length > 0 ? { absent } : {}
}

/** Was this key null, or left out? */
export function wasUnsaid(form: JsonObject | undefined, key: string): boolean {
  const { nothing, absent } = form ?? {}
  return (isObject(nothing) && nothing[key] === null) || words(absent).includes(key)
}

/** The strings of a list; empty for anything else. */
export function words(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
