import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Part } from '../../src/canonical/message.ts'
import { isObject } from '../../src/kit/json/json.ts'
import { all, attempt, wiresOf } from '../../src/testing/bodies.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { runs } from '../support/runs.ts'

describe.each(all)('edits of decoded $name bodies', protocol => {
  const {
    decodeRequest,
    encodeRequest,
    decodeResponse,
    encodeResponse,
    withModel,
    fieldNames,
    frames,
  } = protocol
  /** Where a request has its conversation, and its model. */
  const { turns: list = '', model = '' } = fieldNames
  const { request, response } = wiresOf(protocol)

  test('changes nothing but the model of a request', () => {
    fc.assert(
      fc.property(request, wire => {
        const value = attempt(() => decodeRequest(wire).value)
        fc.pre(value?.model !== undefined && isObject(wire) && typeof wire[model] === 'string')
        expect(canonicalJson(encodeRequest({ ...value, model: 'other' }).wire)).toBe(
          canonicalJson(withModel(wire, 'other')),
        )
      }),
      runs(500),
    )
  })

  test.skipIf(frames.withoutModel)('changes nothing but the model of a response', () => {
    fc.assert(
      fc.property(response, wire => {
        const value = attempt(() => decodeResponse(wire).value)
        fc.pre(value?.model !== undefined && !value.error)
        const encoded = attempt(() => encodeResponse({ ...value, model: 'other' }))
        fc.pre(encoded !== undefined)
        expect(canonicalJson(encoded.wire)).toBe(canonicalJson(withModel(wire, 'other')))
      }),
      runs(500),
    )
  })

  test('keeps the messages before an appended one', () => {
    fc.assert(
      fc.property(request, wire => {
        const value = attempt(() => decodeRequest(wire).value)
        const before = isObject(wire) ? wire[list] : undefined
        fc.pre(value !== undefined && Array.isArray(before))
        const messages = [
          ...value.messages,
          {
            role: 'user' as const,
            origin: 'message' as const,
            parts: [{ type: 'text' as const, text: 'one more' }],
          },
        ]
        const { wire: edited } = encodeRequest({ ...value, messages })
        const after = isObject(edited) ? edited[list] : undefined
        expect(JSON.stringify(after)).toContain('one more')
        const { [list]: _, ...others } = wire as object as Record<string, unknown>
        const { [list]: __, ...same } = edited as Record<string, unknown>
        expect(canonicalJson(same)).toBe(canonicalJson(others))
        // The last one may take the text up.
        const kept = before.slice(0, -1)
        expect(canonicalJson((after as unknown[]).slice(0, kept.length))).toBe(canonicalJson(kept))
      }),
      runs(500),
    )
  })

  test('changes nothing but an edited text', () => {
    fc.assert(
      fc.property(request, wire => {
        const value = attempt(() => decodeRequest(wire).value)
        const part = value?.messages
          .flatMap(({ parts }) => parts)
          .find(
            (one): one is Extract<Part, { type: 'text' }> => one.type === 'text' && one.text !== '',
          )
        fc.pre(value !== undefined && part !== undefined)
        const before = part.text
        part.text = 'REDACTED'
        const { wire: edited } = encodeRequest(value)
        expect(JSON.stringify(edited)).toContain('REDACTED')
        const back = decodeRequest(edited)
          .value.messages.flatMap(({ parts }) => parts)
          .find(one => one.type === 'text' && one.text === 'REDACTED')
        expect(back).toBeDefined()
        if (back?.type === 'text')
          expect(
            canonicalJson({
              ...back,
              text: before,
              citations: part.citations ?? [],
              at: undefined,
            }),
          ).toBe(
            canonicalJson({
              ...part,
              text: before,
              citations: part.citations ?? [],
              at: undefined,
            }),
          )
      }),
      runs(500),
    )
  })
})
