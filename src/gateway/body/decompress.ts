import { encoded, join } from '../../sse/bytes.ts'
import { Refusal, refuse } from '../error.ts'
import { decodeZstd, hasZstd, zstdDecoder } from './zstd.ts'

type Callback = (error: (Error & { code?: string }) | null, result: Uint8Array<ArrayBuffer>) => void
type Decompress = (bytes: Uint8Array, options: { maxOutputLength: number }, done: Callback) => void

/** Functions of `node:zlib`; other runtimes may not have them. Node has zstd since 22.15. */
type Zlib = Partial<
  Record<'gunzip' | 'inflate' | 'brotliDecompress' | 'zstdDecompress', Decompress>
>

const nodeNames: Record<string, keyof Zlib> = {
  gzip: 'gunzip',
  'x-gzip': 'gunzip',
  deflate: 'inflate',
  br: 'brotliDecompress',
  zstd: 'zstdDecompress',
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

/** A decompressed request body. Undefined: the body is not compressed. `limit`: in bytes, after decompression. */
export type Decompressor = (
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
) => Promise<Uint8Array<ArrayBuffer>>

/**
 * How to decompress a body with this `content-encoding`. Undefined: it is not compressed. The result throws Refusal 400 for invalid data, and
 * 413 for more than the limit, which it does not exceed in memory.
 * @throws Refusal 415 for another encoding, or for several
 */
export function decompressorFor(encoding: string | undefined): Decompressor | undefined {
  const name = encoding?.trim().toLowerCase()
  if (!name || name === 'identity') return undefined
  if (!supported.includes(name)) throw unsupported(name, supported)
  const decompress = zlib[nodeNames[name] as keyof Zlib]
  if (decompress) return (bytes, limit) => byNode(decompress, bytes, limit)
  const format = webNames[name]
  return format ? (bytes, limit) => byWebStream(format, bytes, limit) : zstdByLibrary
}

function unsupported(name: string, others: readonly string[], cause?: unknown): Refusal {
  const accepted = [...others, 'identity'].join(', ')
  const message = `content-encoding ${name.slice(0, 40)} is not supported: send the body with ${accepted}`
  return new Refusal(
    { status: 415, kind: 'invalid_request', message },
    { headers: { 'accept-encoding': accepted }, cause },
  )
}

function byNode(
  decompress: Decompress,
  bytes: Uint8Array,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    decompress(bytes, { maxOutputLength: limit }, (error, result) => {
      if (!error) resolve(result)
      else reject(error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : invalid(error))
    })
  })
}

/** For runtimes without zstd. Takes some milliseconds for each megabyte of the result, without a pause. */
export async function zstdByLibrary(
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
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
    throw refuse(
      400,
      'invalid_request',
      `the body is not valid zstd, or larger than ${limit} bytes after decompression`,
    )
  return result
}

/** For runtimes without `node:zlib`. */
export async function byWebStream(
  format: 'gzip' | 'deflate',
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw invalid(error)
    })
    if (done) return join(chunks, length)
    length += value.byteLength
    if (length > limit) {
      reader.cancel().catch(() => {})
      throw tooLarge(limit)
    }
    chunks.push(encoded(value))
  }
}

export const tooLarge = (limit: number) =>
  refuse(413, 'too_large', `the body is larger than ${limit} bytes`)

const invalid = (cause: unknown) =>
  new Refusal(
    {
      status: 400,
      kind: 'invalid_request',
      message: 'the body is not compressed as its content-encoding says',
    },
    { cause },
  )
