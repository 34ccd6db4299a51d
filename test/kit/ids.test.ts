import { describe, expect, test } from 'vitest'
import { hashHex, hashId, mapCallId, mapName } from '../../src/kit/conversation/ids.ts'

const valid = /^[A-Za-z0-9_-]{1,64}$/

describe('ids and names that a wire accepts', () => {
  test('a valid call id stays', () => expect(mapCallId('toolu_01', valid)).toBe('toolu_01'))
  test('an invalid one becomes the same valid one every time', () => {
    const mapped = mapCallId('call:1/ü', valid)
    expect(mapped).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(mapCallId('call:1/ü', valid)).toBe(mapped)
    expect(mapCallId('call:1/ö', valid)).not.toBe(mapped)
  })
  test('a name keeps what it can and ends in a hash of the whole', () => {
    expect(mapName('get_weather', 64)).toBe('get_weather')
    expect(mapName('mcp.server/tool', 64)).toMatch(/^mcp_server_tool_[0-9a-f]{8}$/)
    const long = mapName('x'.repeat(70), 64)
    expect(long).toHaveLength(64)
    expect(mapName(`${'x'.repeat(70)}y`, 64)).not.toBe(long)
    expect(mapName('', 64)).toMatch(/^_[0-9a-f]{8}$/)
  })
  // The digest of the empty text, a published test vector of SHA-256.
  test('hashes are SHA-256', () => expect(hashHex('', 16)).toBe('e3b0c44298fc1c14'))
  test('an id is that number in letters, the lowest first', () => {
    const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    for (const text of ['', 'call:1/ü', 'x'.repeat(200)]) {
      let number = BigInt(`0x${hashHex(text, 64)}`)
      let id = ''
      for (; id.length < 24; number /= 62n) id += letters[Number(number % 62n)]
      expect(hashId(text)).toBe(id)
    }
  })
  test('an id has the requested length', () => expect(hashId('a', 9)).toMatch(/^[0-9A-Za-z]{9}$/))
})
