import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Signature } from '../../src/canonical/message.ts'
import {
  holdsEnvelope,
  isEnvelope,
  joinId,
  mayHoldEnvelope,
  unwrapSignature,
  wrapSignature,
  wrapSignatureInBase64,
} from '../../src/kit/signatures/envelope.ts'

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
  {
    signature,
    id: fc.string(),
    lengths: fc.array(fc.nat()),
    attach: fc.constantFrom('next' as const, 'prev' as const),
  },
  { requiredKeys: ['signature'] },
)

describe('the signature envelope', () => {
  test('returns what was put in', () => {
    fc.assert(
      fc.property(envelope, one => {
        expect(unwrapSignature(wrapSignature(one))).toEqual(one)
      }),
    )
  })
  test('has a form that never changes, for clients keep it', () => {
    expect(
      wrapSignature({
        signature: { value: 'QUJD', issuer: 'p', model: 'm', form: 'thought' },
        attach: 'next',
      }),
    ).toBe('xs1.eyJpIjoicCIsIm0iOiJtIiwiZiI6InRob3VnaHQiLCJhIjoibmV4dCIsInYiOiJRVUpEIn0')
  })
  test.each(['', 'EqQB', 'xs2.eyJ9'])('%j is no envelope', text => {
    expect(isEnvelope(text)).toBe(false)
    expect(unwrapSignature(text)).toBeUndefined()
  })
  const withoutValue = `xs1.${btoa('{"i":"p"}')}`
  const withoutText = `xs1.${btoa('{"i":"p","v":12}')}`
  test.each(['xs1.', 'xs1.!!', 'xs1.W10', 'xs1.e30', 'xs1._w', withoutValue, withoutText])(
    '%j is a damaged one',
    text => {
      expect(isEnvelope(text)).toBe(true)
      expect(unwrapSignature(text)).toBeUndefined()
    },
  )
})

describe('whether JSON may hold an envelope', () => {
  const reasoningSignature: Signature = { value: 'QUJD', issuer: 'p' }
  const mayHold = (json: string) =>
    mayHoldEnvelope(words => words.some(word => json.includes(word)))
  const held = [
    wrapSignature({ signature: reasoningSignature }),
    joinId('call_1', reasoningSignature),
    wrapSignatureInBase64({ signature: reasoningSignature }),
  ]

  test.each(held)('is recognized whichever letter of its mark is escaped: %.14s', text => {
    const begin = text.startsWith('call_1') ? 'call_1'.length : 0
    const inText = begin ? 6 : 8
    const length = text.startsWith('xs1.') ? 4 : inText
    for (let at = begin; at < begin + length; at++)
      for (const code of [
        text.charCodeAt(at).toString(16),
        text.charCodeAt(at).toString(16).toUpperCase(),
      ]) {
        const json = `{"id":"${text.slice(0, at)}\\u00${code}${text.slice(at + 1)}"}`
        expect(holdsEnvelope(JSON.parse(json), 'any'), json).toBe(true)
        expect(mayHold(json), json).toBe(true)
      }
  })

  test('is not found in letters that many write as escapes', () => {
    expect(
      mayHold(
        JSON.stringify('\\u003ca href=\\u0022x\\u0022\\u003e \\u0026 \\u0027 \\u00e9').replaceAll(
          '\\\\',
          '\\',
        ),
      ),
    ).toBe(false)
  })
})
