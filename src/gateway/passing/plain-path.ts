/**
 * Has the path nothing that an upstream could read as another one? A step of dots, an encoded
 * separator (also encoded twice) or a parameter after `;` would lead out of the listed paths. Ids
 * need none of them, so every other letter is refused.
 */
export const isPlain = (path: string): boolean =>
  /^[\w/.:~@!$*+,=-]*$/.test(path) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)
