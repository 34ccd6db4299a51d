import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Signature } from '../../src/canonical/message.ts'
import { isEnvelope, unwrapSignature, wrapSignature } from '../../src/kit/envelope.ts'

const signature: fc.Arbitrary<Signature> = fc.record(
  {
    value: fc.string({ unit: 'grapheme' }),
    issuer: fc.string(),
    model: fc.string(),
    form: fc.constantFrom('thinking' as const, 'redacted' as const, 'encrypted' as const),
  },
  { requiredKeys: ['value', 'issuer'] },
)
const envelope = fc.record(
  { signature, id: fc.string(), lengths: fc.array(fc.nat()), attach: fc.constantFrom('next' as const, 'prev' as const) },
  { requiredKeys: ['signature'] },
)

describe('the signature envelope', () => {
  test('gives back what was put in', () => {
    fc.assert(
      fc.property(envelope, one => {
        expect(unwrapSignature(wrapSignature(one))).toEqual(one)
      }),
    )
  })
  test('has a form that never changes, for clients keep it', () => {
    expect(wrapSignature({ signature: { value: 'QUJD', issuer: 'p', model: 'm', form: 'thought' }, attach: 'next' })).toBe(
      'xs1.eyJpIjoicCIsIm0iOiJtIiwiZiI6InRob3VnaHQiLCJhIjoibmV4dCIsInYiOiJRVUpEIn0',
    )
  })
  test.each(['', 'EqQB', 'xs2.eyJ9'])('%j is no envelope', text => {
    expect(isEnvelope(text)).toBe(false)
    expect(unwrapSignature(text)).toBeUndefined()
  })
  test.each(['xs1.', 'xs1.!!', 'xs1.W10', 'xs1.e30', 'xs1._w'])('%j is a damaged one', text => {
    expect(isEnvelope(text)).toBe(true)
    expect(unwrapSignature(text)).toBeUndefined()
  })
})
