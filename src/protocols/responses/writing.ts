import type { Message, Part } from '../../canonical/message.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { EncodingContext } from '../../protocol.ts'
import { createResponsesReport, type ResponsesReport } from './notes.ts'
import type { Options } from './options.ts'

/** What every encoder of a request or an answer needs to know. */
export type Writing = {
  report: ResponsesReport
  options: Options
  /** Where the items go: into a request, or into an answer, whose items must have ids. */
  target: 'input' | 'output'
  /** The request or reply was read from this protocol: names, ids and limits are written as they are. */
  native: boolean
  /**
   * An id for an item of an answer: the wanted one, when it may be used there. `own`: the message, where it was decoded from such an
   * item. `native`: the wanted id is one of this protocol; absent: it is where the reply was read from this protocol.
   */
  itemId?: (wanted: string | undefined, prefix: string, own?: Message, native?: boolean) => string | undefined
  /** Nothing is stored of the request and its answer, so that an id alone leads nowhere. */
  storeless?: boolean
  /** What a search was to find is there from the start, because the search is left out. */
  loads?: boolean
  /** Cache breakpoints that stood on what is around their part: where. */
  moved: Map<Part, string | undefined>
  /** Cache breakpoints beyond the allowed number. */
  uncached: Set<Part>
  /** Reasoning by the item that was written for it. */
  thoughts: Map<JsonObject, Part>
  /** The calls written so far: the name by id. */
  calls: Map<string, string>
  /** By the name written on this wire. */
  tools: NonNullable<EncodingContext['tools']>
}

export function startWriting(target: Writing['target'], native: boolean, options: Options = {}, notes?: ResponsesReport['notes']): Writing {
  return {
    report: createResponsesReport(options.fieldNames, notes),
    options,
    target,
    native,
    moved: new Map(),
    uncached: new Set(),
    thoughts: new Map(),
    calls: new Map(),
    tools: {},
  }
}

/** Notes or refuses what only another provider can look up; within an answer nothing is refused. */
export function unresolvable(at: string | undefined, field: string | undefined, { report, options, target }: Writing): void {
  report.unresolvable(at, field, target === 'input' ? options : { onUnresolvable: 'note' })
}
