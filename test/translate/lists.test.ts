import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/index.ts'
import { runs } from '../support/runs.ts'

const chunk = (text: string, finishReason?: string) => ({
  candidates: [
    {
      content: { role: 'model', parts: [{ text }] },
      index: 0,
      ...(finishReason && { finishReason }),
    },
  ],
})
const failure = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }
const whole = JSON.stringify([chunk('a "[{ b'), chunk('\\'), chunk('c', 'STOP')], null, 1)

const passed = (chunks: readonly string[]) => {
  const translator = createStreamTranslator({
    from: 'generate-content',
    to: 'generate-content',
    now: 1,
  })
  return chunks.map(part => translator.push(part)).join('') + translator.end()
}

test('ends a JSON list that is cut off anywhere with an error as its last element', () => {
  for (let end = 1; end <= whole.lastIndexOf('}'); end++) {
    const list = JSON.parse(passed([whole.slice(0, end)])) as object[]
    expect(list.pop()).toEqual({
      error: { code: 502, message: 'upstream stream ended early', status: 'INTERNAL' },
    })
    expect((JSON.parse(whole) as object[]).slice(0, list.length)).toEqual(list)
  }
  expect(JSON.parse(passed([whole.slice(0, -1)]))).toEqual(JSON.parse(whole))
})

test('closes a JSON list whose upstream failed and did not close it', () => {
  const sent = [chunk('a'), failure]
  expect(JSON.parse(passed([JSON.stringify(sent).slice(0, -1)]))).toEqual(sent)
})

test('passes a whole JSON list byte for byte, however it is split', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 8 }), cuts => {
      const places = [0, ...cuts.sort((a, b) => a - b), whole.length]
      expect(passed(places.slice(1).map((end, i) => whole.slice(places[i], end)))).toBe(whole)
    }),
    runs(500),
  )
})
