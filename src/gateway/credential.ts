import type { Address, Headers, Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'

const all: readonly Protocol[] = Object.values(protocols)

/** Where any protocol's clients show keys. */
const headers: ReadonlySet<string> = new Set(all.flatMap(({ address }) => address.keyPlaces.headers))
const parameters: ReadonlySet<string> = new Set(all.flatMap(({ address }) => address.keyPlaces.query))

/** The key that a client shows in its protocol's own way, or in any other's: tools mix them up. */
export function credentialOf(address: Address, shown: Headers, query: URLSearchParams): string | undefined {
  for (const { keyPlaces } of [address, ...all.map(one => one.address)]) {
    const own = keyPlaces.headers.map(name => shown[name]).find(Boolean) ?? bearer(shown['authorization'])
    const found = own ?? keyPlaces.query.map(name => query.get(name)).find(Boolean)
    if (found) return found
  }
  return undefined
}

function bearer(authorization: string | undefined): string | undefined {
  return /^bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
}

/** A header whose value is somebody's key, by any protocol or by its name. */
export function isKeyHeader(name: string): boolean {
  return headers.has(name) || /^(.+-)?api-key$/.test(name)
}

/** A parameter of a query that never goes on. */
export function isKeyParameter(name: string): boolean {
  return parameters.has(name) || /key|token|secret/i.test(name)
}
