/**
 * The same JSON text with another string under the key `model` of its outermost object; undefined when there is none, or
 * more than one. Parsing and writing it anew would lose long numbers and every space.
 */
export function renamedText(text: string, model: string): string | undefined {
  let depth = 0
  let found: { start: number; end: number } | undefined
  let key: string | undefined
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ',') key = undefined
    else if (char === '"') {
      const start = i
      i = endOfString(text, start)
      if (depth !== 1) continue
      const string = text.slice(start, i + 1)
      if (key === undefined) key = string
      else if (isModel(key)) {
        if (found) return undefined
        found = { start, end: i + 1 }
      }
    }
  }
  return found && text.slice(0, found.start) + JSON.stringify(model) + text.slice(found.end)
}

/** Keys may be written with escapes. */
function isModel(key: string): boolean {
  return key === '"model"' || (key.includes('\\') && JSON.parse(key) === 'model')
}

/** The place of the quote that closes the one at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charAt(at - 1 - backslashes) === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return text.length
}
