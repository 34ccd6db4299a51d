import type { ControlPart, OpaquePart, ServerToolPart } from '../../canonical/message.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import type { Report } from '../notes/report.ts'
import type { commonNotes, sharedNotes } from '../notes/shared.ts'
import { isUnresolvable } from '../signatures/state.ts'
import { serverToolText } from '../tools/server-tools.ts'

type Notes = typeof commonNotes &
  Pick<typeof sharedNotes, 'server-tool.as-text' | 'server-tool.dropped'>

/** A part that holds what its protocol sent. */
type RawPart = ServerToolPart | ControlPart | OpaquePart

/** What the protocol itself has sent as this part. Undefined: another protocol has. */
export const rawOf = ({ protocol, raw }: RawPart, name: string): JsonObject | undefined =>
  protocol === name && isObject(raw) ? raw : undefined

/**
 * Notes a part that a wire has no place for. Returns the text that stands for it; undefined: none.
 * `serverToolHistory`: what becomes of the tools that a provider ran.
 * @throws TranslationError `inexpressible` by `unresolvable`, for what only its provider can look up
 */
export function withoutPlace(
  part: RawPart,
  writing: {
    report: Pick<Report<Notes>, 'add'>
    to: 'client' | 'provider'
    serverToolHistory?: 'drop' | 'text' | undefined
    unresolvable(part: ControlPart): void
  },
): string | undefined {
  const { report, to, serverToolHistory, unresolvable } = writing
  switch (part.type) {
    case 'server-tool':
      if (serverToolHistory === 'text') {
        report.add('server-tool.as-text', part.at)
        return serverToolText(part)
      }
      report.add('server-tool.dropped', part.at)
      return undefined
    case 'control':
      if (isUnresolvable(part)) unresolvable(part)
      // The added tools are written with all others.
      else if (to === 'client' || !(part.control === 'tool-addition' && part.tools))
        report.add('part.unsupported', part.at)
      return undefined
    case 'opaque':
      report.add('part.unknown', part.at)
      return undefined
    default:
      return part satisfies never
  }
}
