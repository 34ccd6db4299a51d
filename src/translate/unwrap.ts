/**
 * Reads `{"input":"…"}` as it arrives and gives the unescaped text of the string. `before`: the string has not begun, and `held` is
 * the text so far; `raw`: the text is something else and is passed on unchanged; `beside`: the object has something after the string.
 * Plain data.
 */
export type Unwrapping = { phase: 'before' | 'inside' | 'after' | 'closed' | 'beside' | 'raw'; held: string }

export function startUnwrapping(): Unwrapping {
  return { phase: 'before', held: '' }
}

const opening = /^\s*\{\s*"input"\s*:\s*"/
const openingBegun = /^\s*(\{\s*("(i(n(p(u(t("\s*(:\s*)?)?)?)?)?)?)?)?)?$/
const simpleEscapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' }

/** Reads the next piece of JSON text and returns the next piece of the string. Changes `state`. */
export function unwrapText(state: Unwrapping, text: string): string {
  if (state.phase === 'raw') return text
  if (state.phase !== 'before' && state.phase !== 'inside') {
    readBehind(state, text)
    return ''
  }
  let rest = state.held + text
  state.held = ''
  if (state.phase === 'before') {
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
    rest = rest.slice(start[0].length)
  }
  let out = ''
  for (let i = 0; i < rest.length; i++) {
    const char = rest.charAt(i)
    if (char === '"') {
      state.phase = 'after'
      readBehind(state, rest.slice(i + 1))
      return out
    }
    if (char !== '\\') {
      out += char
      continue
    }
    const kind = rest.charAt(i + 1)
    const length = kind === 'u' ? 6 : 2
    if (i + length > rest.length) {
      state.held = rest.slice(i)
      break
    }
    out += kind === 'u' ? String.fromCharCode(Number.parseInt(rest.slice(i + 2, i + 6), 16)) : (simpleEscapes[kind] ?? kind)
    i += length - 1
  }
  // A high surrogate waits for the low one, so that every piece is well-formed.
  const last = out.charCodeAt(out.length - 1)
  if (state.held === '' || state.held.startsWith('\\')) {
    if (last >= 0xd800 && last <= 0xdbff) {
      state.held = `\\u${last.toString(16)}${state.held}`
      out = out.slice(0, -1)
    }
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
