import type { Note } from '../canonical/note.ts'
import { bridgeNotes } from '../kit/notes/bridge.ts'
import { createReport, type Report } from '../kit/notes/report.ts'
import type { commonNotes } from '../kit/notes/shared.ts'
import type { FieldNames } from '../protocol.ts'

/** What the bridge writes its notes to. */
export type BridgeReport = Report<typeof bridgeNotes & typeof commonNotes>

export const bridgeReport = (notes: Note[], fieldNames: FieldNames = {}): BridgeReport =>
  createReport('bridge', bridgeNotes, fieldNames, notes)
