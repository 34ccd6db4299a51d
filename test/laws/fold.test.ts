import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import type { Part } from '../../src/canonical/message.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { parseObject } from '../../src/kit/json/json.ts'
import { all, attempt, canonicalResponse, wiresOf } from '../../src/testing/bodies.ts'
import { cleanEvents } from '../../src/testing/events.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { collectStream, explodeResponse } from '../../src/translate/fold.ts'
import { runs } from '../support/runs.ts'

test('collect restores the response that explode streamed', () => {
  fc.assert(
    fc.property(canonicalResponse, response => {
      fc.pre(response.candidates.every(({ index }, place) => index === place))
      fc.pre(response.candidates.every(({ finish }) => finish)) // streams say nothing of one that has no end
      const events = explode(response)
      expect(checkGrammar(events)).toEqual([])
      expect(withoutPlaces(collect(events).response)).toEqual(withoutPlaces(response))
    }),
    runs(1000),
  )
})

test('explode and collect keep a collected response, and a clean stream clean', () => {
  fc.assert(
    fc.property(cleanEvents, events => {
      const { response, clean } = collect(events)
      expect(clean).toBe(true)
      expect(collect(explode(response))).toEqual({ response, clean })
    }),
    runs(1000),
  )
})

describe.each(all)('$name', protocol => {
  const { response: wires } = wiresOf(protocol)

  test('keeps the meaning of a complete response that is streamed and collected', () => {
    fc.assert(
      fc.property(wires, wire => {
        const decoded = attempt(() => protocol.decodeResponse(wire).value)
        // A count of the cache alone is no count of the input.
        fc.pre(decoded?.usage === undefined || decoded.usage.input !== undefined)
        fc.pre(
          !decoded?.candidates.some(({ messages }) =>
            messages.some(({ role, parts }) => role !== 'assistant' || parts.some(isOdd)),
          ),
        )
        fc.pre(
          decoded !== undefined &&
            !decoded.error &&
            decoded.candidates.length > 0 &&
            decoded.candidates.every(
              ({ finish, index }, place) => finish && finish.reason !== 'other' && index === place,
            ),
        )
        const { wires: stream } = encodeStream(protocol, explode(decoded))
        expect(essence(collect(decodeStream(protocol, stream)).response)).toEqual(essence(decoded))
      }),
      runs(1000),
    )
  })

  test('collected streams are legal responses, and exploded responses are legal streams', async () => {
    await fc.assert(
      fc.asyncProperty(cleanEvents, async events => {
        const { body } = await collectStream([encodeStream(protocol, events).text], protocol, {})
        const strict = strictOf(protocol.name)
        expect(strict.checkResponse(body)).toEqual([])
        const again = await collectStream([explodeResponse(body, protocol, {}).text], protocol, {})
        expect(essence(protocol.decodeResponse(again.body).value)).toEqual(
          essence(protocol.decodeResponse(body).value),
        )
      }),
      runs(1000),
    )
  })
})

/**
 * What no response of a server has: a call without a name, or whose input is no object; the result
 * of a call.
 */
function isOdd(part: Part): boolean {
  if (part.type === 'tool-result') return true
  return (
    part.type === 'tool-call' &&
    (part.name === '' ||
      (part.kind === 'function' && parseObject(part.input || '{}') === undefined))
  )
}

/**
 * The body itself, where things were in it, how messages are grouped and how a wire spelled them is
 * no part of what streams carry.
 */
function withoutPlaces(response: CanonicalResponse): unknown {
  return JSON.parse(
    JSON.stringify({
      ...response,
      source: undefined,
      candidates: response.candidates.map(({ at: _place, ...candidate }) => ({
        ...candidate,
        messages: candidate.messages.map(({ origin: _origin, at: _at, ...message }) => message),
      })),
    }),
  )
}

/** The content of a response: text, reasoning, calls, refusals and the finish reason. */
function essence({ candidates, usage }: CanonicalResponse) {
  return {
    candidates: candidates.map(({ index, messages, finish }) => ({
      index,
      // Some wires keep no order between reasoning, texts and calls.
      parts: joined(
        messages.flatMap(({ parts }) => parts).toSorted((a, b) => a.type.localeCompare(b.type)),
      )
        .map(meaning)
        .filter(Boolean),
      finish: finish?.reason,
    })),
    // Some wires require counts, and have 0 for unknown ones.
    tokens: { input: usage?.input ?? 0, output: usage?.output ?? 0 },
  }
}

/** Streams of some wires do not mark where one text, or one thought, ends and the next begins. */
function joined(parts: Part[]): Part[] {
  const out: Part[] = []
  for (const part of parts) {
    const last = out.at(-1)
    if (
      (part.type === 'text' && last?.type === 'text') ||
      (part.type === 'refusal' && last?.type === 'refusal')
    )
      out.splice(-1, 1, { ...last, text: last.text + part.text })
    else if (part.type === 'reasoning' && last?.type === 'reasoning')
      out.splice(-1, 1, { ...last, segments: [...last.segments, ...part.segments] })
    else out.push(part)
  }
  return out
}

function meaning(part: Part): unknown {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text && { [part.type]: part.text }
    case 'reasoning':
      return (
        part.segments.some(({ text }) => text.trim()) && {
          reasoning: part.segments
            .map(({ text }) => text)
            .join('')
            .replaceAll(/\s/g, ''),
        }
      )
    case 'tool-call':
      return { call: part.name, input: part.input.trim() || '{}' }
    default:
      return undefined
  }
}
