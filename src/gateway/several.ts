import type { ControlPart } from '../canonical/message.ts'
import { withFirstPart } from './compaction/compaction.ts'
import { checked, type Expected } from './output/checked.ts'
import type { RequestContext } from './request-context.ts'
import { rounds } from './server-tools/rounds.ts'
import type { Running } from './server-tools/running.ts'
import type { Reading, Stream } from './stream-hook.ts'

/**
 * Why a response is more than that of one call. `running`: for tools; `expected`: for its format;
 * `part`: it begins with this.
 */
export type Several = {
  running: Running | undefined
  expected: Expected | undefined
  part: ControlPart | undefined
}

/** Reads the events of all calls that a request takes. Undefined: it takes one. */
export function severalRead(
  { part, ...several }: Several,
  incoming: RequestContext,
  reading: Reading,
): Stream['continued'] {
  const all = callsRead(several, incoming, reading)
  if (!part) return all
  return (first, protocol, trace) =>
    withFirstPart(all ? all(first, protocol, trace) : reading.read(first, incoming), part)
}

function callsRead(
  { running, expected }: Omit<Several, 'part'>,
  incoming: RequestContext,
  reading: Reading,
): Stream['continued'] {
  if (!expected) return running && (first => rounds(first, running, reading))
  const read = (stream: Stream, given: RequestContext) => checked(stream, given, expected, reading)
  return running
    ? first => rounds(first, running, { ...reading, read })
    : first => read(first, incoming)
}
