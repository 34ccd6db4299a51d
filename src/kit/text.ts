/** How many characters a text has, which is what spans are told in: `[...text].length`, at a twentieth of its time. */
export function lengthOf(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) {
      count--
      i++
    }
  return count
}
