import { parseExact } from '../../kit/json/digits.ts'
import type { JsonObject } from '../../kit/json/json.ts'
import { nesting } from '../../kit/json/scan.ts'
import { mayHoldEnvelope } from '../../kit/signatures/envelope.ts'
import { join, searchable, textOf } from '../../sse/bytes.ts'
import { GatewayError, reject } from '../error.ts'
import type { Share } from '../memory.ts'
import type { GatewayRequest, RequestBody } from '../request.ts'
import { isUtf8, mayHoldAny, strictTextOf } from './bytes.ts'
import { parseInChunks } from './chunks.ts'
import { decompressorFor, tooLarge } from './decompress.ts'
import { atOnce, longWorkFrom, pause, withPauses } from './long-work.ts'
import { type Member, outlineOf, scan } from './outline.ts'

export type ReadBody = {
  /**
   * Its outermost level. In a long body, long members are replaced by placeholders: see
   * `outlineOf`.
   */
  readonly outline: unknown
  /** The complete body, parsed on first use. @throws GatewayError 400 */
  readonly value: unknown
  /** Of its text as it came, in bytes. Absent: not known. */
  readonly length?: number | undefined
  /**
   * Of a long body: parses it with pauses, in which the process does other work.
   * @throws GatewayError 400
   */
  parse?(): Promise<void>
  /** Releases the parsed value; the next use of `value` parses again. */
  forget?(): void
  /** The original bytes. Absent: the application had parsed the body already. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** Of a long body: the positions of its outermost members in `bytes`. */
  readonly members?: readonly Member[]
  /**
   * The body contains no wrapped signatures of other providers, which would have to be removed.
   * Absent: not known.
   */
  readonly isPlain?: boolean
}

/** What a request may take. */
type BodyLimits = { bodyLimitBytes: number; depthLimit: number; memory: Share }

/**
 * Reads the body of a request. Of a long body only what routing needs is parsed.
 * @throws GatewayError 400, 408, 413, 415, 503
 */
export async function readJson(
  { headers, body }: Pick<GatewayRequest, 'headers' | 'body'>,
  { bodyLimitBytes, depthLimit, memory }: BodyLimits,
): Promise<ReadBody> {
  if (!isJson(headers))
    throw reject(
      415,
      'invalid_request',
      'the body must be JSON: send content-type: application/json',
    )
  if ('parsed' in body) {
    memory.add(declaredLength(headers))
    const value = typeof body.parsed === 'string' ? parse(body.parsed) : body.parsed
    if (isDeeper(value, depthLimit)) throw tooDeep(depthLimit)
    return { value, outline: value, length: declaredLength(headers) }
  }
  const bytes = await readAll({ headers, body }, { bodyLimitBytes, memory })
  // A body without an outline is invalid or unusual: parsing it completely finds the place of the
  // fault.
  const found =
    bytes.length > long && isUtf8(bytes) ? scan(bytes, { deepest: depthLimit, most }) : undefined
  const outline = outlineOf(bytes, found?.members)
  if (bytes.length >= longWorkFrom) await pause()
  if (found && outline) return new LongBody(bytes, outline, found)
  if (nesting(searchable(bytes), depthLimit) > depthLimit) throw tooDeep(depthLimit)
  const text = strictTextOf(bytes)
  if (text === undefined) throw reject(400, 'invalid_request', 'the body is not UTF-8')
  const value = parse(text)
  return { value, outline: value, bytes, length: bytes.length, isPlain: isPlain(bytes, { text }) }
}

/**
 * Is the body declared as JSON? Checked even if a body parser has read it: browsers let any web
 * page send forms and plain text to any server, and ask the server first (CORS preflight) only for
 * JSON.
 */
export function isJson({ 'content-type': type, origin }: GatewayRequest['headers']): boolean {
  return type === undefined
    ? origin === undefined
    : /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type.trim())
}

/**
 * The bytes of a body, decompressed.
 * @throws GatewayError 400, 408, 413, 415, 503; 500 if the application has parsed it
 */
export async function readAll(
  { headers, body }: Pick<GatewayRequest, 'headers' | 'body'>,
  { bodyLimitBytes: limit, memory }: Omit<BodyLimits, 'depthLimit'>,
): Promise<Uint8Array<ArrayBuffer>> {
  if ('parsed' in body) {
    if (typeof body.parsed === 'string') return new TextEncoder().encode(body.parsed)
    throw reject(
      500,
      'internal',
      'the application has parsed the body before the gateway, which needs its bytes',
    )
  }
  const decompress = decompressorFor(headers['content-encoding'])
  const declared = declaredLength(headers)
  if (declared > limit) throw tooLarge(limit)
  // Before anything is read. Without a length, the chunks count as they come.
  memory.add(declared)
  const read = await readBytes(body, limit, length => {
    if (length > declared) memory.add(length - declared)
  })
  if (!decompress) return read
  const whole = await decompress(read, limit, memory)
  memory.add(-Math.max(declared, read.length))
  return whole
}

function declaredLength({ 'content-length': length }: GatewayRequest['headers']): number {
  const declared = Number(length ?? 0)
  return declared > 0 && Number.isSafeInteger(declared) ? declared : 0
}

/**
 * In one body. No conversation has nearly as many, and parsing more would take longer than anything
 * else.
 */
const most = { values: 1_200_000, keys: 300_000 }

/** In bytes. Parsing a shorter body is faster than searching for its members. */
export const long = 16 * 1024

/**
 * A long body, parsed only on demand: not at all when the upstream speaks the caller's protocol.
 */
class LongBody implements ReadBody {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly outline: JsonObject
  readonly members: readonly Member[]
  readonly #hasEnvelope: boolean
  #value: unknown

  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    outline: JsonObject,
    { members, hasEnvelope }: NonNullable<ReturnType<typeof scan>>,
  ) {
    this.bytes = bytes
    this.outline = outline
    this.members = members
    this.#hasEnvelope = hasEnvelope
  }

  get length(): number {
    return this.bytes.length
  }

  get value(): unknown {
    this.#value ??= atOnce(readLong(this.bytes, this.members))
    return this.#value
  }

  async parse(): Promise<void> {
    this.#value ??= await withPauses(readLong(this.bytes, this.members))
  }

  forget(): void {
    this.#value = undefined
  }

  get isPlain(): boolean {
    return isPlain(this.bytes, { begins: this.#hasEnvelope })
  }
}

/** A changed body. It has no bytes, and keeps the outline: the changes are deeper than that. */
export class ChangedBody implements ReadBody {
  readonly outline: unknown
  readonly #original: ReadBody
  readonly #change: (value: unknown) => unknown
  #value: unknown

  constructor(original: ReadBody, change: (value: unknown) => unknown) {
    this.outline = original.outline
    this.#original = original
    this.#change = change
  }

  get length(): number | undefined {
    return this.#original.length
  }

  get value(): unknown {
    this.#value ??= this.#change(this.#original.value)
    return this.#value
  }

  async parse(): Promise<void> {
    await this.#original.parse?.()
  }

  forget(): void {
    this.#value = undefined
    this.#original.forget?.()
  }
}

/**
 * Parses in chunks. If one cannot be parsed, the whole text is, so that the error has the right
 * position.
 */
function* readLong(bytes: Uint8Array, members: readonly Member[]): Generator<void, unknown> {
  try {
    return yield* parseInChunks(bytes, members)
  } catch {
    return parse(textOf(bytes))
  }
}

/** Does the body contain no envelope? Searches the bytes, which is faster than decoding them. */
function isPlain(
  bytes: Uint8Array,
  { text, begins }: { text?: string; begins?: boolean },
): boolean {
  if (!mayHoldEnvelope(words => mayHoldAny(bytes, words), begins)) return true
  const whole = text ?? textOf(bytes)
  return !mayHoldEnvelope(words => words.some(word => whole.includes(word)), begins)
}

export const tooDeep = (limit: number) =>
  reject(400, 'invalid_request', `the body is nested more than ${limit} levels deep`)

/** Is a parsed value nested deeper than `limit`? */
function isDeeper(value: unknown, limit: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true
    level = level
      .flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
      .filter(one => typeof one === 'object' && one !== null)
  }
  return false
}

/** A client that is silent for so long in the middle of a body has stopped sending it. */
const longestPauseMs = 60_000

function readBytes(
  body: Extract<RequestBody, { bytes: unknown }>,
  limit: number,
  count: (length: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const iterator = body.bytes[Symbol.asyncIterator]()
  let isDone = false
  let heardAt = performance.now()

  async function read(): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = []
    let length = 0
    for (;;) {
      const next = await iterator.next()
      isDone = next.done === true
      if (next.done) return join(chunks, length)
      heardAt = performance.now()
      length += next.value.byteLength
      if (length > limit) throw tooLarge(limit)
      count(length)
      chunks.push(next.value)
    }
  }

  // One timer for the whole body: one for each chunk costs more than the chunk.
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = () => {
      const leftMs = heardAt + longestPauseMs - performance.now()
      if (leftMs <= 0) return end(() => reject(stopped()))
      timer = setTimeout(check, leftMs)
      // A process that is stopped does not wait for it. In workers it is a number.
      if (typeof timer === 'object') timer.unref()
    }
    const end = (settle: () => void) => {
      clearTimeout(timer)
      // Not awaited: an iterator that hangs would hang here, too.
      if (!isDone) iterator.return?.().catch(() => {})
      settle()
    }
    check()
    read().then(
      bytes => end(() => resolve(bytes)),
      error => end(() => reject(error)),
    )
  })
}

const stopped = () =>
  new GatewayError(
    { status: 408, kind: 'invalid_request', message: 'the body has stopped in the middle' },
    { headers: { connection: 'close' } },
  )

function parse(text: string): unknown {
  if (text.trim() === '')
    throw reject(400, 'invalid_request', 'the body is empty: expected a JSON object')
  try {
    return parseExact(text)
  } catch (error) {
    const at = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0]
    throw reject(400, 'invalid_request', `the body is not JSON${at ? ` (at ${at})` : ''}`)
  }
}
