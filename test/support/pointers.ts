import { pointerOf } from '../../src/canonical/place.ts'

/**
 * A copy of canonical data in which each place is spelled as a JSON pointer, however its decoder
 * keeps it.
 */
export function withPointers<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (key, inner) =>
      key === 'at' && inner !== undefined ? pointerOf(inner) : inner,
    ),
  )
}
