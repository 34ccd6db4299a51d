import type { Note } from '../../canonical/note.ts'

type KeyOf = (note: Note) => string
/** `count`: the number of notes that the list had when it was last asked for. */
type Known = { count: number; keys: Set<string> }

const known = new WeakMap<readonly Note[], Map<KeyOf, Known>>()

/** Fewer notes than these are compared one by one, which takes less than keeping their keys. */
export const few = 8

/**
 * The keys of the notes in a list, to which notes are only ever added. They are kept until it is
 * asked again: comparing each note with all before it would take quadratic time. `keyOf`: always
 * the same function for one kind of key.
 */
export function keysOfNotes(notes: readonly Note[], keyOf: KeyOf): ReadonlySet<string> {
  const ofList = known.get(notes) ?? new Map<KeyOf, Known>()
  known.set(notes, ofList)
  const found = ofList.get(keyOf) ?? { count: 0, keys: new Set() }
  ofList.set(keyOf, found)
  for (; found.count < notes.length; found.count++)
    found.keys.add(keyOf(notes[found.count] as Note))
  return found.keys
}
