import type { Place } from './node.ts'

/** The place of a member. */
export function below(up: Place, key: string | number): Place {
  return { up, key }
}

/** The JSON pointer of a place. */
export function pointerOf(place: Place): string {
  return typeof place === 'string' ? place : pointerOf(place.up) + step(place.key)
}

/** One step of a JSON pointer, escaped. */
export function step(key: string | number): string {
  return typeof key === 'number' || !/[~/]/.test(key)
    ? `/${key}`
    : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
