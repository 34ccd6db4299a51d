/** A path with dots as a step would lead out of the listed ones. */
export const isPlain = (path: string): boolean => !/\\|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path)
