import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { all, pairs } from '../../src/testing/bodies.ts'
import { cleanEvents } from '../../src/testing/events.ts'
import { encodeStream, framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { runs } from '../support/runs.ts'

/** A clean stream as bytes, and a byte of it after which nothing comes. */
const cutBytes = fc.tuple(cleanEvents, fc.nat(1_000_000))

const cut = (bytes: Uint8Array, at: number) => bytes.slice(0, at % bytes.length)

describe.each(pairs)('$name', ({ from, to }) => {
  test('writes a legal stream that fails when cut after any byte before the end of the response', () => {
    const strict = strictOf(to.name)
    fc.assert(
      fc.property(cutBytes, ([events, at]) => {
        const translator = createStreamTranslator(from, to, {})
        const text =
          translator.push(cut(new TextEncoder().encode(encodeStream(from, events).text), at)) +
          translator.end()
        const wires = framesOf(text).map(({ wire }) => wire)
        expect(strict.checkStream(wires)).toEqual([])
        // A complete response may say itself that it failed.
        expect(strict.outcome(wires)).toBe(
          translator.finished && !translator.failedEnd ? 'success' : 'failed',
        )
      }),
      runs(1000),
    )
  })
})

describe.each(all)('$name → $name', protocol => {
  test('passes complete frames and then fails when cut after any byte before the end of the response', () => {
    const strict = strictOf(protocol.name)
    fc.assert(
      fc.property(cutBytes, ([events, at]) => {
        const bytes = cut(new TextEncoder().encode(encodeStream(protocol, events).text), at)
        const translator = createStreamTranslator(protocol, protocol, {})
        const text = translator.push(bytes) + translator.end()
        const came = new TextDecoder().decode(bytes)
        const blank = came.lastIndexOf('\n\n')
        const whole = blank < 0 ? '' : came.slice(0, blank + 2)
        expect(text.startsWith(whole)).toBe(true)
        // Official clients take the name of an event for an event, also without data, and cannot
        // parse it.
        if (!translator.finished)
          expect(
            text.split(/(?:\r?\n){2}/).filter(frame => frame.trim() && !/^(data)?:/m.test(frame)),
          ).toEqual([])
        const wires = framesOf(text).map(({ wire }) => wire)
        // A complete response may lack its `[DONE]`, which clients do not wait for.
        if (!translator.finished) expect(strict.checkStream(wires)).toEqual([])
        expect(strict.outcome(wires)).toBe(translator.finished ? 'success' : 'failed')
        // The frame that ends a complete response may have been cut off.
        const { ending } = protocol.frames
        if (translator.finished)
          expect([came, whole].flatMap(passed => [passed, `${passed}\n\n${ending}`])).toContain(
            text,
          )
      }),
      runs(1000),
    )
  })
})
