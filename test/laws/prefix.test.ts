import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Part } from '../../src/canonical/message.ts'
import type { Protocol } from '../../src/protocol.ts'
import { all, attempt, wiresOf } from '../../src/testing/bodies.ts'
import { conversation } from '../../src/testing/conversations.ts'
import { brokenPrefix, continued, cutsOf } from '../support/prefix.ts'
import { runs } from '../support/runs.ts'
import { written } from '../support/written.ts'

const every = all.flatMap(from => all.map(to => ({ name: `${from.name} → ${to.name}`, from, to })))

describe.each(every)('$name: a request that continues', pair => {
  const { from } = pair

  test('begins with its previous bytes, in any conversation', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), ({ request }, pick) => {
        const wire = written(request, from).wire
        const cuts = cutsOf(from, wire)
        fc.pre(cuts.length > 0)
        expect(brokenPrefix(cuts[pick % cuts.length], wire, pair)).toEqual([])
      }),
      runs(1000),
    )
  })

  test('begins with its previous bytes, for any body that the schema allows', () => {
    fc.assert(
      fc.property(wiresOf(from).request, wiresOf(from).request, (wire, more) => {
        // A late result is moved to its call, however many turns have passed: servers refuse it
        // elsewhere.
        fc.pre(!(has(from, wire, 'tool-call') && has(from, more, 'tool-result')))
        const { earlier, later } = continued(from, wire, more)
        // Of more than four marks the last ones count (2.11); a mark says where a cache ends, and
        // is not in it.
        fc.pre(marksIn(from, later) <= 4)
        expect(attempt(() => brokenPrefix(earlier, later, pair)) ?? []).toEqual([])
      }),
      runs(1000),
    )
  })
})

const marksIn = (protocol: Protocol, wire: unknown) =>
  JSON.stringify(attempt(() => protocol.decodeRequest(wire).value) ?? {}).split('"cache":').length -
  1

const has = (protocol: Protocol, wire: unknown, type: Part['type']) =>
  attempt(() => protocol.decodeRequest(wire).value)?.messages.some(({ parts }) =>
    parts.some(part => part.type === type),
  ) ?? false
