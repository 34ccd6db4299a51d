import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { TranslationError } from '../../src/errors.ts'
import { all, wiresOf } from '../../src/testing/bodies.ts'
import { run } from '../../src/testing/streams.ts'
import { json } from '../../src/testing/texts.ts'
import { runs } from '../support/runs.ts'
import { written } from '../support/written.ts'

/** What anything may lead to: a value, or one of our errors with a code. */
function expectTotal(act: () => unknown): void {
  try {
    act()
  } catch (error) {
    if (!TranslationError.is(error)) throw error
    expect(['malformed', 'inexpressible', 'out-of-order', 'truncated']).toContain(error.code)
    expect(all.map(({ name }) => name)).toContain(error.protocol)
    expect(error.path === '' || error.path.startsWith('/')).toBe(true)
  }
}

describe.each(all)('$name, given anything', protocol => {
  const wires = wiresOf(protocol)
  /** Nearly right is harder than wrong: one value inside is replaced. */
  const anything = (right: typeof wires.request) =>
    fc.oneof(
      json,
      fc
        .anything({ withDate: false, withBigInt: false })
        .map(value => JSON.parse(JSON.stringify(value) ?? 'null') as unknown),
      fc
        .tuple(right, fc.nat(), json)
        .map(([value, place, other]) => replaceAt(value, place, other)),
    )

  test.each(['decodeRequest', 'decodeResponse'] as const)(
    '%s decodes it or refuses it with an error code',
    decode => {
      fc.assert(
        fc.property(anything(decode === 'decodeRequest' ? wires.request : wires.response), wire => {
          expectTotal(() => protocol[decode](wire))
        }),
        runs(1000),
      )
    },
  )

  test('decodeError always returns an error with the received status', () => {
    fc.assert(
      fc.property(
        fc.oneof(json, fc.string()),
        fc.integer({ min: 400, max: 599 }),
        (body, status) => {
          const { value } = protocol.decodeError({ status, headers: {}, body })
          expect(value.status).toBe(status)
          expect(value.message).not.toBe('')
        },
      ),
      runs(1000),
    )
  })

  test('every encoder encodes or refuses what it decoded', () => {
    fc.assert(
      fc.property(anything(wires.request), fc.constantFrom(...all), (wire, target) => {
        expectTotal(() =>
          written(protocol.decodeRequest(wire).value, target, { fieldNames: protocol.fieldNames }),
        )
      }),
      runs(1000),
    )
    fc.assert(
      fc.property(anything(wires.response), fc.constantFrom(...all), (wire, target) => {
        expectTotal(() =>
          target.encodeResponse(protocol.decodeResponse(wire).value, {
            fieldNames: protocol.fieldNames,
          }),
        )
      }),
      runs(1000),
    )
  })

  test('the stream decoder decodes or refuses any events', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 6 }), wire => {
        expectTotal(() => run<unknown, CanonicalEvent>(protocol.streamDecoder, wire))
      }),
      runs(1000),
    )
  })

  test('detect, withModel and wantsStream accept any value', () => {
    fc.assert(
      fc.property(json, wire => {
        protocol.detect(wire)
        protocol.withModel(wire, 'other')
        protocol.wantsStream(wire)
      }),
      runs(1000),
    )
  })
})

/** The value with one of its inner values, chosen by number, replaced. */
function replaceAt(value: unknown, place: number, other: unknown): unknown {
  const copy = structuredClone(value)
  const holders: { holder: Record<string, unknown>; key: string }[] = []
  const walk = (one: unknown) => {
    if (typeof one !== 'object' || one === null) return
    for (const key of Object.keys(one)) {
      holders.push({ holder: one as Record<string, unknown>, key })
      walk((one as Record<string, unknown>)[key])
    }
  }
  walk(copy)
  const chosen = holders[place % Math.max(1, holders.length)]
  if (!chosen) return other
  chosen.holder[chosen.key] = other
  return copy
}
