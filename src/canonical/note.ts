/**
 * dropped: the target has no place for it · approximated: it says something near · synthesized: it demands what was
 * not given.
 */
export type NoteKind = 'dropped' | 'approximated' | 'synthesized'

/** One thing that a translation changed. What has no note was carried without loss. */
export type Note = {
  kind: NoteKind
  /** JSON pointer: into the source body for dropped and approximated, into the target body for synthesized. */
  path: string
  /** Stable; docs/notes.md lists every code with an example. */
  code: string
  /** One sentence without user data. */
  reason: string
  /** The protocol whose encoder or decoder made the note. */
  target?: string
}
