import type { Part, Place } from '../../../canonical/message.ts'
import type { EncodingContext } from '../../../protocol.ts'
import { createResponsesReport, type ResponsesReport } from '../notes.ts'
import type { Options } from '../options.ts'
import type { ResponsesWrittenItem } from '../schema.ts'

/** The context that all encoders of a request or a response share. */
export type Writing = {
  report: ResponsesReport
  options: Options
  /** Target of the items: a request, or a response, whose items must have ids. */
  target: 'input' | 'output'
  /**
   * The request or response was decoded from this protocol: names, ids and limits are written as
   * they are.
   */
  native: boolean
  /**
   * Gives an item of a response its id: the wanted one, if it may be used. `native`: the wanted id
   * is of this protocol; absent: it is if the response was decoded from this protocol.
   */
  itemId?: (wanted: string | undefined, prefix: string, native?: boolean) => string | undefined
  /** Deferred tools are loaded from the start, because no tool search is written. */
  loads?: boolean
  /** Parts that got the cache breakpoint of the part around them → path of that part. */
  moved: Map<Part, Place | undefined>
  /** Parts with a cache breakpoint beyond the allowed number. */
  uncached: Set<Part>
  /** Written reasoning item → its part. */
  reasoning: Map<ResponsesWrittenItem, Part>
  /**
   * The names of functions that are built-in tools of the client, see `client-tools.ts`: calls of
   * them are written as calls of these.
   */
  expanded: ReadonlySet<string>
  /** How the response's text is wrapped, see `EncodingContext`. */
  output?: EncodingContext['output']
}

export function startWriting(
  target: Writing['target'],
  native: boolean,
  options: Options = {},
  notes?: ResponsesReport['notes'],
): Writing {
  return {
    report: createResponsesReport(options.fieldNames, notes),
    options,
    target,
    native,
    moved: new Map(),
    uncached: new Set(),
    reasoning: new Map(),
    expanded: none,
  }
}

const none: ReadonlySet<string> = new Set()

/**
 * Does the receiver keep or open envelopes? Every client does, and a provider that is a gateway
 * itself.
 */
export const opensEnvelopes = ({ target, options }: Pick<Writing, 'target' | 'options'>): boolean =>
  target === 'output' || options.foreignSignatures === 'wrap'

/** Notes or refuses what only another provider can resolve; in a response nothing is refused. */
export function unresolvable(
  at: Place | undefined,
  field: string | undefined,
  { report, options, target }: Writing,
): void {
  report.unresolvable(at, field, target === 'input' ? options : { onUnresolvable: 'note' })
}
