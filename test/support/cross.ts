import type { Note } from '../../src/canonical/note.ts'
import type { Encoded, Protocol } from '../../src/protocol.ts'
import { unlessRefused } from '../../src/testing/bodies.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { covers, everyIndex, parentOf, valueAt } from '../../src/testing/lossless.ts'
import { written } from './written.ts'

export type Kind = 'request' | 'response'
export const kinds: Kind[] = ['request', 'response']

/**
 * A body for another protocol, the path it goes to where that says something too, and the notes of
 * both codecs.
 */
export type Crossed = { wire: unknown; path?: string; notes: Note[] }

/**
 * One leg of the way. Undefined when it was refused, which is no silent loss; failed responses
 * cross as errors, which have a way of their own. What only the source's provider can resolve is
 * noted, so that more bodies get across.
 */
export function cross(
  kind: Kind,
  wire: unknown,
  from: Protocol,
  to: Protocol,
  path?: string,
): Crossed | undefined {
  return unlessRefused(() => {
    if (kind === 'request') {
      const { value, notes, fieldNames } = from.decodeRequest(
        wire,
        path === undefined ? {} : { path },
      )
      const encoded = written(value, to, {
        fieldNames: { ...from.fieldNames, ...fieldNames },
        onUnresolvable: 'note',
      })
      // A request without a conversation is refused, and never sent.
      return encoded.isEmpty ? undefined : joined(notes, encoded)
    }
    const { value, notes, fieldNames } = from.decodeResponse(wire)
    if (value.error) return undefined
    const there = joined(
      notes,
      to.encodeResponse(value, { fieldNames: { ...from.fieldNames, ...fieldNames } }),
    )
    return to.decodeResponse(there.wire).value.error ? undefined : there
  })
}

const joined = (notes: Note[], { wire, context, notes: more }: Encoded<unknown>): Crossed => ({
  wire,
  ...(context?.path !== undefined && { path: context.path }),
  notes: [...notes, ...more],
})

/** All that is sent. */
export const sent = ({ wire, path }: Crossed): string => canonicalJson([wire, path ?? null])

export { covers, everyIndex, parentOf, valueAt }

/** Where a request was sent to, for its own protocol to read it by. */
export const pathOf = ({ context }: Encoded<unknown>): { path?: string } =>
  context?.path === undefined ? {} : { path: context.path }
