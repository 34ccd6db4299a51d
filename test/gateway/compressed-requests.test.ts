import * as zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { byWebStream } from '../../src/gateway/body/decompress.ts'
import { hosts, one, paths, replies, requests, sendJson, upstream } from './support.ts'

type Compress = (text: string) => Uint8Array<ArrayBuffer>
const { zstdCompressSync } = zlib as { zstdCompressSync?: Compress }
const encodings: [string, Compress][] = [
  ['gzip', zlib.gzipSync],
  ['x-gzip', zlib.gzipSync],
  ['GZIP', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['br', zlib.brotliCompressSync],
  ...(zstdCompressSync ? [['zstd', zstdCompressSync] as [string, Compress]] : []),
]

const compressed = (encoding: string, body: Uint8Array<ArrayBuffer> | string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'content-encoding': encoding },
  body,
})

describe.each(hosts)('through %s', (_, start) => {
  async function received(init: RequestInit, bodyLimitBytes = 100_000) {
    const seen = await upstream(sendJson(200, replies.messages))
    const ask = await start(one(seen.url, 'messages', { defaults: { bodyLimitBytes, retries: 0 } }))
    return { response: await ask(paths.messages, init), seen }
  }

  test.each(encodings)('reads a request in %s', async (encoding, compress) => {
    const text = JSON.stringify({ ...requests.messages, messages: [{ role: 'user', content: 'Hi '.repeat(10_000) }] })
    const { response, seen } = await received(compressed(encoding, compress(text)))
    expect(response.status).toBe(200)
    expect(seen.calls[0]?.text).toBe(text)
    expect(seen.calls[0]?.headers['content-encoding']).toBeUndefined()
  })

  test.each(encodings)('refuses a request in %s that is too large after decompression', async (encoding, compress) => {
    const bomb = compress(`"${' '.repeat(10_000_000)}"`)
    expect(bomb.length).toBeLessThan(100_000)
    const { response, seen } = await received(compressed(encoding, bomb))
    expect(response.status).toBe(413)
    expect(seen.calls.length).toBe(0)
  })

  test.each(encodings)('refuses a request that is cut off or not in %s', async (encoding, compress) => {
    const whole = compress(JSON.stringify(requests.messages))
    for (const body of [whole.subarray(0, whole.length / 2), JSON.stringify(requests.messages)])
      expect((await received(compressed(encoding, body))).response.status).toBe(400)
  })

  test.each(['compress', 'gzip, br', 'toString', '__proto__'])('refuses the encoding %s and names those there are', async encoding => {
    const { response } = await received(compressed(encoding, 'x'))
    expect(response.status).toBe(415)
    expect(response.headers.get('accept-encoding')).toContain('gzip, x-gzip, deflate, br')
  })
})

describe('without node:zlib', () => {
  test.each([
    ['gzip', zlib.gzipSync('Hello')],
    ['deflate', zlib.deflateSync('Hello')],
  ] as const)('decompresses %s', async (format, bytes) => {
    expect(new TextDecoder().decode(await byWebStream(format, bytes, 5))).toBe('Hello')
    await expect(byWebStream(format, bytes, 4)).rejects.toMatchObject({ error: { status: 413 } })
    await expect(byWebStream(format, bytes.subarray(0, 6), 5)).rejects.toMatchObject({ error: { status: 400 } })
  })
})
