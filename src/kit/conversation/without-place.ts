import type { ControlPart, OpaquePart, ServerToolPart } from '../../canonical/message.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import type { Report } from '../notes/report.ts'
import type { SharedNotes } from '../notes/shared.ts'
import { isUnresolvable } from '../signatures/state.ts'

/** A part that holds what its protocol sent. */
type RawPart = ServerToolPart | ControlPart | OpaquePart

/** What the protocol itself has sent as this part. Undefined: another protocol has. */
export const rawOf = ({ protocol, raw }: RawPart, name: string): JsonObject | undefined =>
  protocol === name && isObject(raw) ? raw : undefined

/**
 * Notes a part that a wire has no place for.
 * @throws TranslationError `inexpressible` by `unresolvable`, for what only its provider can look up
 */
export function withoutPlace(
  part: RawPart,
  writing: {
    report: Pick<Report<SharedNotes>, 'add'>
    to: 'client' | 'provider'
    unresolvable(part: ControlPart): void
  },
): void {
  const { report, to, unresolvable } = writing
  if (part.type === 'server-tool') report.add('server-tool.dropped', part.at)
  else if (part.type === 'opaque') report.add('part.unknown', part.at)
  else if (isUnresolvable(part)) unresolvable(part)
  // The added tools are written with all others.
  else if (to === 'client' || !(part.control === 'tool-addition' && part.tools))
    report.add('part.unsupported', part.at)
}
