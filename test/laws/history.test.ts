import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Part } from '../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { all, pairs } from '../../src/testing/bodies.ts'
import { conversation } from '../../src/testing/conversations.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { pathOf } from '../support/cross.ts'
import { runs } from '../support/runs.ts'
import { written } from '../support/written.ts'

/**
 * Mapping options under which histories are not pruned: older reasoning is dropped by default where
 * servers refuse it.
 */
const keepAll = { reasoningInHistory: 'always' }

describe.each(all)('$name: a conversation', protocol => {
  const encode = (request: CanonicalRequest) =>
    written(request, protocol, keepAll).wire as Record<string, unknown>

  test('is written as a request that the server takes', () => {
    fc.assert(
      fc.property(conversation, ({ request }) => {
        expect(strictOf(protocol.name).checkRequest(written(request, protocol).wire)).toEqual([])
      }),
      runs(1000),
    )
  })

  test('keeps the written part when it continues', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), ({ request, cuts }, pick) => {
        fc.pre(cuts.length > 0)
        const earlier = encode({
          ...request,
          messages: request.messages.slice(0, cuts[pick % cuts.length]),
        })
        const later = encode(request)
        for (const [key, value] of Object.entries(earlier)) {
          const now = later[key]
          if (Array.isArray(value) && Array.isArray(now))
            expect(canonicalJson(now.slice(0, value.length))).toBe(canonicalJson(value))
          else expect(canonicalJson(now)).toBe(canonicalJson(value))
        }
      }),
      runs(1000),
    )
  })

  test('is restored with every text, call and result', () => {
    fc.assert(
      fc.property(conversation, ({ request }) => {
        expect(essence(protocol.decodeRequest(written(request, protocol).wire).value)).toEqual(
          essence(request),
        )
      }),
      runs(1000),
    )
  })
})

describe.each(pairs)('$name: a conversation', ({ from, to }) => {
  test('is restored through the other protocol with every text, call and result', () => {
    fc.assert(
      fc.property(conversation, ({ request }) => {
        const first = written(request, from)
        const there = written(from.decodeRequest(first.wire, pathOf(first)).value, to, {
          fieldNames: from.fieldNames,
        })
        expect(strictOf(to.name).checkRequest(there.wire)).toEqual([])
        const back = written(to.decodeRequest(there.wire, pathOf(there)).value, from, {
          fieldNames: to.fieldNames,
        }).wire
        expect(strictOf(from.name).checkRequest(back)).toEqual([])
        expect(essence(from.decodeRequest(back).value)).toEqual(essence(request))
      }),
      runs(1000),
    )
  })
})

/**
 * Roles of messages; instructions may be in a user message, marked as such, and results in the
 * order of their calls.
 */
function essence({ messages }: CanonicalRequest) {
  const parts = messages.flatMap(({ role, parts: own }) => own.map(part => ({ role, part })))
  const message = (part: Part) =>
    part.type === 'text' ? part.text.replace(/^<system>([\s\S]*)<\/system>$/, '$1') : ''
  return {
    texts: parts
      .filter(({ role }) => role !== 'assistant')
      .map(({ part }) => message(part))
      .join(''),
    responses: parts
      .filter(({ role }) => role === 'assistant')
      .map(({ part }) => message(part))
      .join(''),
    calls: parts.flatMap(({ part }) =>
      part.type === 'tool-call'
        ? [{ id: part.id, name: part.name, input: JSON.parse(part.input) as unknown }]
        : [],
    ),
    results: parts.flatMap(({ part }) =>
      part.type === 'tool-result'
        ? [{ id: part.callId, text: part.content.map(message).join('') }]
        : [],
    ),
    images: parts.filter(({ part }) => part.type === 'media').length,
  }
}
