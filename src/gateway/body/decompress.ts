import { encoded, join } from '../../sse/bytes.ts'
import { GatewayError, reject } from '../error.ts'
import type { Share } from '../memory.ts'
import { decodeZstd, hasZstd, zstdDecoder } from './zstd.ts'

type Stream = {
  on(event: 'data', listener: (chunk: Uint8Array) => void): Stream
  on(event: 'end', listener: () => void): Stream
  on(event: 'error', listener: (error: Error) => void): Stream
  end(bytes: Uint8Array): void
  destroy(): void
}

/** Functions of `node:zlib`; other runtimes may not have them. Node has zstd since 22.15. */
type Zlib = Partial<
  Record<
    'createGunzip' | 'createInflate' | 'createBrotliDecompress' | 'createZstdDecompress',
    (options: { chunkSize: number }) => Stream
  >
>

const nodeNames: Record<string, keyof Zlib> = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  deflate: 'createInflate',
  br: 'createBrotliDecompress',
  zstd: 'createZstdDecompress',
}
const webNames: Record<string, 'gzip' | 'deflate'> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
}

const zlib = nodeZlib()

function nodeZlib(): Zlib {
  try {
    const { process } = globalThis as {
      process?: { getBuiltinModule?(name: string): Zlib | undefined }
    }
    return process?.getBuiltinModule?.('node:zlib') ?? {}
  } catch {
    return {}
  }
}

const hasWebStreams = 'DecompressionStream' in globalThis

/** The encodings that this runtime can decompress. */
const supported = Object.keys(nodeNames).filter(
  name =>
    zlib[nodeNames[name] as keyof Zlib] ||
    (hasWebStreams && webNames[name]) ||
    (hasZstd && name === 'zstd'),
)

/**
 * Decompresses a request body. `limit`: in bytes, after decompression. `memory`: counts the result
 * as it grows.
 */
export type Decompressor = (
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
  memory: Share,
) => Promise<Uint8Array<ArrayBuffer>>

/**
 * How to decompress a body with this `content-encoding`. Undefined: it is not compressed. The
 * result throws Refusal 400 for invalid data, and 413 for more than the limit, which it does not
 * exceed in memory.
 * @throws GatewayError 415 for another encoding, or for several
 */
export function decompressorFor(encoding: string | undefined): Decompressor | undefined {
  const name = encoding?.trim().toLowerCase()
  if (!name || name === 'identity') return undefined
  if (!supported.includes(name)) throw unsupported(name, supported)
  const create = zlib[nodeNames[name] as keyof Zlib]
  if (create)
    return (bytes, limit, memory) =>
      byNode(create({ chunkSize }), bytes, new Growing(limit, memory))
  const format = webNames[name]
  return format ? (...decompressed) => byWebStream(format, ...decompressed) : zstdByLibrary
}

function unsupported(name: string, others: readonly string[], cause?: unknown): GatewayError {
  const accepted = [...others, 'identity'].join(', ')
  const message = `content-encoding ${name.slice(0, 40)} is not supported: send the body with ${accepted}`
  return new GatewayError(
    { status: 415, kind: 'invalid_request', message },
    { headers: { 'accept-encoding': accepted }, cause },
  )
}

/** In bytes. Larger chunks would make small bodies slower. */
const chunkSize = 64 * 1024

/** Chunks that are counted as they come. */
class Growing {
  readonly #chunks: Uint8Array[] = []
  #length = 0
  readonly #limit: number
  readonly #memory: Share

  constructor(limit: number, memory: Share) {
    this.#limit = limit
    this.#memory = memory
  }

  /** @throws GatewayError 413, 503 */
  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength
    if (this.#length > this.#limit) throw tooLarge(this.#limit)
    this.#memory.add(chunk.byteLength)
    this.#chunks.push(chunk)
  }

  whole(): Uint8Array<ArrayBuffer> {
    return join(this.#chunks, this.#length)
  }
}

function byNode(
  stream: Stream,
  bytes: Uint8Array,
  result: Growing,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    stream
      .on('data', chunk => {
        try {
          result.add(chunk)
        } catch (rejection) {
          stream.destroy()
          reject(rejection)
        }
      })
      .on('end', () => resolve(result.whole()))
      .on('error', error => reject(invalid(error)))
      .end(bytes)
  })
}

/**
 * For runtimes without zstd. Takes some milliseconds for each megabyte of the result, without a
 * pause.
 */
export async function zstdByLibrary(
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
  memory: Share,
): Promise<Uint8Array<ArrayBuffer>> {
  const decoder = await zstdDecoder().catch((cause: unknown) => {
    // Some runtimes forbid WebAssembly that is not part of the deployment.
    throw unsupported(
      'zstd',
      supported.filter(name => name !== 'zstd'),
      cause,
    )
  })
  const result = decodeZstd(decoder, bytes, limit)
  if (result === 'too-large') throw tooLarge(limit)
  if (!result)
    throw reject(
      400,
      'invalid_request',
      `the body is not valid zstd, or larger than ${limit} bytes after decompression`,
    )
  memory.add(result.byteLength)
  return result
}

/** For runtimes without `node:zlib`. */
export async function byWebStream(
  format: 'gzip' | 'deflate',
  ...[bytes, limit, memory]: Parameters<Decompressor>
): Promise<Uint8Array<ArrayBuffer>> {
  const result = new Growing(limit, memory)
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw invalid(error)
      })
      if (done) return result.whole()
      result.add(encoded(value))
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

export const tooLarge = (limit: number) =>
  reject(413, 'too_large', `the body is larger than ${limit} bytes`)

const invalid = (cause: unknown) =>
  new GatewayError(
    {
      status: 400,
      kind: 'invalid_request',
      message: 'the body is not compressed as its content-encoding says',
    },
    { cause },
  )
