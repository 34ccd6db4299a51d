const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escaped = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const space = /[ \t\n\r]*/y

/** The offset of the first syntax error in a JSON text; error messages of engines do not always have it. Undefined: the text is valid. */
export function jsonFault(text: string): number | undefined {
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const takeSign = (sign: string): boolean => {
    take(space)
    if (text[at] !== sign) return false
    at++
    return true
  }
  const takeString = (): boolean => {
    if (!takeSign('"')) return false
    for (; at < text.length; ) {
      if (text[at] === '"') return takeSign('"')
      if (text[at] === '\\') {
        if (!take(escaped)) return false
      } else if (text.charCodeAt(at) < 0x20) return false
      else at++
    }
    return false
  }
  const takeMembers = (end: string, member: () => boolean): boolean => {
    if (takeSign(end)) return true
    do if (!member()) return false
    while (takeSign(','))
    return takeSign(end)
  }
  const takeValue = (): boolean => {
    if (takeSign('{')) return takeMembers('}', () => takeString() && takeSign(':') && takeValue())
    if (takeSign('[')) return takeMembers(']', takeValue)
    return text[at] === '"' ? takeString() : take(scalar)
  }
  if (!takeValue()) return at
  take(space)
  return at === text.length ? undefined : at
}

/** The same as line and column for people, both from 1. */
export function placeOfFault(text: string): { at: number; place: string } {
  const at = jsonFault(text) ?? text.length
  const lines = text.slice(0, at).split('\n')
  return { at, place: `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}` }
}
