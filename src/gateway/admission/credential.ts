import type { Address, Headers } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { secretParameter } from '../secret-shapes.ts'

const addresses: readonly Address[] = Object.values(protocols).map(({ address }) => address)

/** In UTF-16 units. A longer credential is refused at once. */
export const longestCredential = 4096

/** Headers and query parameters in which clients of any protocol send keys. */
export const keyNames = {
  headers: addresses.flatMap(({ keyPlaces }) => keyPlaces.headers),
  query: addresses.flatMap(({ keyPlaces }) => keyPlaces.query),
}
const headers: ReadonlySet<string> = new Set(keyNames.headers)
const parameters: ReadonlySet<string> = new Set(keyNames.query)

/**
 * All keys in a request, the place of its protocol first: clients may use other places, or several.
 */
export function credentialsOf(address: Address, shown: Headers, query: URLSearchParams): string[] {
  const found: string[] = []
  const add = (credential: string | null | undefined) => {
    if (credential && !found.includes(credential)) found.push(credential)
  }
  for (const { keyPlaces } of [address, ...addresses]) {
    for (const name of keyPlaces.headers) add(shown[name])
    add(bearer(shown['authorization']))
    for (const name of keyPlaces.query) add(query.get(name))
  }
  return found
}

function bearer(authorization: string | undefined): string | undefined {
  return /^bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
}

/** Is the value of this header a key: in some protocol, or judging by its name? */
export function isKeyHeader(name: string): boolean {
  return headers.has(name) || /^(.+-)?api-key$/.test(name)
}

/** Is the value of this query parameter a key? Such parameters are never forwarded. */
export function isKeyParameter(name: string): boolean {
  return parameters.has(name) || secretParameter.test(name)
}
