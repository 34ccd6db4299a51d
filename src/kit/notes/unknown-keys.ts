import type { Note } from '../../canonical/note.ts'
import type { MachineState } from '../../protocol.ts'
import type { Keys } from '../fields/keys.ts'
import type { JsonObject } from '../json/json.ts'
import { few, keysOfNotes } from './noted.ts'
import { step } from './path.ts'

/** `path`: of the object. `known` undefined: any key may be in it. */
export type NoteUnknown<State> = (
  state: State,
  wire: JsonObject,
  object: { path: string; known: Keys | undefined },
) => void

/**
 * A function that notes the unknown keys of a stream that are not null: once for each path, however
 * many events have it.
 */
export function unknownNoter<State extends MachineState>(
  reportOf: (state: State) => { add(code: 'field.unknown', path: string): void },
): NoteUnknown<State> {
  return (state, wire, { path, known }) => {
    if (!known) return
    for (const key in wire) {
      if (known[key] || wire[key] === null) continue
      const place = path + step(key)
      // A report for each event would be made in vain.
      if (!hasNote(state.notes, place)) reportOf(state).add('field.unknown', place)
    }
  }
}

const hasNote = (notes: readonly Note[], path: string) =>
  notes.length < few ? notes.some(note => note.path === path) : keysOfNotes(notes, pathOf).has(path)

const pathOf = ({ path }: Note) => path
