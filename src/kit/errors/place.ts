/**
 * JSON pointer to the error object in a body, which may be a list of one. `isNested`: it is under
 * `error`. Undefined: `/error`, the default place.
 */
export function placeOf(body: unknown, isNested: boolean): string | undefined {
  const place = `${Array.isArray(body) ? '/0' : ''}${isNested ? '/error' : ''}`
  return place === '/error' ? undefined : place
}

/** JSON pointer to the body, from the one to its error object. */
export const bodyOf = (at: string): string => at.replace(/\/(error|detail)$/, '')
