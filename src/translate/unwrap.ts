import { type JsonScan, nextToken, startScan } from '../kit/json/scan.ts'

/**
 * Reads `{"input":"…"}` as it arrives and gives the unescaped text of the string. `before`: the
 * string has not begun, and `held` is the text so far; `raw`: the text is something else and is
 * passed on unchanged; `beside`: the object has something after the string. Plain data.
 */
export type Unwrapping = {
  phase: 'before' | 'inside' | 'after' | 'closed' | 'beside' | 'raw'
  held: string
  scan: JsonScan
}

export function startUnwrapping(): Unwrapping {
  return { phase: 'before', held: '', scan: startScan() }
}

const opening = /^\s*\{\s*"input"\s*:\s*"/
const openingBegun = /^\s*(\{\s*("(i(n(p(u(t("\s*(:\s*)?)?)?)?)?)?)?)?)?$/
/** An escape, or the beginning of one at the end of the text. */
const anEscape = /\\(?:u(.{4})|([^u]))|\\(?:u.{0,3})?$/gs
const simpleEscapes: Record<string, string> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  '/': '/',
}

/** Reads the next chunk of JSON text and returns the next chunk of the string. Changes `state`. */
export function unwrapText(state: Unwrapping, text: string): string {
  if (state.phase === 'raw') return text
  if (state.phase !== 'before' && state.phase !== 'inside') {
    readBehind(state, text)
    return ''
  }
  let rest = text
  if (state.phase === 'before') {
    rest = state.held + text
    state.held = ''
    const start = opening.exec(rest)
    if (!start) {
      if (openingBegun.test(rest)) {
        state.held = rest
        return ''
      }
      state.phase = 'raw'
      return rest
    }
    state.phase = 'inside'
    state.scan.inString = true
    rest = rest.slice(start[0].length)
  }
  const end = nextToken(state.scan, rest, 0)
  const literal = state.held + (end < 0 ? rest : rest.slice(0, end - 1))
  state.held = ''
  let out = literal.replace(anEscape, (found, hex?: string, kind?: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    if (kind !== undefined) return simpleEscapes[kind] ?? kind
    state.held = found
    return ''
  })
  if (end >= 0) {
    out += state.held
    state.held = ''
    state.phase = 'after'
    readBehind(state, rest.slice(end))
    return out
  }
  // A high surrogate waits for the low one, so that every chunk is well-formed.
  const last = out.charCodeAt(out.length - 1)
  if (last >= 0xd800 && last <= 0xdbff) {
    state.held = `\\u${last.toString(16)}${state.held}`
    out = out.slice(0, -1)
  }
  return out
}

/** After the string only the end of the object may come. */
function readBehind(state: Unwrapping, text: string): void {
  let rest = text.trim()
  if (state.phase === 'after' && rest.startsWith('}')) {
    state.phase = 'closed'
    rest = rest.slice(1).trim()
  }
  if (rest) state.phase = 'beside'
}
