/** The URL path that gateway and console are mounted at, with a slash at its end. */
export const root: string = location.origin + location.pathname.replace(/\/?console\/?$/, '/')

const keyName = `wireglot key of ${root}`
let inMemory = ''

/** The key of this tab. It is never part of a URL. */
export function keptKey(): string {
  try {
    return sessionStorage.getItem(keyName) ?? ''
  } catch {
    return inMemory
  }
}

export function keepKey(key: string): void {
  inMemory = key
  try {
    if (key) sessionStorage.setItem(keyName, key)
    else sessionStorage.removeItem(keyName)
  } catch {
    // Then this page alone has it.
  }
}

export const keyHeaders = (key = keptKey()): Record<string, string> =>
  key ? { authorization: `Bearer ${key}` } : {}

/** A call was refused for its key. */
export class KeyRefused extends Error {}

/** JSON of the gateway or the console. @throws Error with a message for people */
export async function call<Result>(
  path: string,
  { method, body }: { method?: string; body?: unknown } = {},
): Promise<Result> {
  const headers: Record<string, string> = { accept: 'application/json', ...keyHeaders() }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const init = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  const response = await fetch(root + path, init).catch(() => {
    throw new Error('The gateway cannot be reached.')
  })
  const result: unknown = await response.json().catch(() => ({}))
  if (response.ok) return result as Result
  const message = errorIn(result) ?? `The gateway responded with ${response.status}.`
  throw response.status === 401 ? new KeyRefused(message) : new Error(message)
}

function errorIn(result: unknown): string | undefined {
  const { error } = (result ?? {}) as { error?: { message?: unknown } }
  return typeof error?.message === 'string' ? error.message : undefined
}

/** A query string of the values that are set. */
export function queryOf(values: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== '') query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
