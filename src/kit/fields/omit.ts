import { setOwn } from '../json/json.ts'

type Optional<T> = {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}
type Required<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }

/** The object without the keys whose value is undefined: itself when there are none. */
export function omitUndefined<T extends object>(from: T): Optional<T> & Required<T> {
  for (const key in from) if (from[key] === undefined) return copied(from)
  return from as Optional<T> & Required<T>
}

function copied<T extends object>(from: T): Optional<T> & Required<T> {
  const kept: Record<string, unknown> = {}
  for (const key in from) if (from[key] !== undefined) setOwn(kept, key, from[key])
  return kept as Optional<T> & Required<T>
}

/** As `omitUndefined`, but undefined if all values are undefined. */
export function omitUndefinedOrNone<T extends object>(
  from: T,
): (Optional<T> & Required<T>) | undefined {
  for (const key in from) if (from[key] !== undefined) return omitUndefined(from)
  return undefined
}

type Nullish<T> = {
  [K in keyof T as null extends T[K] ? K : undefined extends T[K] ? K : never]?: NonNullable<T[K]>
}
type Always<T> = {
  [K in keyof T as null extends T[K] ? never : undefined extends T[K] ? never : K]: T[K]
}

/** As `omitNullish`, but undefined if nothing is left. */
export function omitNullishOrNone<T extends object>(from: T): (Nullish<T> & Always<T>) | undefined {
  for (const key in from) if (from[key] != null) return omitNullish(from)
  return undefined
}

/** As `omitUndefined`, also without the keys whose value is null, which means absence on the wires. */
export function omitNullish<T extends object>(from: T): Nullish<T> & Always<T> {
  const kept: Record<string, unknown> = {}
  for (const key in from) if (from[key] != null) setOwn(kept, key, from[key])
  return kept as Nullish<T> & Always<T>
}
