import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pairs, wiresOf } from '../../src/testing/bodies.ts'
import { cross, kinds, sent } from '../support/cross.ts'
import { runs } from '../support/runs.ts'

describe.each(pairs)('$name', ({ from, to }) => {
  test.each(kinds)('decodes and encodes a translated %s unchanged, without a note', kind => {
    fc.assert(
      fc.property(wiresOf(from)[kind], wire => {
        const there = cross(kind, wire, from, to)
        fc.pre(there !== undefined)
        const again = cross(kind, there.wire, to, to, there.path)
        expect(again && sent(again)).toBe(sent(there))
        expect(again?.notes.filter(({ code }) => !isOfReading.has(code))).toEqual([])
      }),
      runs(1000),
    )
  })
})

/**
 * Decoders report what they had to guess in the output of this library: results without a call,
 * finish reasons that are absent or do not fit the calls.
 */
const isOfReading = new Set(['tool-result.call-id', 'finish.missing', 'finish.repaired'])
