/**
 * dropped: the target cannot express it · approximated: the target expresses something similar ·
 * synthesized: the target requires something that the source does not have · emulated: the bridge
 * did what the model or its server cannot do.
 */
export type NoteKind = 'dropped' | 'approximated' | 'synthesized' | 'emulated'

/** All values of `NoteKind`. */
export const noteKinds = [
  'dropped',
  'approximated',
  'synthesized',
  'emulated',
] as const satisfies NoteKind[]

/** One difference that a translation made. Whatever has no note was translated without loss. */
export type Note = {
  kind: NoteKind
  /**
   * JSON pointer: into the source body for dropped, approximated and emulated, into the target body
   * for synthesized.
   */
  path: string
  /** Stable across versions; docs/notes.md lists all codes with examples. */
  code: string
  /** One sentence without user data. */
  reason: string
  /**
   * The protocol whose encoder or decoder made the note; `translate` for notes made between the
   * two, `gateway` for those of the gateway, `bridge` for those of the bridge.
   */
  target?: string
}
