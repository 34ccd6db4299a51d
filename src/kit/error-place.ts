/** Where the words of an error stand in its body, which may be a list of one. Undefined: under `error`, as usual. */
export function placeOf(body: unknown, isNested: boolean): string | undefined {
  const place = `${Array.isArray(body) ? '/0' : ''}${isNested ? '/error' : ''}`
  return place === '/error' ? undefined : place
}

/** The place of an error's body, from the place of its words. */
export const bodyOf = (at: string): string => at.replace(/\/error$/, '')
