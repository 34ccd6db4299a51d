import type { Note } from '../canonical/note.ts'
import { isObject, type JsonObject } from '../kit/json/json.ts'
import { pointer } from '../kit/notes/path.ts'
import type { ProtocolFacts } from '../protocol.ts'
import { translateNotes } from './notes.ts'
import { foundAt, placesOf, valueAt } from './unsupported.ts'

/** The most tokens that a model takes. Absent: not known. */
export type TokenLimits = { output?: number | undefined; budget?: number | undefined }

/**
 * The caller's request with no larger number of tokens than the model takes, and a note for each
 * that was lowered. The same body if there is none.
 */
export function withinLimits(
  body: unknown,
  protocol: ProtocolFacts,
  { output = Infinity, budget = Infinity }: TokenLimits,
): { body: unknown; notes: Note[] } {
  if (output === Infinity && budget === Infinity) return { body, notes: [] }
  const limited = lowered(body, protocol, {
    field: 'maxOutputTokens',
    most: output,
    code: 'max-tokens.lowered',
  })
  // A budget is a part of the output.
  const bounded = lowered(limited.body, protocol, {
    field: 'reasoning.budgetTokens',
    most: Math.min(budget, output - 1),
    code: 'reasoning.budget-lowered',
  })
  return { body: bounded.body, notes: [...limited.notes, ...bounded.notes] }
}

type Limit = {
  field: string
  most: number
  code: 'max-tokens.lowered' | 'reasoning.budget-lowered'
}

function lowered(
  body: unknown,
  protocol: ProtocolFacts,
  { field, most, code }: Limit,
): { body: unknown; notes: Note[] } {
  const { kind, meaning: reason } = translateNotes[code]
  const notes: Note[] = []
  let left = body
  for (const keys of placesOf(field, protocol)) {
    const found = foundAt(left, keys)
    const value = found && valueAt(left, found)
    if (!found || typeof value !== 'number' || value <= most) continue
    left = withValue(left, found, most)
    notes.push({ kind, reason, path: pointer(found), code })
  }
  return { body: left, notes }
}

/** A copy with another value at these keys, which exist. */
function withValue(value: unknown, [key, ...rest]: readonly string[], to: number): unknown {
  if (key === undefined || !isObject(value)) return to
  const object: JsonObject = value
  return { ...object, [key]: withValue(object[key], rest, to) }
}
