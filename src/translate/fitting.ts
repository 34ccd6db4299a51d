import type { Note } from '../canonical/note.ts'
import type { CodecOptions, ProtocolFacts, UpstreamHalf } from '../protocol.ts'
import { pathIn } from './unsupported.ts'

type Sent = { body: unknown; notes: Note[] }

/** A written request in the form that its server demands. Notes point into the caller's body, as far as its fields are known there. */
export function fitRequest(
  { body, notes }: Sent,
  to: UpstreamHalf,
  options: CodecOptions,
  source: { caller: ProtocolFacts; body: unknown },
): Sent {
  // Without options nothing is demanded; most requests have none.
  if (!hasOptions(options, to)) return { body, notes }
  const met = to.fitRequest?.(body, options)
  if (!met || met.wire === body) return { body, notes }
  // What the encoder has noted already needs no second note.
  const more =
    source.caller === to
      ? met.notes
      : met.notes.map(note => ({ ...note, path: pathIn(note.path, to, source) }))
  const isNew = ({ code, path }: Note) =>
    !notes.some(note => note.code === code && note.path === path)
  return { body: met.wire, notes: [...notes, ...more.filter(isNew)] }
}

function hasOptions(options: CodecOptions, to: ProtocolFacts): boolean {
  for (const key in options) if (to.options[key] !== undefined || key === 'schemas') return true
  return false
}
