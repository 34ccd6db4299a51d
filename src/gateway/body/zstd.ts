type Bytes = Uint8Array<ArrayBuffer>

type Decoder = { init(): Promise<void>; decode(bytes: Uint8Array, capacity: number): Uint8Array }

let loading: Promise<Decoder> | undefined

/** Is there WebAssembly, which the decoder needs? */
export const hasZstd = 'WebAssembly' in globalThis

/**
 * The decoder, for runtimes without their own one. Loaded on first use.
 * @throws whatever the runtime throws when it forbids WebAssembly
 */
export function zstdDecoder(): Promise<Decoder> {
  loading ??= load()
  return loading
}

async function load(): Promise<Decoder> {
  const { ZSTDDecoder } = await import('zstddec')
  const decoder = new ZSTDDecoder()
  await decoder.init()
  return decoder
}

/**
 * In bytes. The decoder cannot allocate more than about two gigabytes, and does not check whether
 * it could.
 */
const mostCapacity = 256 * 1024 * 1024

/**
 * Decompresses zstd. `limit`: in bytes, which memory and result do not exceed.
 * @returns `too-large` if the data declares a larger size. Undefined: the data is invalid, or
 * larger than the limit without declaring a size.
 */
export function decodeZstd(
  decoder: Decoder,
  bytes: Bytes,
  limit: number,
): Bytes | 'too-large' | undefined {
  const declared = declaredSize(bytes)
  if (declared !== undefined && declared > limit) return 'too-large'
  const result = decoder.decode(bytes, Math.min(limit, mostCapacity)) as Bytes
  // The decoder returns nothing when it fails.
  return result.length > 0 ? result : undefined
}

/**
 * The size in the header of the first frame (RFC 8878, section 3.1.1.1). Undefined: it declares
 * none, or this is not zstd.
 */
function declaredSize(bytes: Bytes): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const longestHeader = 18
  if (view.byteLength < longestHeader || view.getUint32(0, true) !== 0xfd2fb528) return undefined
  const descriptor = view.getUint8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const dictionaryId = [0, 1, 2, 4][descriptor & 3] ?? 0
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryId
  switch (descriptor >> 6) {
    case 0:
      return isSingleSegment ? view.getUint8(at) : undefined
    case 1:
      return view.getUint16(at, true) + 256
    case 2:
      return view.getUint32(at, true)
    default:
      return Number(view.getBigUint64(at, true))
  }
}
