import { expect, test } from 'vitest'
import { FrameHeaders } from '../../src/sockets/frame-headers.ts'

/** A frame of a client with a payload of so many bytes. */
function frame(first: number, length: number): Buffer {
  const extended = Buffer.alloc(10)
  extended.writeBigUInt64BE(BigInt(length), 2)
  extended[0] = first
  const mask = Buffer.from([0xff, 0x81, 0xfe, 0x80])
  const payload = Buffer.alloc(length, 0x81)
  if (length < 126) return Buffer.concat([Buffer.from([first, 0x80 | length]), mask, payload])
  if (length < 65_536)
    return Buffer.concat([Buffer.from([first, 0xfe]), extended.subarray(8), mask, payload])
  extended[1] = 0xff
  return Buffer.concat([extended, mask, payload])
}

test.each([1, 3, 7, 1_000, 100_000])('finds the headers in chunks of %i bytes', size => {
  const found: [length: number, isLast: boolean][] = []
  const headers = new FrameHeaders((length, isLast) => found.push([length, isLast]))
  const ping = frame(0x89, 4)
  const whole = [0, 1, 125, 126, 65_535, 65_536].map(length => frame(0x81, length))
  const parts = [frame(0x01, 200), ping, frame(0x00, 300), ping, frame(0x80, 5)]
  const bytes = Buffer.concat([...whole, ...parts, frame(0x82, 9)])
  for (let at = 0; at < bytes.length; at += size) headers.push(bytes.subarray(at, at + size))
  expect(found).toEqual([
    ...[0, 1, 125, 126, 65_535, 65_536].map(length => [length, true]),
    [200, false],
    [300, false],
    [5, true],
    [9, true],
  ])
})
