import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalEvent, Delta } from '../../src/canonical/event.ts'
import type { Part } from '../../src/canonical/message.ts'
import type { Protocol } from '../../src/protocol.ts'
import { all } from '../../src/testing/bodies.ts'
import { cleanEvents, cutEvents } from '../../src/testing/events.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { runs } from '../support/runs.ts'

const every = all.flatMap(from => all.map(to => ({ name: `${from.name} → ${to.name}`, from, to })))

describe.each(every)('$name', ({ from, to }) => {
  test('translates frames on the fast path as on the slow path', () => {
    fc.assert(
      fc.property(
        fc.oneof(cleanEvents, cutEvents),
        fc.infiniteStream(fc.nat(1000)),
        fc.array(fc.nat(), { maxLength: 8 }),
        (events, random, cuts) => {
          const text = respelled(encodeStream(from, fine(events, random)).text, random).replaceAll(
            /\r?\n/g,
            thrown(random) % 3 === 0 ? '\r\n' : '\n',
          )
          const chunks = parts(text, cuts)
          const plainFrom = withoutShortcut(from)
          const plainTo = from === to ? plainFrom : withoutShortcut(to)
          expect(translate(from, to, chunks)).toEqual(translate(plainFrom, plainTo, chunks))
        },
      ),
      runs(1000),
    )
  })

  if (from.shortcut)
    test.each(
      (['text', 'reasoning', 'input'] as const).flatMap(kind =>
        ['\n', '\r\n'].map(lineEnd => ({ kind, lineEnd })),
      ),
    )(
      'parses only a few frames of a long stream of $kind, with either line end',
      ({ kind, lineEnd }) => {
        let steps = 0
        const counting: Protocol = {
          ...from,
          streamDecoder: {
            ...from.streamDecoder,
            step: (...given) => {
              steps++
              from.streamDecoder.step(...given)
            },
          },
        }
        const text = encodeStream(from, long(kind)).text.replaceAll(/\r?\n/g, lineEnd)
        translate(counting, from === to ? counting : to, [text])
        const frames = text.split(lineEnd + lineEnd).length
        // A wire that sends calls as a whole has no long stream of input.
        if (kind !== 'input' || frames > 10) expect(frames).toBeGreaterThan(100)
        expect(steps).toBeLessThan(30)
      },
    )
})

function withoutShortcut({ shortcut: _, writeDelta: __, ...plain }: Protocol): Protocol {
  return plain
}

function translate(from: Protocol, to: Protocol, chunks: string[]) {
  const translator = createStreamTranslator(from, to, {})
  let text = ''
  for (const chunk of chunks) text += translator.push(chunk)
  text += translator.end()
  return {
    text,
    notes: translator.notes,
    usage: translator.usage,
    finished: translator.finished,
    error: translator.error,
  }
}

function long(kind: 'text' | 'reasoning' | 'input'): CanonicalEvent[] {
  const place = { candidate: 0, part: 0 }
  const start: Record<typeof kind, { head: Part; delta: (text: string) => Delta }> = {
    text: { head: { type: 'text', text: '' }, delta: (text: string) => ({ kind: 'text', text }) },
    reasoning: {
      head: { type: 'reasoning', segments: [] },
      delta: (text: string) => ({ kind: 'reasoning', segment: 0, of: 'summary', text }),
    },
    input: {
      head: { type: 'tool-call', id: 'call_1', name: 'run', kind: 'function', input: '' },
      delta: (text: string) => ({ kind: 'input', text }),
    },
  }
  const { head, delta } = start[kind]
  const words = Array.from({ length: 120 }, (_, i) => {
    if (i === 0) return '{"a":"'
    if (i === 119) return '"}'
    return `w${i}\\n`
  })
  return [
    { type: 'start', id: 'r_1', model: 'm', createdAt: 7 },
    { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
    { type: 'part.start', ...place, message: 0, head: structuredClone(head) },
    ...words.map((word): CanonicalEvent => ({ type: 'part.delta', ...place, delta: delta(word) })),
    { type: 'part.end', ...place },
    { type: 'message.end', candidate: 0, message: 0 },
    { type: 'finish', candidate: 0, finish: { reason: kind === 'input' ? 'tool_calls' : 'stop' } },
    { type: 'end', clean: true },
  ]
}

/** Deltas of one or two UTF-16 units, so that surrogate pairs are cut too. */
function fine(events: CanonicalEvent[], random: Iterator<number>): CanonicalEvent[] {
  return events.flatMap(event => {
    if (event.type !== 'part.delta' || !('text' in event.delta)) return [event]
    const { delta } = event
    const deltas: CanonicalEvent[] = []
    for (let at = 0; at < delta.text.length; ) {
      const size = 1 + (thrown(random) % 2)
      deltas.push({ ...event, delta: { ...delta, text: delta.text.slice(at, at + size) } })
      at += size
    }
    return deltas.length > 0 ? deltas : [event]
  })
}

/**
 * The same JSON in another spelling: white space, escapes, other orders, unknown keys, duplicate
 * keys, other times.
 */
function respelled(stream: string, random: Iterator<number>): string {
  const habit = thrown(random) % 4
  return stream.replace(/^data: (\{.*\})$/gm, (line, json: string) => {
    // Most frames of a stream are spelled alike, a few are not.
    const way = thrown(random) % 5 > 0 ? habit : thrown(random) % 9
    const wire = JSON.parse(json) as Record<string, unknown>
    switch (way) {
      case 1:
        return `data: ${JSON.stringify(wire).replace(/[^\x20-\x7e]/g, escaped)}`
      case 2:
        return `data: ${JSON.stringify(wire, null, 1).replaceAll('\n', ' ')}`
      case 3:
        return `data: ${JSON.stringify({ ...wire, obfuscation: 'x'.repeat(thrown(random) % 5), created: thrown(random), sequence_number: thrown(random) })}`
      case 4:
        return `data: ${JSON.stringify(Object.fromEntries(Object.entries(wire).reverse()))}`
      case 5:
        return `data: ${JSON.stringify({ ...wire, novelty: { text: 'a', n: thrown(random) % 3 } })}`
      case 6:
        return `data: ${JSON.stringify(wire).replace(/^\{/, '{"type":"x","delta":"a","choices":[],')}`
      case 7:
        return `data:${JSON.stringify(wire).replaceAll('/', '\\/')} `
      case 8:
        return `: a comment\n${line}`
      default:
        return line
    }
  })
}

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

function parts(whole: string, cuts: number[]): string[] {
  const places = [...new Set([0, ...cuts.map(cut => cut % (whole.length + 1)), whole.length])].sort(
    (a, b) => a - b,
  )
  return places.slice(1).map((end, index) => whole.slice(places[index], end))
}

const thrown = (random: Iterator<number>) => Number(random.next().value)
