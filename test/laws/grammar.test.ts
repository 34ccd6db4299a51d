import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import type { Part, ToolCallPart } from '../../src/canonical/message.ts'
import { type ToolCall, textOf, toolCallsOf } from '../../src/canonical/read.ts'
import { isLimit, isWholeInput } from '../../src/kit/tools/cut-calls.ts'
import type { Protocol } from '../../src/protocol.ts'
import { all, pairs } from '../../src/testing/bodies.ts'
import { cleanEvents, cutEvents } from '../../src/testing/events.ts'
import { brokenStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'
import { clientOf } from '../support/clients/index.ts'
import { runs } from '../support/runs.ts'

test('the random streams obey the grammar themselves', () => {
  fc.assert(
    fc.property(cleanEvents, events => {
      expect(checkGrammar(events)).toEqual([])
    }),
    runs(1000),
  )
})

describe.each(all)('$name: the stream decoder', protocol => {
  test('yields events that obey the grammar for any input and any cut', () => {
    fc.assert(
      fc.property(brokenStream(protocol), text => {
        expect(checkGrammar(read(protocol, text))).toEqual([])
      }),
      runs(1000),
    )
  })

  test('never reports a cut-off stream as clean', () => {
    const cut = fc.tuple(cleanEvents, fc.nat(1000)).map(([events, at]) => {
      const { wires } = encodeStream(protocol, events)
      // If a frame of its own ends the response, everything is sent before it (3.8).
      return wires.slice(
        0,
        at % (protocol.frames.ending === undefined ? wires.length : wires.length - 1),
      )
    })
    fc.assert(
      fc.property(cut, wires => {
        const last = read(protocol, wires.map(protocol.frames.write).join('')).at(-1)
        const message = strictOf(protocol.name).outcome(wires)
        if (message !== 'success') expect(last).toEqual({ type: 'end', clean: false })
      }),
      runs(1000),
    )
  })
})

describe.each(all)('$name: the stream encoder', protocol => {
  const strict = strictOf(protocol.name)

  test('writes a legal, successful stream for every clean one', () => {
    fc.assert(
      fc.property(cleanEvents, events => {
        const { wires } = encodeStream(protocol, events)
        expect(strict.checkStream(wires)).toEqual([])
        expect(strict.outcome(wires)).toBe('success')
      }),
      runs(1000),
    )
  })

  test('writes a legal stream that fails for every one that was cut', () => {
    fc.assert(
      fc.property(cutEvents, events => {
        const { wires } = encodeStream(protocol, events)
        expect(strict.checkStream(wires)).toEqual([])
        expect(strict.outcome(wires)).toBe('failed')
      }),
      runs(1000),
    )
  })

  test('writes event names where the protocol requires them, and a blank line after each frame', () => {
    fc.assert(
      fc.property(cleanEvents, events => {
        const { text } = encodeStream(protocol, events)
        expect(text).toMatch(/\r?\n\r?\n$/)
        for (const { event, wire } of framesOf(text)) {
          const type =
            typeof wire === 'object' && wire !== null && 'type' in wire ? wire.type : undefined
          expect(event).toBe(protocol.frames.named && type !== undefined ? type : undefined)
        }
      }),
      runs(1000),
    )
  })

  test('is read by the official client, which receives all of the text and every call', async () => {
    // Not every accumulator knows calls of freeform tools, and not every wire has refusals that are
    // no text.
    const isPlain = (part: Part) =>
      part.type !== 'refusal' && !(part.type === 'tool-call' && part.kind === 'freeform')
    const client = clientOf(protocol.name)
    const plain = cleanEvents.filter(events =>
      events.every(event => event.type !== 'part.start' || isPlain(event.head)),
    )
    await fc.assert(
      fc.asyncProperty(plain, async events => {
        const { text } = encodeStream(protocol, events)
        const received = await client.readStream(text)
        const { response } = collect(events)
        // Several messages may be written at once: then a wire keeps the order within each.
        if (textOf(response) !== received.text)
          expect([received.text, isWoven(received.text, textsByMessage(events))]).toEqual([
            received.text,
            true,
          ])
        // This protocol cannot express a call that a token limit cut off.
        const dropped = protocol.name === 'generate-content' ? cutCallOf(events) : undefined
        expect(received.calls.map(({ name }) => name)).toEqual(
          callsInOrderOfStart(events).flatMap(({ id, name }) => (id === dropped?.id ? [] : [name])),
        )
        for (const call of toolCallsOf(response))
          if (call.kind === 'function' && call.id !== dropped?.id)
            expect(received.calls.map(({ input }) => input)).toContainEqual(
              JSON.parse(call.inputText || '{}'),
            )
      }),
      runs(1000),
    )
  })

  test('makes the official client fail when the stream is cut off', async () => {
    const client = clientOf(protocol.name)
    await fc.assert(
      fc.asyncProperty(cutEvents, async events => {
        await expect(client.readStream(encodeStream(protocol, events).text)).rejects.toThrow()
      }),
      runs(1000),
    )
  })
})

describe.each(pairs)('$name', ({ from, to }) => {
  test('writes a legal stream for any upstream, which fails unless the upstream finished', () => {
    fc.assert(
      fc.property(brokenStream(from), text => {
        const translator = createStreamTranslator(from, to, {})
        const wires = framesOf(translator.push(text) + translator.end()).map(({ wire }) => wire)
        const strict = strictOf(to.name)
        expect(strict.checkStream(wires)).toEqual([])
        // A stream that came to its end may still fail: a call whose input is no JSON cannot be
        // sent to every client.
        expect(strict.outcome(wires)).not.toBe('cut')
        if (!translator.finished) expect(strict.outcome(wires)).toBe('failed')
      }),
      runs(1000),
    )
  })
})

function read(protocol: Protocol, text: string): CanonicalEvent[] {
  const events: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, {}, event => events.push(event))
  reader.push(text)
  reader.end()
  return events
}

/** The texts of the first candidate, of each message in the order in which they began. */
function textsByMessage(events: CanonicalEvent[]): string[][] {
  const texts = new Map<number, { message: number; text: string }>()
  for (const event of events)
    if (event.type === 'part.start' && event.candidate === 0 && event.head.type === 'text')
      texts.set(event.part, { message: event.message, text: '' })
    else if (event.type === 'part.delta' && event.candidate === 0 && event.delta.kind === 'text') {
      const reported = texts.get(event.part)
      if (reported) reported.text += event.delta.text
    }
  const notes = [...texts.values()].filter(({ text }) => text)
  return [...new Set(notes.map(({ message }) => message))].map(wanted =>
    notes.filter(({ message }) => message === wanted).map(({ text }) => text),
  )
}

/** Is it all of these, one after another, those of a thread in their order? */
function isWoven(text: string, threads: readonly string[][]): boolean {
  if (threads.every(thread => thread.length === 0)) return text === ''
  return threads.some(
    ([first, ...rest], nth) =>
      first !== undefined &&
      text.startsWith(first) &&
      isWoven(text.slice(first.length), threads.with(nth, rest)),
  )
}

/** The first candidate's calls, in the order in which they began. */
function callsInOrderOfStart(events: CanonicalEvent[]): ToolCallPart[] {
  return events.flatMap(event =>
    event.type === 'part.start' && event.candidate === 0 && event.head.type === 'tool-call'
      ? [event.head]
      : [],
  )
}

/**
 * The call of the first candidate that a token limit cut off: without whole arguments, and with
 * nothing behind it.
 */
function cutCallOf(events: CanonicalEvent[]): ToolCall | undefined {
  const { candidates } = collect(events).response
  const last = events.findLast(
    event =>
      'candidate' in event &&
      event.candidate === 0 &&
      !['message.end', 'finish'].includes(event.type),
  )
  const started = events.find(
    event =>
      event.type === 'part.start' &&
      event.candidate === 0 &&
      last?.type === 'part.end' &&
      event.part === last.part,
  )
  const id =
    started?.type === 'part.start' && started.head.type === 'tool-call'
      ? started.head.id
      : undefined
  const call = toolCallsOf({ candidates }).find(call => call.id === id)
  return call?.kind === 'function' &&
    candidates[0]?.finish &&
    isLimit(candidates[0].finish) &&
    !isWholeInput(call.inputText)
    ? call
    : undefined
}
