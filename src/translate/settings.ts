import type { Note, NoteKind } from '../canonical/note.ts'
import { TranslationError } from '../errors.ts'
import type { CodecOptions, FieldNames, Protocol } from '../protocol.ts'

/** What a translation may be told beside the mapping options of the two protocols. */
export type Settings = Omit<CodecOptions, 'fieldNames'> & {
  /**
   * Refuse instead of noting. `true`: any dropped or approximated note; a list: these kinds. A call throws `inexpressible`
   * with all notes; a stream ends as failed at the first such note. Default false: notes are only told.
   */
  strict?: boolean | readonly NoteKind[]
  /** Model name to write. Absent: the name stays. */
  model?: string
  /**
   * The longest event of a stream that is read, in UTF-16 units; a longer one ends the stream as failed. Default 64 Mi, for
   * events may hold pictures.
   */
  maxEventLength?: number
  /**
   * Gives the reply a new id from `newId` (or none, where its protocol demands none) instead of the upstream's, for upstreams
   * that give the same id twice. A function decides for each id. Does nothing between equal protocols. Default false.
   */
  renewId?: boolean | ((id: string) => boolean)
  /**
   * The caller keeps the reply itself, so that a client that asks for `store` gets it: the upstream is not asked to store, and
   * the reply says that it is stored. Default false.
   */
  keepsReply?: boolean
  /** Between equal protocols: leaves out events that only tell counts, for clients that did not ask for them. Default false. */
  hideUsage?: boolean
}

/** The first note that strict forbids. */
export function forbidden(notes: Note[], strict: Settings['strict']): Note | undefined {
  if (!strict) return undefined
  const kinds: readonly NoteKind[] = strict === true ? ['dropped', 'approximated'] : strict
  return notes.find(({ kind }) => kinds.includes(kind))
}

/** @throws TranslationError `inexpressible` with all notes, when strict forbids one of them */
export function refuseIfStrict(notes: Note[], strict: Settings['strict'], protocol: string): void {
  const first = forbidden(notes, strict)
  if (first) throw new TranslationError({ code: 'inexpressible', protocol, path: first.path, notes }, `refused by strict: ${first.reason} (${first.code})`)
}

/** The reply's id, unless it is to get one of its own. */
export function keptId(id: string | undefined, renewId: Settings['renewId']): { id?: string } {
  const renewed = typeof renewId === 'function' ? id !== undefined && renewId(id) : renewId
  return id === undefined || renewed ? {} : { id }
}

/** The protocol's field names and, over them, those that this body spells otherwise. Not a copy: copying the table takes a tenth of a small request. */
export function placesIn(elsewhere: FieldNames | undefined, { fieldNames }: Protocol): FieldNames {
  if (!elsewhere) return fieldNames
  const places: FieldNames = Object.create(fieldNames)
  return Object.assign(places, elsewhere)
}
