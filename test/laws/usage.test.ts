import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Note } from '../../src/canonical/note.ts'
import type { CanonicalResponse, Usage } from '../../src/canonical/response.ts'
import { omitUndefined } from '../../src/kit/fields/omit.ts'
import { all, attempt, wiresOf } from '../../src/testing/bodies.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { runs } from '../support/runs.ts'

/** Inclusive totals, with parts that fit into them. */
const usage: fc.Arbitrary<Usage> = fc
  .record({
    fresh: fc.nat(1_000_000),
    output: fc.nat(1_000_000),
    read: fc.option(fc.nat(100_000)),
    write: fc.option(fc.nat(100_000)),
    thought: fc.option(fc.nat(1000)),
  })
  .map(({ fresh, output, read, write, thought }) => ({
    input: fresh + (read ?? 0) + (write ?? 0),
    output: output + (thought ?? 0),
    ...(read !== null && { cacheRead: read }),
    ...(write !== null && { cacheWrite: write }),
    ...(thought !== null && { reasoning: thought }),
  }))

const responseOf = (counts: Usage): CanonicalResponse => ({
  id: 'response_1',
  model: 'some-model',
  candidates: [
    {
      index: 0,
      messages: [{ role: 'assistant', origin: 'message', parts: [{ type: 'text', text: 'hi' }] }],
      finish: { reason: 'stop' },
    },
  ],
  usage: counts,
})

/** The numbers themselves; an unknown part is 0. */
const counted = ({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage = {}) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
})

/**
 * What has to come back. Where a note says so, the tokens of a part are counted among the others:
 * one that does not come back is in its total.
 */
function expected({ input, output, ...parts }: Usage, back: Usage = {}, notes: Note[]) {
  const isMerged = notes.some(({ code }) => code === 'usage.merged')
  const found = Object.entries(parts).filter(
    ([part]) => !isMerged || back[part as keyof typeof parts],
  )
  return counted(omitUndefined({ input, output, ...Object.fromEntries(found) }))
}

const chains = all.flatMap(first =>
  all.map(second => ({ name: `${first.name} and ${second.name}`, first, second })),
)

describe.each(chains)('token counts through $name', ({ first, second }) => {
  test('are the same', () => {
    fc.assert(
      fc.property(usage, counts => {
        const once = first.encodeResponse(responseOf(counts))
        const twice = second.encodeResponse(first.decodeResponse(once.wire).value)
        const back = second.decodeResponse(twice.wire).value
        const notes = [...once.notes, ...twice.notes]
        expect(counted(back.usage)).toEqual(expected(counts, back.usage, notes))
      }),
      runs(1000),
    )
  })

  test('are the same in a stream', () => {
    fc.assert(
      fc.property(usage, counts => {
        const once = encodeStream(first, explode(responseOf(counts)))
        const twice = encodeStream(second, decodeStream(first, once.wires))
        const back = collect(decodeStream(second, twice.wires)).response
        const notes = [...once.notes, ...twice.notes]
        expect(counted(back.usage)).toEqual(expected(counts, back.usage, notes))
      }),
      runs(1000),
    )
  })
})

test.each(all)(
  '$name: reads the token counts of a response, and whether it failed, without decoding the rest',
  protocol => {
    fc.assert(
      fc.property(wiresOf(protocol).response, body => {
        const read = attempt(() => protocol.decodeResponse(body).value)
        if (read)
          expect(protocol.outcome(body)).toEqual(
            omitUndefined({ usage: read.usage, error: read.error }),
          )
      }),
      runs(500),
    )
  },
)
