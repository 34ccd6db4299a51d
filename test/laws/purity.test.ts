import fc, { type Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  all,
  attempt,
  canonicalRequest,
  canonicalResponse,
  wiresOf,
} from '../../src/testing/bodies.ts'
import { cleanEvents, cutEvents } from '../../src/testing/events.ts'
import { deepFreeze } from '../../src/testing/json.ts'
import { decodeStream, encodeStream, run } from '../../src/testing/streams.ts'
import { json } from '../../src/testing/texts.ts'
import { runs } from '../support/runs.ts'
import { written } from '../support/written.ts'

describe.each(all)('$name does not change its input', protocol => {
  const wires = wiresOf(protocol)

  test('decoders accept frozen bodies', () => {
    fc.assert(
      fc.property(wires.request, wires.response, (request, response) => {
        const expected = attempt(() => protocol.decodeRequest(structuredClone(request)))
        if (expected) expect(protocol.decodeRequest(deepFreeze(request))).toEqual(expected)
        const whole = attempt(() => protocol.decodeResponse(structuredClone(response)))
        if (whole) expect(protocol.decodeResponse(deepFreeze(response))).toEqual(whole)
      }),
      runs(1000),
    )
  })

  test('encoders accept frozen values', () => {
    fc.assert(
      fc.property(canonicalRequest, canonicalResponse, (request, response) => {
        const expected = attempt(() => written(structuredClone(request), protocol))
        if (expected) expect(written(deepFreeze(request), protocol)).toEqual(expected)
        const whole = attempt(() => protocol.encodeResponse(structuredClone(response)))
        if (whole) expect(protocol.encodeResponse(deepFreeze(response))).toEqual(whole)
      }),
      runs(1000),
    )
  })

  test('keeps everything of the stream encoder in its state, which can be cloned between events', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), events => {
        const plain = run(protocol.streamEncoder, structuredClone(events))
        expect(
          run(protocol.streamEncoder, deepFreeze(events), {
            between: state => structuredClone(state),
          }),
        ).toEqual(plain)
      }),
      runs(1000),
    )
  })

  test('keeps everything of the stream decoder in its state, which can be cloned between events', () => {
    const wire = cleanEvents.map(events => encodeStream(protocol, events).wires)
    fc.assert(
      fc.property(wire, events => {
        const plain = run(protocol.streamDecoder, structuredClone(events))
        expect(
          run(protocol.streamDecoder, deepFreeze(events), {
            between: state => structuredClone(state),
          }),
        ).toEqual(plain)
      }),
      runs(1000),
    )
  })
})

describe.each(all)('$name and keys that are names of built-in properties', protocol => {
  const wires = wiresOf(protocol)
  const poisoned = <T>(right: Arbitrary<T>) =>
    fc
      .tuple(right, fc.nat({ max: 3 }), fc.constantFrom(bad, inherited))
      .map(([value, ...how]) => poison(value, ...how))

  test('changes no prototype when bodies have poisoned keys', () => {
    fc.assert(
      fc.property(
        poisoned(wires.request),
        poisoned(wires.response),
        poisoned(json),
        (request, response, event) => {
          const values: unknown[] = []
          for (const target of all) {
            values.push(attempt(() => written(protocol.decodeRequest(request).value, target)))
            values.push(
              attempt(() => target.encodeResponse(protocol.decodeResponse(response).value)),
            )
          }
          values.push(attempt(() => run(protocol.streamDecoder, [event, response])))
          values.push(
            attempt(() => protocol.decodeError({ status: 500, headers: {}, body: event })),
          )
          expect('polluted' in {}).toBe(false)
          for (const value of values) expect(strangers(value)).toEqual([])
        },
      ),
      runs(1000),
    )
  })

  test('changes no prototype when a stream has poisoned keys', () => {
    const stream = poisoned(cleanEvents.map(events => encodeStream(protocol, events).wires))
    fc.assert(
      fc.property(stream, fc.constantFrom(...all), (wires, target) => {
        const events = attempt(() => decodeStream(protocol, wires as unknown[])) ?? []
        expect(strangers(events)).toEqual([])
        expect(strangers(attempt(() => encodeStream(target, events)))).toEqual([])
        expect('polluted' in {}).toBe(false)
      }),
      runs(1000),
    )
  })
})

const inherited = ['constructor', 'toString', 'hasOwnProperty', 'prototype']
/** With the one that whole bodies are refused for, except where anything may stand. */
const bad = ['__proto__', ...inherited]

/** A copy in which every n-th object has own keys of those names. */
function poison(value: unknown, every: number, keys: string[]): unknown {
  let count = 0
  const copy = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(copy)
    if (typeof one !== 'object' || one === null) return one
    const made = Object.fromEntries(Object.entries(one).map(([key, item]) => [key, copy(item)]))
    if (count++ % every === 0)
      for (const key of keys)
        Object.defineProperty(made, key, {
          value: { polluted: true, type: 'x' },
          enumerable: true,
          configurable: true,
          writable: true,
        })
    return made
  }
  return copy(value)
}

/** Objects whose prototype is not `Object.prototype`. */
function strangers(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const prototype: unknown = Object.getPrototypeOf(value)
  const own =
    prototype === Object.prototype || prototype === Array.prototype || prototype === null
      ? []
      : [at]
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, item]) => strangers(item, `${at}/${key}`)),
  ]
}
