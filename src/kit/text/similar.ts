/** The known name that a misspelled one means: the same but for case and separators, or with one typing error. Undefined: none. */
export function similar(word: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, '')
  return known.find(one => plain(one) === plain(word)) ?? known.find(one => isTypo(plain(word), plain(one)))
}

/** Do the words differ by one letter that is missing, added or wrong, or by two neighbors that are swapped? */
function isTypo(word: string, meant: string): boolean {
  let same = 0
  while (same < word.length && word[same] === meant[same]) same++
  const [rest, wanted] = [word.slice(same), meant.slice(same)]
  const swapped = `${rest[1] ?? ''}${rest[0] ?? ''}${rest.slice(2)}`
  return rest === wanted.slice(1) || rest.slice(1) === wanted || rest.slice(1) === wanted.slice(1) || swapped === wanted
}
