import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { all } from '../../src/testing/bodies.ts'
import { cleanEvents, cutEvents } from '../../src/testing/events.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { runs } from '../support/runs.ts'

const every = all.flatMap(from => all.map(to => ({ name: `${from.name} → ${to.name}`, from, to })))

describe.each(every)('$name', ({ from, to }) => {
  const bytes = fc
    .tuple(fc.oneof(cleanEvents, cutEvents), fc.constantFrom('\n', '\r\n'))
    .map(([events, line]) => new TextEncoder().encode(encodeStream(from, events).text.replaceAll('\n', line)))

  test('any split of the bytes gives the same text, notes and usage', () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
        expect(translate(pieces(whole, cuts))).toEqual(translate([whole]))
      }),
      runs(1000),
    )
  })

  function translate(chunks: Uint8Array[]) {
    const translator = createStreamTranslator(from, to, {})
    let text = ''
    for (const chunk of chunks) text += translator.push(chunk)
    text += translator.end()
    return { text, notes: translator.notes, usage: translator.usage, finished: translator.finished }
  }
})

function pieces(whole: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [...new Set([0, ...cuts.map(cut => cut % (whole.length + 1)), whole.length])].sort((a, b) => a - b)
  return places.slice(1).map((end, index) => whole.slice(places[index], end))
}
