/** JSON text that does not depend on the order of keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value), null, 1) ?? 'undefined'
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]),
  )
}

/** The same value, deeply frozen: changing it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const item of Object.values(value)) deepFreeze(item)
  }
  return value
}

/** Every leaf of a JSON value with its pointer; empty arrays and objects are leaves. */
export function leaves(value: unknown, at = ''): { path: string; value: unknown }[] {
  if (typeof value !== 'object' || value === null) return [{ path: at, value }]
  const entries = Object.entries(value)
  if (entries.length === 0) return [{ path: at, value }]
  return entries.flatMap(([key, item]) =>
    leaves(item, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}
