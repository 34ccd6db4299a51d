import type { Captured, CapturedAttempt, CapturedBody, CapturedCall } from './capture.ts'

type Chunk = CapturedBody['chunks'][number]

/**
 * Exchanges as they go to another thread, which copies few large values faster than many small ones.
 * `rest`: JSON. `bytes` and `text`: those of all chunks. `times`, `lengths`: of each chunk; a
 * negative length is that of a text.
 */
export type Packed = {
  rest: string
  bytes: Uint8Array<ArrayBuffer>
  text: string
  times: Float64Array<ArrayBuffer>
  lengths: Int32Array<ArrayBuffer>
}

/** A body of `Packed`: the number of its first chunk, and how many it has. */
type PackedBody = Omit<CapturedBody, 'chunks'> & { first: number; count: number }

type Repacked<Some> = Omit<Some, 'body' | 'response'> & { body: PackedBody }
type PackedResponse = Repacked<NonNullable<Captured['response']>>

/** `Captured` as JSON. */
type Rest = Omit<Captured, 'held' | 'call' | 'request' | 'attempts' | 'response'> & {
  call: Omit<CapturedCall, 'query'> & { query: string }
  request?: PackedBody | undefined
  attempts: [number, Repacked<CapturedAttempt> & { response?: PackedResponse | undefined }][]
  response?: PackedResponse | undefined
}

export function pack(exchanges: readonly Captured[]): Packed {
  const chunks: Chunk[] = []
  const rest = exchanges.map(captured => restOf(captured, chunks))
  return { rest: JSON.stringify(rest), ...joinedChunks(chunks) }
}

/** `chunks`: gets those of all bodies. */
function restOf(
  { call, attempts, request, response, held: _, ...rest }: Captured,
  chunks: Chunk[],
): Rest {
  const packed = ({ chunks: own, ...body }: CapturedBody): PackedBody => {
    const first = chunks.length
    for (const chunk of own) chunks.push(chunk)
    return { ...body, first, count: own.length }
  }
  const begun = (one: NonNullable<Captured['response']>): PackedResponse => ({
    ...one,
    body: packed(one.body),
  })
  const asked = request && packed(request)
  // Of one body that passes, the bytes are there once.
  const sent = (body: CapturedBody): PackedBody =>
    asked && body.chunks === request?.chunks ? asked : packed(body)
  const { method, path, headers } = call.request
  return {
    ...rest,
    call: { ...call, query: String(call.query), request: { method, path, headers } },
    request: asked,
    attempts: [...attempts].map(([number, one]) => [
      number,
      { ...one, body: sent(one.body), response: one.response && begun(one.response) },
    ]),
    response: response && begun(response),
  }
}

function joinedChunks(chunks: readonly Chunk[]): Omit<Packed, 'rest'> {
  let size = 0
  for (const { chunk } of chunks) if (typeof chunk !== 'string') size += chunk.length
  // Not cleared first, as all of it is written.
  const bytes: Uint8Array<ArrayBuffer> = Buffer.allocUnsafeSlow(size)
  const times = new Float64Array(chunks.length)
  const lengths = new Int32Array(chunks.length)
  let text = ''
  let at = 0
  for (let i = 0; i < chunks.length; i++) {
    const { atMs, chunk } = chunks[i] as Chunk
    times[i] = atMs
    if (typeof chunk === 'string') {
      lengths[i] = -chunk.length
      text += chunk
    } else {
      lengths[i] = chunk.length
      bytes.set(chunk, at)
      at += chunk.length
    }
  }
  return { bytes, text, times, lengths }
}

/** What `pack` has got. */
export function unpack({ rest, ...packed }: Packed): Captured[] {
  const chunks = chunksOf(packed)
  return (JSON.parse(rest) as Rest[]).map(one => capturedOf(one, chunks))
}

function chunksOf({ bytes, text, times, lengths }: Omit<Packed, 'rest'>): Chunk[] {
  let atByte = 0
  let atLetter = 0
  return Array.from(lengths, (length, i) => {
    const [byte, letter] = [atByte, atLetter]
    if (length > 0) atByte += length
    else atLetter -= length
    const chunk = length > 0 ? bytes.subarray(byte, atByte) : text.slice(letter, atLetter)
    return { atMs: times[i] ?? 0, chunk }
  })
}

function capturedOf(
  { call, request, attempts, response, ...more }: Rest,
  chunks: readonly Chunk[],
): Captured {
  const body = ({ first, count, ...more }: PackedBody): CapturedBody => ({
    ...more,
    chunks: chunks.slice(first, first + count),
  })
  const begun = (one: PackedResponse) => ({ ...one, body: body(one.body) })
  return {
    ...more,
    held: 0,
    call: { ...call, query: new URLSearchParams(call.query) },
    ...(request && { request: body(request) }),
    attempts: new Map(
      attempts.map(([number, { response, ...one }]) => [
        number,
        { ...one, body: body(one.body), ...(response && { response: begun(response) }) },
      ]),
    ),
    ...(response && { response: begun(response) }),
  }
}
