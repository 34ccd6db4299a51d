/**
 * The known name that another one means: the same but for case and separators, with a typing error
 * or two, or one that contains the other. Undefined: none.
 */
export function similar(word: string, known: readonly string[]): string | undefined {
  const wanted = plain(word)
  if (wanted === '') return undefined
  const names = known.map(name => ({ name, text: plain(name) }))
  const same = names.find(({ text }) => text === wanted)
  if (same) return same.name
  const nearest = names
    .map(({ name, text }) => ({ name, errors: typingErrors(wanted, text, mostErrors(wanted)) }))
    .reduce<{ name?: string; errors: number }>(
      (best, one) => (one.errors < best.errors ? one : best),
      { errors: Number.POSITIVE_INFINITY },
    )
  if (nearest.name !== undefined && nearest.errors <= mostErrors(wanted)) return nearest.name
  return names.find(
    ({ text }) =>
      wanted.length >= 4 && text.length >= 4 && (text.includes(wanted) || wanted.includes(text)),
  )?.name
}

/** What is wrong with a name of a fixed list, with the one that was meant. Undefined: nothing. */
export function nameFault(name: unknown, known: readonly string[]): string | undefined {
  if (typeof name === 'string' && known.includes(name)) return undefined
  const meant = typeof name === 'string' ? similar(name, known) : undefined
  return `expected one of ${known.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/** Letters and digits in lower case. */
export const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** How many typing errors a word of this length may have. */
const mostErrors = ({ length }: string) => {
  if (length < 4) return 0
  if (length < 8) return 1
  return 2
}

/**
 * Letters that are missing, added or wrong, and neighbors that are swapped. Infinity: more than
 * `most`.
 */
function typingErrors(word: string, meant: string, most: number): number {
  if (Math.abs(word.length - meant.length) > most) return Number.POSITIVE_INFINITY
  let [before, last] = [
    [] as number[],
    Array.from({ length: meant.length + 1 }, (_, column) => column),
  ]
  for (let row = 1; row <= word.length; row++) {
    const next = [row]
    for (let column = 1; column <= meant.length; column++) {
      const isSame = word[row - 1] === meant[column - 1]
      const isSwapped =
        row > 1 &&
        column > 1 &&
        word[row - 1] === meant[column - 2] &&
        word[row - 2] === meant[column - 1]
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = last
    last = next
  }
  return last[meant.length] ?? Number.POSITIVE_INFINITY
}
