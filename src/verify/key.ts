/** A character that no header of a request can hold, or that no key has. */
const foreign = /[^\x20-\x7e]/

/**
 * What is wrong with the characters of a key. Undefined: nothing. Without the key itself, except
 * for one character.
 */
export function faultOfKey(key: string): string | undefined {
  const characters = [...key]
  const index = characters.findIndex(character => foreign.test(character))
  const character = characters[index]
  if (character === undefined) return undefined
  return `the key contains the character ${shown(character)} at position ${index + 1}; keys are ASCII`
}

/** Nobody sees a line break or a space without width. */
function shown(character: string): string {
  if (!/[\p{C}\p{Z}]/u.test(character)) return `“${character}”`
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
}

export const copyAgain = 'Copy it again.'
