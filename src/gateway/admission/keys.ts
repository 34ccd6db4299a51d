import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { Identity } from '../hooks.ts'
import type { KeyEntry } from '../options.ts'

/** The configured keys, stored as hashes. */
export type KeyRing = {
  size: number
  /** The client of a key. Undefined: unknown or disabled. */
  find(credential: string): Identity | undefined
}

export function createKeyRing(keys: readonly KeyEntry[]): KeyRing {
  const known = keys.map(
    ({ name, key, group, requestsPerMinute, concurrentRequests, disabled }) => ({
      digest: sha256(utf8ToBytes(key)),
      identity: disabled
        ? undefined
        : { name, requestsPerMinute, concurrentRequests, ...(group !== undefined && { group }) },
    }),
  )
  return {
    size: known.length,
    find(credential) {
      const shown = sha256(utf8ToBytes(credential))
      let found: Identity | undefined
      // Compares all keys completely, so that the time reveals nothing.
      for (const { digest, identity } of known) if (equal(digest, shown)) found = identity
      return found
    },
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}
