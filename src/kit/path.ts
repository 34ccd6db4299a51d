/** One step of a JSON pointer, escaped. */
export function step(key: string | number): string {
  return typeof key === 'number' ? `/${key}` : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Keys from the root → JSON pointer; the root itself is `''`. */
export function pointer(keys: Iterable<PropertyKey>): string {
  let path = ''
  for (const key of keys) path += step(typeof key === 'symbol' ? String(key) : key)
  return path
}
