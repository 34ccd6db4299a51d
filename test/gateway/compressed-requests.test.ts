import * as zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { byWebStream, zstdByLibrary } from '../../src/gateway/body/decompress.ts'
import { createMemory } from '../../src/gateway/memory.ts'
import { hostsOf, one, paths, requests, responses, sendJson, upstream } from './support.ts'

const memory = createMemory(Infinity).share(undefined)

type Compress = (text: string) => Uint8Array<ArrayBuffer>
const { zstdCompressSync = asZstd } = zlib as { zstdCompressSync?: Compress }
const encodings: [string, Compress][] = [
  ['gzip', zlib.gzipSync],
  ['x-gzip', zlib.gzipSync],
  ['GZIP', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['br', zlib.brotliCompressSync],
  ['zstd', zstdCompressSync],
]

/**
 * Frames without compression, except for repeated bytes. For Node versions without zstd.
 * `declares`: the header has the size.
 */
function asZstd(text: string, declares = true): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(text)
  const size = Buffer.alloc(4)
  size.writeUInt32LE(bytes.length)
  const blocks: Buffer[] = []
  const add = (isRepeated: boolean, length: number, content: Buffer) => {
    const head = Buffer.alloc(3)
    head.writeUIntLE((length << 3) | (isRepeated ? 2 : 0), 0, 3)
    blocks.push(head, content)
  }
  const longest = 100_000
  for (let at = 0; at < bytes.length; ) {
    let end = at + 1
    while (end < bytes.length && bytes[end] === bytes[at] && end - at < longest) end++
    const isRepeated = end - at > 8
    if (!isRepeated) end = Math.min(at + 1000, bytes.length)
    add(isRepeated, end - at, isRepeated ? bytes.subarray(at, at + 1) : bytes.subarray(at, end))
    at = end
  }
  add(false, 0, Buffer.alloc(0))
  const last = blocks.at(-2)
  if (last) last[0] = (last[0] ?? 0) | 1
  const magic = [0x28, 0xb5, 0x2f, 0xfd]
  return new Uint8Array(
    Buffer.concat([
      Buffer.from(declares ? [...magic, 0xa0] : [...magic, 0x00, 0x58]),
      declares ? size : Buffer.alloc(0),
      ...blocks,
    ]),
  )
}

const compressed = (encoding: string, body: Uint8Array<ArrayBuffer> | string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'content-encoding': encoding },
  body,
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  async function received(init: RequestInit, bodyLimitBytes = 100_000) {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages', { defaults: { bodyLimitBytes, retries: 0 } }))
    return { response: await ask(paths.messages, init), seen }
  }

  test.each(encodings)('reads a request in %s', async (encoding, compress) => {
    const text = JSON.stringify({
      ...requests.messages,
      messages: [{ role: 'user', content: 'Hi '.repeat(10_000) }],
    })
    const { response, seen } = await received(compressed(encoding, compress(text)))
    expect(response.status).toBe(200)
    expect(seen.calls[0]?.text).toBe(text)
    expect(seen.calls[0]?.headers['content-encoding']).toBeUndefined()
  })

  test.each(encodings)(
    'refuses a request in %s that is too large after decompression',
    async (encoding, compress) => {
      const bomb = compress(`"${' '.repeat(10_000_000)}"`)
      expect(bomb.length).toBeLessThan(100_000)
      const { response, seen } = await received(compressed(encoding, bomb))
      expect(response.status).toBe(413)
      expect(seen.calls.length).toBe(0)
    },
  )

  test.each(encodings)(
    'refuses a request that is cut off or not in %s',
    async (encoding, compress) => {
      const whole = compress(JSON.stringify(requests.messages))
      for (const body of [whole.subarray(0, whole.length / 2), JSON.stringify(requests.messages)])
        expect((await received(compressed(encoding, body))).response.status).toBe(400)
    },
  )

  test.each(['compress', 'gzip, br', 'toString', '__proto__'])(
    'refuses the encoding %s and names those there are',
    async encoding => {
      const { response } = await received(compressed(encoding, 'x'))
      expect(response.status).toBe(415)
      expect(response.headers.get('accept-encoding')).toContain('gzip, x-gzip, deflate, br')
    },
  )
})

describe('without node:zlib', () => {
  test.each([
    ['gzip', zlib.gzipSync('Hello')],
    ['deflate', zlib.deflateSync('Hello')],
  ] as const)('decompresses %s', async (format, bytes) => {
    expect(new TextDecoder().decode(await byWebStream(format, bytes, 5, memory))).toBe('Hello')
    await expect(byWebStream(format, bytes, 4, memory)).rejects.toMatchObject({
      error: { status: 413 },
    })
    await expect(byWebStream(format, bytes.subarray(0, 6), 5, memory)).rejects.toMatchObject({
      error: { status: 400 },
    })
  })
})

describe('without zstd in node:zlib', () => {
  const text = `{"text":"${'The quick brown fox jumps over the lazy dog. '.repeat(3)}","n":[${Array.from({ length: 120 }, (_, index) => (index * index) % 97)}]}`
  // By `zstd -19`, from a file and from a pipe.
  const blocks =
    'NQcAJpIvH0Bv0mIMUrzxwpvLYtxpeFxRHLxcWtndo0+mVVVRXBA5ACAAHwA21knvN70INJSHsmIAEiAHxuKCwEFiIo4JiJGAeJgwmAoIgnlQQCIFpsFgYRJhHAoBSkORVDgkCkaqnxpzfcFvt5v2u3M3vOjlbDbulZNd1/ncV9ukX753BnjVm3TqeXRuO6qd8bxn1G3PlS5b78xTJxptylev+vAZA9P3nmTvfTnp9tXnrnPluJu9nIs2POn2BdcxP7XqFw0Au1g5AbY1SJOAsRMwTDsABBOuAnCdupPZQEQnyINqQhGAKgOeGSO7'
  const made = (head: number[]) =>
    new Uint8Array(
      Buffer.concat([
        Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...head]),
        Buffer.from(blocks, 'base64'),
      ]),
    )

  test.each([
    ['with its size', made([0x64, 0xeb, 0x00])],
    ['without its size', made([0x04, 0x68])],
  ])('decompresses data %s', async (_, bytes) => {
    expect(new TextDecoder().decode(await zstdByLibrary(bytes, text.length, memory))).toBe(text)
    await expect(zstdByLibrary(bytes.subarray(0, 100), 5000, memory)).rejects.toMatchObject({
      error: { status: 400 },
    })
    const damaged = bytes.slice()
    damaged[200] = (damaged[200] ?? 0) ^ 0xff
    await expect(zstdByLibrary(damaged, 5000, memory)).rejects.toMatchObject({
      error: { status: 400 },
    })
  })

  test('refuses data that is larger than the limit, whatever its header declares', async () => {
    const bomb = ' '.repeat(10_000_000)
    const [declared, streamed] = [asZstd(bomb), asZstd(bomb, false)]
    const lying = declared.slice()
    new DataView(lying.buffer).setUint32(5, 500, true)
    await expect(zstdByLibrary(declared, 1_000_000, memory)).rejects.toMatchObject({
      error: { status: 413 },
    })
    await expect(zstdByLibrary(streamed, 1_000_000, memory)).rejects.toMatchObject({
      error: { status: 400, message: expect.stringContaining('larger than 1000000 bytes') },
    })
    await expect(zstdByLibrary(lying, 1_000_000, memory)).rejects.toMatchObject({
      error: { status: 400 },
    })
  })
})
