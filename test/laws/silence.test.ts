import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pairs, wiresOf } from '../../src/testing/bodies.ts'
import { kinds } from '../support/cross.ts'
import { lossOf } from '../support/loss.ts'
import { runs } from '../support/runs.ts'

describe.each(pairs)('$name', pair => {
  test.each(kinds)('translates and restores any change of a %s, or notes it', kind => {
    fc.assert(
      fc.property(wiresOf(pair.from)[kind], fc.nat(), (wire, pick) => {
        expect(lossOf(kind, wire, pick, pair)).toBeUndefined()
      }),
      runs(1000),
    )
  })
})
