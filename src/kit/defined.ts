type Optional<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }
type Required<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }

/** The same object without the keys whose value is undefined. */
export function defined<T extends object>(from: T): Optional<T> & Required<T> {
  const kept: Record<string, unknown> = {}
  for (const key in from) if (from[key] !== undefined) kept[key] = from[key]
  return kept as Optional<T> & Required<T>
}
