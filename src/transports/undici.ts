import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from 'node:zlib'
import { Agent, request } from 'undici'
import type { Transport } from './transport.ts'

/** Node's HTTP client with sockets that are kept open between calls. Redirects are not followed: they would carry the key along. */
export function undiciTransport(): Transport {
  const agents = new Map<number, Agent>()
  const agentFor = (connectMs: number) => {
    let agent = agents.get(connectMs)
    if (!agent) {
      // Silence is judged by the gateway, which knows whether the client is reading.
      agent = new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000, keepAliveMaxTimeout: 600_000 })
      agents.set(connectMs, agent)
    }
    return agent
  }
  return {
    async send({ url, method, headers, body, signal, connectMs }) {
      const answer = await request(url, { dispatcher: agentFor(connectMs), method, headers, body: body ?? null, signal })
      const { 'content-encoding': encoding, ...kept } = plain(answer.headers)
      return { status: answer.statusCode, headers: kept, body: chunksOf(decompress(answer.body, encoding)) }
    },
    async close() {
      await Promise.all([...agents.values()].map(agent => agent.destroy()))
      agents.clear()
    },
  }
}

/** We ask for no compression; some upstreams compress all the same. */
function decompress(body: Readable, encoding: string | undefined): Readable {
  const decoder = decoderFor(encoding)
  if (!decoder) return body
  body.on('error', error => decoder.destroy(error))
  decoder.on('close', () => body.destroy())
  return body.pipe(decoder)
}

/** All that has come, each time: the iterator that streams bring along takes three promises for it where this takes one. */
function chunksOf(body: Readable): AsyncIterable<Uint8Array> {
  let failure: { error: unknown } | undefined
  let wake = () => {}
  const stir = () => wake()
  body.on('error', error => {
    failure = { error }
    stir()
  })
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      for (;;) {
        const value = body.read() as Uint8Array | null
        if (value !== null) return { value, done: false }
        if (failure) throw failure.error
        if (body.readableEnded) return { value: undefined, done: true }
        if (body.destroyed) throw new Error('the body was given up')
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
    async return() {
      body.destroy()
      return { value: undefined, done: true }
    },
  }
  return {
    [Symbol.asyncIterator]() {
      for (const event of ['readable', 'end', 'close']) body.on(event, stir)
      return iterator
    },
  }
}

/** Flushed at once, or a compressed stream would come in bursts. */
function decoderFor(encoding: string | undefined) {
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ flush: zlib.Z_SYNC_FLUSH })
    case 'deflate':
      return createInflate({ flush: zlib.Z_SYNC_FLUSH })
    case 'br':
      return createBrotliDecompress({ flush: zlib.BROTLI_OPERATION_FLUSH })
    default:
      return undefined
  }
}

function plain(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) kept[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  return kept
}
