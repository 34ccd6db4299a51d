import { parseExact, writeExact, writeMember } from '../../kit/json/digits.ts'
import type { JsonObject } from '../../kit/json/json.ts'
import { textOf } from '../../sse/bytes.ts'
import { stepBytes } from './long-work.ts'
import { keyOf, type Member } from './outline.ts'

/**
 * Long JSON is read and written a few list items at a time. For each string of more than 128 KB V8
 * maps and unmaps memory pages: reading 170 KB at once takes 750 µs of CPU time, in chunks 200;
 * writing takes 660 and 320.
 */

/** The number of items that are written at once. */
const chunkItems = 8

/** Parses a JSON object whose outermost members are known, in steps. @throws SyntaxError */
export function* parseInChunks(
  bytes: Uint8Array,
  members: readonly Member[],
): Generator<void, unknown> {
  const lists = members.filter(({ cuts }) => cuts && cuts.length > 0)
  const keys = new Set(members.map(member => keyOf(bytes, member)))
  // Of duplicate keys, the last one counts.
  if (keys.size < members.length) return parseExact(textOf(bytes))
  let text = ''
  let read = 0
  for (const { start, end } of lists) {
    text += `${textOf(bytes.subarray(read, start))}[]`
    read = end
  }
  text += textOf(bytes.subarray(read))
  if (text.length > stepBytes) yield
  const whole = parseExact(text) as Record<string, unknown[]>
  let parsed = 0
  for (const list of lists) {
    const { start, end, cuts = [] } = list
    const items = whole[keyOf(bytes, list)] as unknown[]
    let from = start + 1
    const take = (to: number) => {
      for (const item of parseExact(`[${textOf(bytes.subarray(from, to))}]`) as unknown[])
        items.push(item)
      from = to + 1
    }
    for (const cut of cuts) {
      take(cut)
      if (cut - parsed < stepBytes) continue
      parsed = cut
      yield
    }
    take(end - 1)
  }
  return whole
}

/**
 * As `writeExact`, but returns bytes, ignores `toJSON`, and works in steps. `expected`: the
 * number of bytes to allocate.
 */
export function* serializeInChunks(
  value: JsonObject,
  expected: number,
): Generator<void, Uint8Array<ArrayBuffer>> {
  const out = new ChunkedJson(expected)
  let isFirst = true
  let paused = 0
  for (const key of Object.keys(value)) {
    const member = value[key]
    const rest = Array.isArray(member) ? member : undefined
    const text = rest ? writeExact(rest.slice(0, chunkItems)) : writeMember(value, key)
    if (text === undefined) continue
    if (text.length > stepBytes) yield
    out.add(`${isFirst ? '{' : ','}${JSON.stringify(key)}:`)
    out.add(text)
    for (let i = chunkItems; rest && i < rest.length; i += chunkItems) {
      out.continue(writeExact(rest.slice(i, i + chunkItems)))
      if (out.length - paused < stepBytes) continue
      paused = out.length
      yield
    }
    isFirst = false
  }
  out.add(isFirst ? '{}' : '}')
  return out.bytes()
}

const encoder = new TextEncoder()

class ChunkedJson {
  #bytes: Uint8Array<ArrayBuffer>
  #length = 0

  constructor(expected: number) {
    this.#bytes = new Uint8Array(expected + expected / 8)
  }

  add(text: string): void {
    for (let rest = text; rest.length > 0; ) {
      const { read, written } = encoder.encodeInto(rest, this.#bytes.subarray(this.#length))
      this.#length += written
      if (read === rest.length) return
      rest = rest.slice(read)
      const grown = new Uint8Array(this.#bytes.length * 2 + rest.length)
      grown.set(this.#bytes)
      this.#bytes = grown
    }
  }

  /** Continues the list that was just written with the items of this one. */
  continue(list: string): void {
    const end = this.#length - 1
    this.#length = end
    this.add(list)
    this.#bytes[end] = 0x2c
  }

  get length(): number {
    return this.#length
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length)
  }
}
