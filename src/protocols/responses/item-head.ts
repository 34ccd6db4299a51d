import type { Message } from '../../canonical/message.ts'
import type { JsonObject } from '../../kit/json.ts'
import { ownForm } from './own.ts'

/** The type of an item. Messages and references may leave it out. */
export function typeOf({ type, role }: JsonObject): string {
  if (typeof type === 'string') return type
  return typeof role === 'string' ? 'message' : 'item_reference'
}

/** The id that an item came with. */
export const idOf = (id: unknown) => (typeof id === 'string' ? { id } : {})

/** The status of an item, if it is a known value. */
export function statusOf(wire: JsonObject): { status?: NonNullable<Message['status']> } {
  const { status } = wire
  return status === 'completed' || status === 'in_progress' || status === 'incomplete' ? { status } : {}
}

/** The status of an item, if it is not a known value. */
export function strangeStatus(wire: JsonObject): JsonObject {
  return wire['status'] !== undefined && !statusOf(wire).status ? { status: wire['status'] } : {}
}

/** The same as an unknown field, if it is a string: other protocols cannot express it. */
export function unknownStatus(wire: JsonObject): JsonObject {
  const { status } = wire
  return typeof status === 'string' && !statusOf(wire).status ? { status } : {}
}

/** The message, if it was decoded from an item of this type: only then its wire form fits. */
export function ownItem(message: Message, item: string): Message | undefined {
  return ownForm(message.ext)?.['item'] === item ? message : undefined
}

/** The status to write, known or not. */
export function itemStatus(message: Message): unknown {
  return ownForm(message.ext)?.['status'] ?? message.status
}
