import type { Note } from '../../canonical/note.ts'
import { isObject, type JsonObject } from '../json/json.ts'

/** One requirement of a server. Returns the same body if it already holds. */
export type Edit<Options, Report> = (
  body: JsonObject,
  options: Options,
  report: Report,
) => JsonObject

/**
 * The request as its server requires by the options, with a note for each change. It works on the
 * wire, so that nothing else in the body changes. The same object if nothing has to change.
 */
export const fitWith =
  <Options, Report extends { notes: Note[] }>(
    edits: readonly Edit<Options, Report>[],
    createReport: () => Report,
  ) =>
  (wire: unknown, options: Options): { wire: unknown; notes: Note[] } => {
    const report = createReport()
    if (!isObject(wire)) return { wire, notes: [] }
    let body = wire
    for (const edit of edits) body = edit(body, options, report)
    return { wire: body, notes: report.notes }
  }

/** The words of an option that lists some. */
export const wordsOf = (list: string): string[] => list.split(/[\s,]+/).filter(Boolean)
