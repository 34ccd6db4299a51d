/**
 * JSON as models write it: with quotes of other languages, comments, commas too many, keys and words
 * without quotes, quotes and line ends inside of texts, and without its end. Each character is
 * looked at a bounded number of times, as no repairing package does.
 */

/** By the quote that opens a text: those that may close it. */
const closing = new Map<string, RegExp>([
  ['"', /[\\"]/g],
  ["'", /[\\']/g],
  ['`', /[\\`]/g],
  ['“', /[\\"“”]/g],
  ['”', /[\\"“”]/g],
  ['‘', /[\\'‘’]/g],
  ['’', /[\\'‘’]/g],
])

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '\n': '\n',
  '"': '"',
  "'": "'",
  '`': '`',
  '\\': '\\',
  '/': '/',
}

const literals: Readonly<Record<string, string>> = {
  true: 'true',
  True: 'true',
  false: 'false',
  False: 'false',
  null: 'null',
  None: 'null',
  undefined: 'null',
}

const endOfComment = new Map([
  ['//', '\n'],
  ['/*', '*/'],
])

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const space = /\s*/y
/** What may stand around the value. */
const fence = /\s*(?:```\w*\s*)?/y
const rest = /^[\s;)}\]`]*$/

/** All of it was escaped, as if it were a text. */
const escapedWhole = /^\s*[{[]\s*\\"/

/** Deeper values are not repaired. */
const deepest = 500

/** The object or list in a text, as JSON. Undefined: there is none, or it cannot be known. */
export function strictJson(given: string): string | undefined {
  const text = escapedWhole.test(given) ? given.replace(/\\(["\\/])/g, '$1') : given
  const reader = new Reader(text)
  const value = reader.root()
  return value !== undefined && rest.test(text.slice(reader.at)) ? value : undefined
}

const quotes = '"\'`“”‘’'
// What a key is, is looked for a bounded way ahead. The end of all may cut it.
const quoted = ['"', "'", '`', '“”', '‘’']
  .map(ones => `[${ones}](?:[^${ones}\\n\\\\]|\\\\.){0,256}(?:[${ones}]\\s*(?::|$)|$)`)
  .join('|')
const bare = '[\\w$.-]{1,256}\\s*(?::|$)'

/** By where a text stands: what follows it. Other quotes are a part of it. */
const following = {
  key: /\s*(?:[:,}\]]|$)/y,
  // Behind a comma comes a key, and only a key shows that a comma is missing.
  member: new RegExp(
    `\\s*(?:[}\\]]|$|(?:,[\\s,]*|(?!.[}\\]]))(?:${quoted})|,[\\s,]*(?:[}\\]/]|$|${bare}))`,
    'y',
  ),
  element: new RegExp(`\\s*(?:[}\\],]|$)|[^\\S\\n]*\\n\\s*[${quotes}]`, 'y'),
}
type Holder = keyof typeof following

/** `sign`: what follows a backslash, which the end of all may cut. */
function unescaped(sign: string): string {
  const isCode = /^u[\da-fA-F]{0,4}$/.test(sign)
  if (isCode) return sign.length < 5 ? '' : String.fromCharCode(parseInt(sign.slice(1), 16))
  if (sign === '') return ''
  return Object.hasOwn(escapes, sign) ? (escapes[sign] ?? '') : `\\${sign}`
}

class Reader {
  at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  root(): string | undefined {
    this.#pass(fence)
    return /[{[]/.test(this.#char()) ? this.#value('element', 0) : undefined
  }

  #char = () => this.#text.charAt(this.at)

  #pass(pattern: RegExp): void {
    pattern.lastIndex = this.at
    pattern.exec(this.#text)
    this.at = pattern.lastIndex
  }

  /** Goes behind white space and comments. */
  #skip(): void {
    this.#pass(space)
    for (;;) {
      const two = this.#text.slice(this.at, this.at + 2)
      const end = endOfComment.get(two)
      if (end === undefined) return
      const found = this.#text.indexOf(end, this.at + 2)
      this.at = found < 0 ? this.#text.length : found + end.length
      this.#pass(space)
    }
  }

  #skipCommas(): void {
    for (this.#skip(); this.#char() === ','; this.#skip()) this.at++
  }

  #value(holder: Holder, depth: number): string | undefined {
    if (depth > deepest) return undefined
    const char = this.#char()
    if (char === '{') return this.#object(depth)
    if (char === '[') return this.#list(depth)
    return closing.has(char) ? JSON.stringify(this.#string(holder, depth)) : this.#word()
  }

  #object(depth: number): string | undefined {
    const members: string[] = []
    this.at++
    for (;;) {
      this.#skipCommas()
      const char = this.#char()
      if (char === '}') this.at++
      // The end of a list ends the objects in it.
      if (char === '' || char === '}' || char === ']') return `{${members.join(',')}}`
      const key = closing.has(char) ? this.#string('key', 0) : this.#bareKey()
      this.#skip()
      // A key that the end of the text has cut is none.
      if (this.#char() === '' && !/[}\]]$/.test(this.#text.trimEnd())) continue
      if (this.#char() !== ':' || key === undefined) return undefined
      this.at++
      this.#skip()
      const isMissing = /^[,}\]]?$/.test(this.#char())
      const value = isMissing ? 'null' : this.#value('member', depth + 1)
      if (value === undefined) return undefined
      members.push(`${JSON.stringify(key)}:${value}`)
    }
  }

  #list(depth: number): string | undefined {
    const elements: string[] = []
    this.at++
    for (;;) {
      this.#skipCommas()
      const char = this.#char()
      if (char === ']') this.at++
      if (char === '' || char === ']' || char === '}') return `[${elements.join(',')}]`
      const element = this.#value('element', depth + 1)
      if (element === undefined) return undefined
      elements.push(element)
    }
  }

  /** A key without quotes. */
  #bareKey(): string | undefined {
    const from = this.at
    this.#pass(/[\w$.-]*/y)
    return this.at === from ? undefined : this.#text.slice(from, this.at)
  }

  /** A number, a literal, or a text without quotes. */
  #word(): string {
    const from = this.at
    this.#pass(/[^,}\]\n]*/y)
    const [before = ''] = this.#text.slice(from, this.at).split(/\s\/[/*]/, 1)
    const word = before.trim()
    const isCut = this.at === this.#text.length
    const known = isCut ? word.replace(/[.eE+-]$/, '') : word
    if (number.test(known)) return known
    return Object.hasOwn(literals, word) ? (literals[word] ?? '') : JSON.stringify(word)
  }

  /**
   * Up to the quote that ends it, or the end of all, without as many brackets as are open there:
   * then the quote alone is missing.
   */
  #string(holder: Holder, open: number): string {
    const text = this.#text
    const stop = closing.get(this.#char()) ?? /(?:)/g
    const parts: string[] = []
    let from = this.at + 1
    for (let at = from; ; ) {
      stop.lastIndex = at
      const found = stop.exec(text)?.index
      if (found === undefined) {
        this.at = this.#beforeBrackets(from, open)
        return parts.join('') + text.slice(from, this.at)
      }
      if (text[found] !== '\\' && this.#ends(found + 1, holder)) {
        this.at = found + 1
        return parts.join('') + text.slice(from, found)
      }
      at = found + 1
      if (text[found] !== '\\') continue
      parts.push(text.slice(from, found))
      const sign = text.slice(at, at + (text[at] === 'u' ? 5 : 1))
      parts.push(unescaped(sign))
      at += sign.length
      from = at
    }
  }

  /** The place of so many brackets at the end of all, but not before `from`. */
  #beforeBrackets(from: number, most: number): number {
    let place = this.#text.length
    for (let at = place - 1, left = most; at >= from && left > 0; at--) {
      const char = this.#text.charAt(at)
      if (char === '}' || char === ']') {
        place = at
        left--
      } else if (char.trim() !== '') break
    }
    return place
  }

  #ends(at: number, holder: Holder): boolean {
    const pattern = following[holder]
    pattern.lastIndex = at
    return pattern.test(this.#text)
  }
}
