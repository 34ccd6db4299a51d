import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { all } from '../../src/testing/bodies.ts'
import { serialEvents } from '../../src/testing/events.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { runs } from '../support/runs.ts'

describe.each(all)('$name: a stream in the form of its own server', protocol => {
  test('keeps its content without notes when decoded and encoded', () => {
    fc.assert(
      fc.property(serialEvents, events => {
        const { wires } = encodeStream(protocol, events)
        const again = encodeStream(protocol, decodeStream(protocol, wires), {
          fieldNames: protocol.fieldNames,
        })
        expect(again.notes).toEqual([])
        // Several candidates may change places: their order in the body means nothing.
        const received = (frames: unknown[]) =>
          canonicalJson(
            JSON.parse(
              JSON.stringify(collect(decodeStream(protocol, frames)), (key, value: unknown) =>
                key === 'at' ? undefined : value,
              ),
            ),
          )
        if (!waits(events)) expect(received(again.wires)).toBe(received(wires))
      }),
      runs(1000),
    )
  })
})

/**
 * Where calls end only with the stream, a free text is complete only then: the calls after it wait,
 * and come in one chunk.
 */
function waits(events: CanonicalEvent[]): boolean {
  const calls = events.flatMap(event =>
    event.type === 'part.start' && event.head.type === 'tool-call' ? [event.head.kind] : [],
  )
  return calls.slice(0, -1).includes('freeform')
}
