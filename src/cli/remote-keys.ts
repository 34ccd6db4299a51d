import { withoutSlashes } from '../address/paths.ts'
import { isObject, parseJson } from '../kit/json/json.ts'
import type { Keys } from '../records/index.ts'
import { faultOfKey } from '../verify/key.ts'

/**
 * The keys of a running gateway, through its admin API. Each call throws an Error with the message
 * of the gateway.
 * @throws Error if no request can hold the admin key
 */
export function remoteKeys(base: string, adminKey: string): Omit<Keys, 'find'> {
  const call = adminCalls(base, adminKey)
  const at = (name: string) => `keys/${encodeURIComponent(name)}`
  return {
    create: (name, limits) => call('POST', 'keys', { name, ...limits }),
    list: async () => (await call<{ keys: Awaited<ReturnType<Keys['list']>> }>('GET', 'keys')).keys,
    rotate: name => call('POST', `${at(name)}/rotate`),
    change: (name, change) => call('PATCH', at(name), change),
    delete: async name => void (await call('DELETE', at(name))),
  }
}

type Call = <T>(method: string, path: string, json?: object) => Promise<T>

/**
 * Calls of the admin API. Each throws an Error with the message of the gateway.
 * @throws Error if no request can hold the admin key
 */
export function adminCalls(base: string, adminKey: string): Call {
  const fault = faultOfKey(adminKey)
  if (fault !== undefined) throw new Error(`the admin key cannot be sent: ${fault}`)
  async function call<T>(method: string, path: string, json?: object): Promise<T> {
    const url = `${withoutSlashes(base)}/admin/${path}`
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(json && { body: JSON.stringify(json) }),
    }).catch((error: unknown) => {
      throw new Error(`${url} cannot be reached`, { cause: error })
    })
    const body = parseJson(await response.text())
    if (response.ok && isObject(body)) return body as T
    const { error } = isObject(body) ? body : {}
    const message =
      isObject(error) && typeof error['message'] === 'string'
        ? error['message']
        : 'there is no admin API, which needs an admin key'
    throw new Error(`${url}: status ${response.status}, ${message}`)
  }
  return call
}
