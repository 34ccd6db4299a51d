import type { Note } from '../canonical/note.ts'

/** The notes that are not among the known ones: several calls of an exchange make the same ones. */
export function newNotes(known: readonly Note[], notes: readonly Note[]): Note[] {
  const keys = new Set(known.map(keyOf))
  return notes.filter(note => !keys.has(keyOf(note)))
}

const keyOf = ({ code, path }: Note): string => `${code} ${path}`
