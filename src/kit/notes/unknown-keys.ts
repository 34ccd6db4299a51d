import type { MachineState } from '../../protocol.ts'
import type { Keys } from '../fields/keys.ts'
import type { JsonObject } from '../json/json.ts'
import { step } from './path.ts'

/** `path`: of the object. `known` undefined: any key may be in it. */
export type NoteUnknown<State> = (
  state: State,
  wire: JsonObject,
  object: { path: string; known: Keys | undefined },
) => void

/** A function that notes the unknown keys of a stream that are not null: once for each path, however many events have it. */
export function unknownNoter<State extends MachineState>(
  reportOf: (state: State) => { add(code: 'field.unknown', path: string): void },
): NoteUnknown<State> {
  return (state, wire, { path, known }) => {
    if (!known) return
    for (const key in wire) {
      if (known[key] || wire[key] === null) continue
      const place = path + step(key)
      // A report for each event would be made in vain.
      if (!state.notes.some(note => note.path === place))
        reportOf(state).add('field.unknown', place)
    }
  }
}
