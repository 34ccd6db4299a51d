import type { Note, NoteKind } from '../canonical/note.ts'
import { TranslationError } from '../errors.ts'
import type { CodecOptions, FieldNames, ProtocolFacts, ToolOptions } from '../protocol.ts'
import type { Bridge } from './bridge.ts'

/** Options of every translation. The group of each protocol is added under its `optionsKey`. */
export type Settings = Omit<CodecOptions, 'fieldNames'> & {
  /** Options about tools in every protocol. */
  tools?: ToolOptions
  /**
   * Refuses instead of noting. `true`: any dropped or approximated note; a list: these kinds. A
   * call throws `inexpressible` with all notes; a stream ends with an error at the first such note.
   * Default false.
   */
  strict?: boolean | readonly NoteKind[]
  /**
   * Does what the model or its server cannot do: `createBridge` of `wireglot/bridge`. The same for
   * a request and its response, which also needs `context`. Default: nothing is emulated.
   */
  bridge?: Bridge
  /** The model name to write. Absent: it stays. */
  model?: string
  /**
   * The longest event of a stream, in UTF-16 units; a longer one ends the stream with an error.
   * Default 64 Mi, as events may contain images.
   */
  maxEventLength?: number
  /**
   * Replaces the id of a response by one from `newId`, for upstreams that use an id twice. A
   * function decides for each id. No effect between equal protocols. Default false.
   */
  renewId?: boolean | ((id: string) => boolean)
  /**
   * The caller stores the response: the request does not ask the upstream to, and the response says
   * `store: true`. Default false.
   */
  keepsResponse?: boolean
  /**
   * Between equal protocols: leave out events that contain only usage, for clients that did not ask
   * for it. Default false.
   */
  hideUsage?: boolean
}

/** `keepsDigits`: the body is written by `writeExact`, with the numbers as they came. */
export type Exactness = { keepsDigits?: boolean }

/** The notes that hold for a body that is written as text. */
export const withDigits = (notes: Note[], keepsDigits = true): Note[] =>
  keepsDigits ? notes.filter(({ code }) => code !== 'tool-call.number') : notes

/**
 * Has the bridge to do something with the response, or are names restored in it? Then it is decoded
 * also between equal protocols.
 */
export const changesResponse = ({ bridge, context }: Settings): boolean =>
  (bridge !== undefined && context?.bridge !== undefined) ||
  context?.tools !== undefined ||
  context?.outputNames !== undefined

/** The first note that strict forbids. */
export function forbidden(notes: Note[], strict: Settings['strict']): Note | undefined {
  if (!strict) return undefined
  const kinds: readonly NoteKind[] = strict === true ? ['dropped', 'approximated'] : strict
  return notes.find(({ kind }) => kinds.includes(kind))
}

/** @throws TranslationError `inexpressible` with all notes, when strict forbids one of them */
export function refuseIfStrict(notes: Note[], strict: Settings['strict'], protocol: string): void {
  const first = forbidden(notes, strict)
  if (first)
    throw new TranslationError(
      { code: 'inexpressible', protocol, path: first.path, notes },
      `refused by strict: ${first.reason} (${first.code})`,
    )
}

/** The id of the response, unless it is to be replaced. */
export function keptId(id: string | undefined, renewId: Settings['renewId']): { id?: string } {
  const renewed = typeof renewId === 'function' ? id !== undefined && renewId(id) : renewId
  return id === undefined || renewed ? {} : { id }
}

/**
 * The protocol's field names, overridden by those of this body. By prototype: a copy of the table
 * would take a tenth of the time of a small request.
 */
export function placesIn(
  elsewhere: FieldNames | undefined,
  { fieldNames }: ProtocolFacts,
): FieldNames {
  if (!elsewhere) return fieldNames
  const places: FieldNames = Object.create(fieldNames)
  return Object.assign(places, elsewhere)
}
