/** Is this text remembered? Shorter ones are escaped as quickly; longer ones, mostly pictures, would take memory. */
const isLong = ({ length }: string) => length >= 512 && length <= 65_536

/** How deep events are searched for such texts. */
const deepest = 8

/** How many texts are remembered. */
const most = 16

/**
 * JSON.stringify for the events of one stream. Some streams tell a whole text four times: when the text, its part, its item and
 * the reply end. It is escaped once: doing so each time took a fifth of such a stream's time.
 */
export function createJsonWriter(): (wire: unknown) => string {
  /** The last text of each length, so that one is found without hashing it. */
  const known = new Map<number, { literal: string; text: string }>()
  const literalOf = (text: string): string => {
    const last = known.get(text.length)
    if (last?.text === text) return last.literal
    const literal = JSON.stringify(text)
    if (known.size === most) known.clear()
    known.set(text.length, { literal, text })
    return literal
  }
  /** Undefined: there is no long text in it. */
  const written = (value: unknown, depth: number): string | undefined => {
    if (typeof value === 'string') return isLong(value) ? literalOf(value) : undefined
    if (typeof value !== 'object' || value === null || depth === deepest) return undefined
    let found: Map<string, string> | undefined
    for (const key in value) {
      const json = written(value[key as never], depth + 1)
      if (json === undefined) continue
      found ??= new Map()
      found.set(key, json)
    }
    if (!found) return undefined
    const isList = Array.isArray(value)
    // Put together and not joined, so that no level copies the texts of those in it.
    let members = ''
    for (const key of Object.keys(value)) {
      const json = found.get(key) ?? JSON.stringify(value[key as never]) ?? (isList ? 'null' : undefined)
      if (json !== undefined) members += `${members === '' ? '' : ','}${isList ? '' : `${JSON.stringify(key)}:`}${json}`
    }
    return isList ? `[${members}]` : `{${members}}`
  }
  return wire => written(wire, 0) ?? JSON.stringify(wire)
}
