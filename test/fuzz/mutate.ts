import type { RandomSource } from './random.ts'

/** Values that have broken decoders before, anywhere. */
const nasty: readonly unknown[] = [
  null, true, false, 0, -1, 1e308, -1e-308, 2 ** 53, 0.1, '', ' ', '\u0000', '\ud800', '\udc00x', '\u2028', '\ufeff', '[DONE]', '{', '{}', '[]',
  '"', '\\', '../..', '%2f', 'constructor', '__proto__', 'toString', 'data:;base64,', 'data:image/png;base64,====', 'x'.repeat(5000), [], {}, [[]], [null], [{}],
  { type: 'text' }, { type: 'unrecognized-of' }, { type: '__proto__' }, { type: 'constructor' }, { error: null }, { error: {} }, { error: 'x' },
] // biome-ignore format: a list of values
const keys = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'toJSON',
  'then',
  'length',
  'type',
  'index',
  'id',
  'error',
  '',
  '0',
  '-1',
  '../x',
  '~1/',
]

type Holder = { holder: Record<string, unknown>; key: string }

/**
 * A copy with a few values dropped, doubled, exchanged or replaced: by difficult values, or by
 * values of `others`.
 */
export function mutated(random: RandomSource, value: unknown, others: readonly unknown[]): unknown {
  let copy = structuredClone(value)
  for (let count = random.below(4); count > 0; count--) {
    const places = placesIn(copy)
    if (places.length === 0) return other(random, others)
    const { holder, key } = random.one(places)
    switch (random.below(7)) {
      case 0:
        if (Array.isArray(holder)) holder.splice(Number(key), 1)
        else delete holder[key]
        break
      case 1:
        put(holder, key, random.one(nasty))
        break
      case 2:
        put(holder, key, other(random, others))
        break
      case 3:
        put(holder, random.one(keys), random.chance(0.5) ? holder[key] : random.one(nasty))
        break
      case 4:
        if (Array.isArray(holder))
          holder.splice(Number(key), 0, structuredClone(holder[Number(key)]))
        else put(holder, key, [holder[key], holder[key]])
        break
      case 5: {
        const from = random.one(places)
        const [a, b] = [holder[key], from.holder[from.key]]
        if (isInside(a, from.holder) || isInside(b, holder)) break
        put(holder, key, b)
        put(from.holder, from.key, a)
        break
      }
      default:
        put(holder, key, deep(random.below(400), random.chance(0.5)))
    }
    copy = JSON.parse(JSON.stringify(copy) ?? 'null')
  }
  return copy
}

/** Any value inside one of the others. */
function other(random: RandomSource, others: readonly unknown[]): unknown {
  const from = random.one(others)
  const places = placesIn(from)
  if (places.length === 0) return structuredClone(from)
  const { holder, key } = random.one(places)
  return structuredClone(holder[key])
}

/** Own keys stay own keys, whatever their names. */
function put(holder: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(holder, key === 'length' && Array.isArray(holder) ? '0' : key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

function placesIn(value: unknown): Holder[] {
  const found: Holder[] = []
  const walk = (one: unknown) => {
    if (typeof one !== 'object' || one === null) return
    for (const key of Object.keys(one)) {
      found.push({ holder: one as Record<string, unknown>, key })
      walk((one as Record<string, unknown>)[key])
    }
  }
  walk(value)
  return found
}

function isInside(value: unknown, holder: unknown): boolean {
  return value === holder || placesIn(value).some(place => place.holder[place.key] === holder)
}

function deep(levels: number, asList: boolean): unknown {
  let value: unknown = 'x'
  for (let i = 0; i < levels; i++) value = asList ? [value] : { a: value }
  return value
}

const bytes = ['\r', '\n', '\r\n', '\n\n', '\r\r', '\u0000', '\ufeff', ':', 'data', 'data:', 'event: x\n', 'id: 1\u0000\n', 'retry: 0\n', ' ', '{', '}', '[', ']', '"', '\\', '[DONE]', 'data: [DONE]\n\n'] // biome-ignore format: a list of values

/** Bytes with chunks dropped, doubled, moved or replaced; `others` are used as replacements. */
export function mutatedBytes(
  random: RandomSource,
  text: Uint8Array,
  others: readonly Uint8Array[],
): Uint8Array {
  let out = Buffer.from(text)
  for (let count = random.below(4); count > 0; count--) {
    const at = random.below(out.length + 1)
    const length = Math.min(
      out.length - at,
      random.chance(0.5) ? random.below(8) : random.below(400),
    )
    const [before, chunk, after] = [
      out.subarray(0, at),
      out.subarray(at, at + length),
      out.subarray(at + length),
    ]
    switch (random.below(8)) {
      case 0:
        out = Buffer.concat([before, after])
        break
      case 1:
        out = Buffer.concat([before, chunk, chunk, after])
        break
      case 2:
        out = Buffer.concat([before, Buffer.from(random.one(bytes)), chunk, after])
        break
      case 3:
        out = Buffer.concat([before, Buffer.from([random.below(256)]), after])
        break
      case 4:
        out = Buffer.from(before)
        break
      case 5: {
        const from = Buffer.from(random.one(others))
        out = Buffer.concat([before, from.subarray(random.below(from.length + 1)), after])
        break
      }
      case 6: {
        const to = random.below(after.length + 1)
        out = Buffer.concat([before, after.subarray(0, to), chunk, after.subarray(to)])
        break
      }
      default:
        out = Buffer.from(
          out.toString('latin1').replaceAll('\n', random.one(['\r', '\r\n', '\n\n'])),
          'latin1',
        )
    }
  }
  return out
}

/** The same bytes in chunks of any length. */
export function inChunks(random: RandomSource, text: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = []
  const common = random.one([1, 3, 20, 200, text.length + 1])
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + random.below(common)
    chunks.push(text.subarray(at, end))
    at = end
  }
  return chunks
}
