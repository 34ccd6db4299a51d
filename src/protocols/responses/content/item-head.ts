import type { Message, Place } from '../../../canonical/message.ts'
import { type Keys, unknownOf } from '../../../kit/fields/keys.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { fieldsOf, keep } from '../own.ts'
import type { Writing } from './writing.ts'

/** The type of an item. Messages and references may leave it out. */
export function typeOf({ type, role }: JsonObject): string {
  if (typeof type === 'string') return type
  return typeof role === 'string' ? 'message' : 'item_reference'
}

/**
 * Reads id, status and unknown keys of an item into its message, which is not shared yet. An
 * unknown status counts as an unknown key.
 */
export function withHead(
  message: Message,
  wire: JsonObject,
  known: Keys,
  more?: JsonObject,
): Message {
  const { id, status } = wire
  if (typeof id === 'string') message.id = id
  const isKnown = status === 'completed' || status === 'in_progress' || status === 'incomplete'
  if (isKnown) message.status = status
  const unknown = unknownOf(wire, known)
  return keep(
    message,
    !isKnown && typeof status === 'string' ? { ...unknown, status } : unknown,
    more,
  )
}

/** An item as its message. */
export const itemOf = (
  role: Message['role'],
  part: Message['parts'][number],
  at: Place,
): Message => ({ role, parts: [part], origin: 'item', at })

/** The status to write: items of a response must have one. */
export function statusOf(
  { status, ext }: Message,
  { target }: Writing,
  ofPart?: string,
): string | undefined {
  return (
    status ??
    ofPart ??
    (target === 'output' && fieldsOf(ext)?.['status'] === undefined ? 'completed' : undefined)
  )
}
