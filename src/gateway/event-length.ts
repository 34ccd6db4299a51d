import type { CanonicalEvent } from '../canonical/event.ts'

/** About what an event takes where it is kept. In UTF-16 units. */
export const eventLength = (event: CanonicalEvent): number =>
  100 + (event.type === 'part.delta' && 'text' in event.delta ? event.delta.text.length : 0)
