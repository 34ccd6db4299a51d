import { expect, test, vi } from 'vitest'

/** How often a byte of a hash was read. */
const reads = vi.hoisted(() => ({ count: 0 }))

vi.mock('@noble/hashes/sha2.js', async load => {
  const { sha256 } = await load<typeof import('@noble/hashes/sha2.js')>()
  const get = (bytes: Uint8Array, name: string | symbol) => {
    if (/^\d+$/.test(String(name))) reads.count++
    return Reflect.get(bytes, name, bytes)
  }
  return { sha256: (bytes: Uint8Array) => new Proxy(sha256(bytes), { get }) }
})

const { createKeyRing } = await import('../../src/gateway/admission/keys.ts')

const keyOf = (nth: number) => `key-of-client-${nth}`
const keys = Array.from({ length: 100 }, (_, nth) => ({
  name: `n${nth}`,
  key: keyOf(nth),
  requestsPerMinute: 0,
  concurrentRequests: 0,
  disabled: false,
}))

test.each([
  ['the first key', keyOf(0), 'n0'],
  ['the last key', keyOf(99), 'n99'],
  ['the beginning of a key', 'key-of-client-', undefined],
  ['no key', 'x', undefined],
])('compares every byte of every key, whatever a client shows: %s', (_, shown, name) => {
  const ring = createKeyRing(keys)
  reads.count = 0
  expect(ring.find(shown)?.name).toBe(name)
  // The hash of what the client shows, and that of the key.
  expect(reads.count).toBe(100 * 32 * 2)
})
