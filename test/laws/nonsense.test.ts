import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { all } from '../../src/testing/bodies.ts'
import { nonsense } from '../../src/testing/events.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { runs } from '../support/runs.ts'

describe.each(all)('$name: the stream encoder', protocol => {
  test('writes a legal stream for any events, and a successful one only after a clean end', () => {
    const strict = strictOf(protocol.name)
    fc.assert(
      fc.property(nonsense, events => {
        const { wires } = encodeStream(protocol, events)
        expect(strict.checkStream(wires)).toEqual([])
        const isClean = events.some(event => event.type === 'end' && event.clean)
        const outcome = strict.outcome(wires)
        expect(outcome).not.toBe('cut')
        if (!isClean) expect(outcome).toBe('failed')
      }),
      runs(1000),
    )
  })
})
