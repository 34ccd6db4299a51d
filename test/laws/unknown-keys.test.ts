import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Note } from '../../src/canonical/note.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { all } from '../../src/testing/bodies.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { isReported, odd, withOddKeys } from '../support/odd-keys.ts'
import { responses } from '../support/rich-responses.ts'

const rows = all.flatMap(({ name }) =>
  responses[name as ProtocolName].flatMap((response, nth) =>
    withOddKeys(response).map(({ path, body }) => ({
      from: name as ProtocolName,
      nth,
      path,
      body,
    })),
  ),
)

/** Synthesized values do not depend on the original ones. */
const besides = (notes: readonly Note[], path: string) =>
  notes.filter(note => note.path === path || note.kind !== 'synthesized')

describe('an unknown key of a complete response is noted, complete and streamed', () => {
  test.each(rows.flatMap(row => all.map(({ name }) => ({ ...row, to: name as ProtocolName }))))(
    '$from → $to, response $nth: $path',
    ({ from, to, path, body }) => {
      const { value, notes, fieldNames: read } = protocols[from].decodeResponse(body)
      const options = { fieldNames: { ...protocols[from].fieldNames, ...read } }
      const target = protocols[to]
      const whole = target.encodeResponse(value, options)
      expect(isReported(whole.wire, besides([...notes, ...whole.notes], path), path), 'whole').toBe(
        true,
      )
      const streamed = encodeStream(target, explode(value), options)
      expect(
        isReported(streamed.wires, besides([...notes, ...streamed.notes], path), path),
        'streamed',
      ).toBe(true)
      // What the stream holds has to be found in it again.
      if (!JSON.stringify(streamed.wires).includes(odd)) return
      const again = target.encodeResponse(collect(decodeStream(target, streamed.wires)).response)
      expect(isReported(again.wire, besides(streamed.notes, path), path), 'collected').toBe(true)
    },
  )
})
