import type { Note } from '../canonical/note.ts'
import type { CodecOptions, ProtocolFacts, ToolOptions, UpstreamHalf } from '../protocol.ts'
import { pathIn } from './unsupported.ts'

type Sent = { body: unknown; notes: Note[] }

/**
 * A written request in the form that its server demands. Notes point into the caller's body, as far
 * as its fields are known there.
 */
export function fitRequest(
  { body, notes }: Sent,
  to: UpstreamHalf,
  options: CodecOptions,
  source: { caller: ProtocolFacts; body: unknown },
): Sent {
  // Without options nothing is demanded; most requests have none.
  if (!hasOptions(options, to)) return { body, notes }
  const met = to.fitRequest?.(body, source.caller === to ? options : withFittedTools(options))
  if (!met || met.wire === body) return { body, notes }
  // What the encoder has noted already needs no second note.
  const more = source.caller === to ? met.notes : forCaller(met.notes, to, source)
  const known = more.length > 0 ? new Set(notes.map(keyOf)) : undefined
  return { body: met.wire, notes: [...notes, ...more.filter(note => !known?.has(keyOf(note)))] }
}

/** Between different protocols, tools are already what every server of the target takes. */
const withFittedTools = (options: CodecOptions & ToolOptions): CodecOptions & ToolOptions =>
  options.schemas === 'fitting' ? { ...options, schemas: 'keep' } : options

/** The notes as they concern a caller of another protocol. */
const forCaller = (
  notes: readonly Note[],
  to: UpstreamHalf,
  source: { caller: ProtocolFacts; body: unknown },
): Note[] =>
  notes
    .filter(({ code }) => !to.spellings?.includes(code))
    .map(note =>
      // What is made has its place in the body that is sent.
      note.kind === 'synthesized' ? note : { ...note, path: pathIn(note.path, to, source) },
    )

const keyOf = ({ code, path }: Note) => `${code} ${path}`

function hasOptions(options: CodecOptions, to: ProtocolFacts): boolean {
  for (const key in options) if (to.options[key] !== undefined || key === 'schemas') return true
  return false
}
