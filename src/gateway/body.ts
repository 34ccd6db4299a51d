import { mayHoldEnvelope } from '../kit/envelope.ts'
import type { JsonObject } from '../kit/json.ts'
import { isUtf8, join, mayHoldAny, strictTextOf, textOf } from './bytes.ts'
import { refuse } from './error.ts'
import { type Member, membersOf, nesting, outlineOf } from './outline.ts'
import { readInPieces } from './pieces.ts'
import type { GatewayRequest, RequestBody } from './request.ts'

export type ReadBody = {
  /** What its outermost level says: of a long body without its long members, see `outlineOf`. */
  readonly outline: unknown
  /** All of it, read when it is first asked for. @throws Refusal 400 */
  readonly value: unknown
  /** Lets go of what was read; who asks again has it read again. */
  forget?(): void
  /** As it came, where it came as bytes. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** Of a long body, where its outermost level has what. */
  readonly members?: readonly Member[]
  /** Nothing in it came from another provider by way of us. */
  readonly isPlain?: boolean
}

/** @throws Refusal 400, 413, 415 */
export async function readJson(
  { headers, body }: Pick<GatewayRequest, 'headers' | 'body'>,
  { bodyLimitBytes: limit, depthLimit }: { bodyLimitBytes: number; depthLimit: number },
): Promise<ReadBody> {
  if ('parsed' in body) {
    const value = typeof body.parsed === 'string' ? parse(body.parsed) : body.parsed
    if (isDeeper(value, depthLimit)) throw tooDeep(depthLimit)
    return { value, outline: value }
  }
  const type = headers['content-type']
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type.trim()))
    throw refuse(415, 'invalid_request', 'the body must be JSON: send content-type: application/json')
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw refuse(415, 'invalid_request', 'send the body without content-encoding')
  const bytes = await readBytes(body, limit, Number(headers['content-length'] ?? 0))
  // What is not understood from outside is read as a whole, and refused with its place.
  const members = bytes.length > long && isUtf8(bytes) ? membersOf(bytes, { deepest: depthLimit }) : undefined
  const outline = outlineOf(bytes, members)
  if (members && outline) return new LongBody(bytes, outline, members)
  if (nesting(bytes) > depthLimit) throw tooDeep(depthLimit)
  const text = strictTextOf(bytes)
  if (text === undefined) throw refuse(400, 'invalid_request', 'the body is not UTF-8')
  const value = parse(text)
  return { value, outline: value, bytes, isPlain: isPlain(bytes, text) }
}

/** Up to this many bytes, reading all is quicker than looking at the outside. */
export const long = 16 * 1024

/** Where the upstream speaks the caller's protocol, nobody need know what is inside. */
class LongBody implements ReadBody {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly outline: JsonObject
  readonly members: readonly Member[]
  #value: unknown

  constructor(bytes: Uint8Array<ArrayBuffer>, outline: JsonObject, members: readonly Member[]) {
    this.bytes = bytes
    this.outline = outline
    this.members = members
  }

  get value(): unknown {
    this.#value ??= readLong(this.bytes, this.members)
    return this.#value
  }

  forget(): void {
    this.#value = undefined
  }

  get isPlain(): boolean {
    return isPlain(this.bytes)
  }
}

/** What is wrong inside of a text is told with its place in the whole. */
function readLong(bytes: Uint8Array, members: readonly Member[]): unknown {
  try {
    return readInPieces(bytes, members)
  } catch {
    return parse(textOf(bytes))
  }
}

/** Looked for in the bytes first: that is quicker. */
function isPlain(bytes: Uint8Array, given?: string): boolean {
  if (!mayHoldEnvelope(words => mayHoldAny(bytes, words))) return true
  const text = given ?? textOf(bytes)
  return !mayHoldEnvelope(words => words.some(word => text.includes(word)))
}

export const tooDeep = (limit: number) => refuse(400, 'invalid_request', `the body is nested more than ${limit} levels deep`)

/** The same of a value that somebody else has parsed. */
function isDeeper(value: unknown, limit: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : [])).filter(one => typeof one === 'object' && one !== null)
  }
  return false
}

async function readBytes(body: Extract<RequestBody, { bytes: unknown }>, limit: number, told: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => refuse(413, 'too_large', `the body is larger than ${limit} bytes`)
  if (told > limit) throw tooLarge()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body.bytes) {
    length += chunk.byteLength
    if (length > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return join(chunks, length)
}

function parse(text: string): unknown {
  if (text.trim() === '') throw refuse(400, 'invalid_request', 'the body is empty: expected a JSON object')
  try {
    return JSON.parse(text)
  } catch (error) {
    const at = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0]
    throw refuse(400, 'invalid_request', `the body is not JSON${at ? ` (at ${at})` : ''}`)
  }
}
