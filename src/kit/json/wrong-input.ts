import { TranslationError } from '../../errors.ts'
import { pointer } from '../notes/path.ts'
import { deepest, isObject } from './json.ts'

/** The class of a value, such as `String` or `Response`. */
const nameOf = (value: unknown) =>
  value == null ? String(value) : Object.prototype.toString.call(value).slice(8, -1)

const message = ['await its json() first', 'pass its body'] as const

/** What to do with values that are often passed by mistake: for a body, and for a stream. */
const advice: Readonly<Record<string, readonly [string, string?]>> = {
  String: ['parse it first'],
  Uint8Array: ['parse its text first'],
  ArrayBuffer: ['parse its text first', 'pass a Uint8Array of it'],
  Promise: ['await it first', 'await it first'],
  Response: message,
  Request: message,
}

function but(value: unknown, nth?: 0 | 1): string {
  const name = nameOf(value)
  return `but got ${name}${nth !== undefined && Object.hasOwn(advice, name) ? `; ${advice[name]?.[nth]}` : ''}`
}

/** What is wrong with a value that is no JSON object. Undefined: it can be one. */
export function bodyFault(value: unknown): string | undefined {
  return isObject(value) && !Object.hasOwn(advice, nameOf(value))
    ? undefined
    : `expected an object, ${but(value, 0)}`
}

/** @throws TypeError always: for a value that is no stream */
export function refuseStream(value: unknown): never {
  throw new TypeError(
    `stream: expected a stream, text, bytes, or a list of these, ${but(value, 1)}`,
  )
}

/** @throws TypeError for a value that is neither text nor bytes */
export function refuseNoChunk(value: unknown): void {
  if (typeof value !== 'string' && !ArrayBuffer.isView(value))
    throw new TypeError(`chunk: expected text or bytes, ${but(value)}`)
}

/** A body is nested too deeply. */
class TooDeepError extends TranslationError {
  constructor(protocol: string) {
    super(
      { code: 'malformed', protocol, path: '' },
      'expected plain JSON, but it is nested too deeply',
    )
  }
}

/**
 * For functions that visit a whole body. `depth`: of this value; the body has 0.
 * @throws TranslationError `malformed` at `deepest` levels, long before the stack overflows
 */
export function refuseTooDeep(depth: number, protocol: string): void {
  if (depth >= deepest) throw new TooDeepError(protocol)
}

/**
 * What `read` makes of a body.
 * @throws TranslationError `malformed` for a body that contains itself, or is nested too deeply to
 * be read
 */
export function readBody<T>(protocol: string, body: unknown, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (
      !(
        error instanceof TooDeepError ||
        (error instanceof RangeError && error.message.includes('call stack'))
      )
    )
      throw error
    const path = placeOfCycle(body)
    if (!path) throw new TooDeepError(protocol)
    throw new TranslationError(
      { code: 'malformed', protocol, path: pointer(path) },
      'expected plain JSON, but this contains itself',
    )
  }
}

const mostVisited = 100_000

/**
 * Where a value contains one that it is inside of. Undefined: nowhere, as far as it was searched.
 */
function placeOfCycle(value: unknown): string[] | undefined {
  const around: unknown[] = []
  const path: string[] = []
  const open = [{ value, depth: 0, key: '' }]
  let visited = 0
  for (let next = open.pop(); next && visited < mostVisited; next = open.pop(), visited++) {
    around.length = next.depth
    path.length = next.depth
    path.push(next.key)
    if (around.includes(next.value)) return path.slice(1)
    around.push(next.value)
    if (next.depth === deepest) continue
    for (const [key, inner] of Object.entries(next.value as object))
      if (typeof inner === 'object' && inner !== null)
        open.push({ value: inner, depth: next.depth + 1, key })
  }
  return undefined
}
