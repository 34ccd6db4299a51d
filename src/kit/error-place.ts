/** Where the words of an error stand in its body, which may be a list of one. Undefined: under `error`, as usual. */
export function placeOf(body: unknown, isNested: boolean): string | undefined {
  const place = `${Array.isArray(body) ? '/0' : ''}${isNested ? '/error' : ''}`
  return place === '/error' ? undefined : place
}

/** Where the body stands whose error's words stand here. */
export const bodyOf = (at: string): string => at.replace(/\/error$/, '')
