import type { Note as AnyNote, NoteKind } from './canonical/note.ts'
import { bridgeNotes } from './kit/notes/bridge.ts'
import { gatewayNotes } from './kit/notes/gateway.ts'
import { commonNotes, type SharedNotes, sharedNotes } from './kit/notes/shared.ts'
import type { NoteTable } from './protocol.ts'
import * as chatCompletions from './protocols/chat-completions/own.ts'
import * as converse from './protocols/converse/own.ts'
import * as generateContent from './protocols/generate-content/own.ts'
import * as messages from './protocols/messages/own.ts'
import * as responses from './protocols/responses/own.ts'
import { translateNotes } from './translate/notes.ts'

/** The notes that each protocol alone makes. */
const tables = {
  'chat-completions': chatCompletions.notes,
  responses: responses.notes,
  messages: messages.notes,
  'generate-content': generateContent.notes,
  converse: converse.notes,
  translate: translateNotes,
  gateway: gatewayNotes,
  bridge: bridgeNotes,
} as const

type Tables = typeof tables

/** The codes of all notes. A switch over it is complete. */
export type NoteCode =
  | keyof SharedNotes
  | { [Name in keyof Tables]: keyof Tables[Name] }[keyof Tables]

/** One difference that a translation made. Whatever has no note was translated without loss. */
export type Note = Omit<AnyNote, 'code'> & {
  /**
   * Stable across versions, with one kind and one meaning in every protocol: see `noteCatalog` in
   * `wireglot/notes`.
   */
  code: NoteCode
}

/** What `noteCatalog` says of a note. */
export type NoteEntry = {
  kind: NoteKind
  /** What happened, in a sentence. */
  meaning: string
  /** What to do about it. Absent: nothing. */
  advice?: string
  /**
   * The protocol whose codecs make the note, `translate`, `gateway` or `bridge`. Absent: several,
   * which docs/notes.md shows.
   */
  madeBy?: string
}

const shared: NoteTable = { ...commonNotes, ...sharedNotes }

const entries = [
  ...Object.entries(shared),
  ...Object.entries<NoteTable>(tables).flatMap(([madeBy, table]) =>
    Object.entries(table).map(([code, entry]) => [code, { ...entry, madeBy }] as const),
  ),
].sort(([a], [b]) => (a < b ? -1 : 1))

/**
 * Every note by its code: its kind, what it means, what to do about it, and who makes it.
 * @example
 * import { noteCatalog } from 'wireglot/notes'
 *
 * const { kind, meaning, advice } = noteCatalog['max-tokens.default']
 * console.log(kind, meaning, advice) // synthesized The target requires a token limit; the default is written. …
 */
export const noteCatalog = Object.fromEntries(entries) as Readonly<Record<NoteCode, NoteEntry>>
