import { expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { listened } from '../../src/gateway/output/checked.ts'
import { Round } from '../../src/gateway/server-tools/round.ts'

// A stream of which something is kept until it is whole ends, if it never would by itself.

const delta: CanonicalEvent = {
  type: 'part.delta',
  candidate: 0,
  part: 0,
  delta: { kind: 'text', text: 'x'.repeat(1024 * 1024) },
}

test('an answer in JSON that does not end', async () => {
  async function* endless() {
    for (;;) yield delta
  }
  await expect(listened(endless())).rejects.toThrow('too large')
})

test('a round with tools that does not end', () => {
  const round = new Round(new Map(), new Map())
  expect(() => {
    for (;;) round.take(delta)
  }).toThrow('too large')
})
