import { formats } from './formats.ts'

/** Any white space, the name of a tool, an id. A text: these characters. */
const space = 1
const toolName = 2
const id = 3
type Token = string | typeof space | typeof toolName | typeof id

/** `follows`: the token before which `^` stands; -1: behind all. */
type Head = { format: number; tokens: readonly Token[]; follows: number }

/**
 * A head of which the text so far is the beginning. `count`: the characters of the token so far.
 * `name`: of the tool, as far as it is read. `follows`: how many characters were read where `^`
 * stands. Plain data.
 */
export type Thread = {
  head: number
  token: number
  count: number
  name: string
  follows: number
}

/** White space, and ids, in a head are at most this long, so that a text is not held back for long. */
const mostSpace = 32
const mostId = 64

const marks: Record<string, Token> = { '~': space, '@': toolName, '#': id }

function compiled(text: string, format: number): Head {
  const tokens: Token[] = []
  let follows = -1
  let literal = ''
  const flush = () => {
    if (literal !== '') tokens.push(literal)
    literal = ''
  }
  for (const char of text) {
    const mark = marks[char]
    if (mark !== undefined || char === '^') flush()
    if (char === '^') follows = tokens.length
    else if (mark === undefined) literal += plain(char)
    else tokens.push(mark)
  }
  flush()
  return { format, tokens, follows }
}

/** Some servers write the wide marks of DeepSeek as ASCII. */
export const plain = (char: string): string => {
  if (char === '｜') return '|'
  return char === '▁' ? '_' : char
}

const heads: readonly Head[] = formats.flatMap((format, i) =>
  format.heads.map(head => compiled(head, i)),
)

/** The heads that begin with a text, and all beginnings of these texts. */
type Openings = { whole: ReadonlyMap<string, readonly number[]>; beginnings: ReadonlySet<string> }

function openings(isAtStart: boolean): Openings {
  const whole = new Map<string, number[]>()
  heads.forEach((head, i) => {
    const [first] = head.tokens
    if (typeof first !== 'string' || (!isAtStart && formats[head.format]?.atStart)) return
    whole.set(first, [...(whole.get(first) ?? []), i])
  })
  return { whole, beginnings: beginningsOf([...whole.keys()]) }
}

export const beginningsOf = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.flatMap(text => Array.from(text, (_, i) => text.slice(0, i + 1))))

const anywhere = openings(false)
const atStart = openings(true)

/** Finds where one of the openings may begin, by its first two characters or at the end of a chunk. */
export function mayBegin(flags?: 'g'): RegExp {
  const pairs = [...anywhere.beginnings].filter(({ length }) => length === 2)
  const firsts = new Set(pairs.map(pair => pair.charAt(0)))
  const choices = [...firsts].map(first => {
    const seconds = pairs.filter(pair => pair.startsWith(first)).map(pair => pair.charAt(1))
    // The wide mark of DeepSeek stands for that of ASCII.
    const all = [...seconds, ...(seconds.includes('|') ? ['｜'] : [])]
    return `\\${first}(?:$|[${all.map(one => `\\u${hex(one)}`).join('')}])`
  })
  return new RegExp(choices.join('|'), flags)
}

const hex = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0')

/** The openings that may come here. */
export const openingsAt = (isAtStart: boolean): Openings => (isAtStart ? atStart : anywhere)

/** Threads for the heads that begin with this text. */
export function threadsFrom({ whole }: Openings, opening: string): Thread[] {
  return (whole.get(opening) ?? []).map(head => ({
    head,
    token: 1,
    count: 0,
    name: '',
    follows: heads[head]?.follows === 0 ? 0 : -1,
  }))
}

/** A head that has been read. `follows`: so many characters of it come before what follows. */
export type Matched = { format: number; name: string; follows: number }

const isSpace = (char: string) => char === ' ' || char === '\n' || char === '\r' || char === '\t'
const isOfId = (char: string) => /[\w.-]/.test(char)

type Reading = { length: number; names: readonly string[]; into: Thread[] }

/**
 * Reads one more character. `length`: of the text before it. Changes the thread. Pushes the threads
 * that go on; returns the head that is complete, if one is.
 */
export function advance(thread: Thread, char: string, reading: Reading): Matched | undefined {
  const head = heads[thread.head]
  if (!head) return undefined
  for (;;) {
    const token = head.tokens[thread.token]
    // `^` stands before this token.
    if (thread.count === 0 && head.follows === thread.token) thread.follows = reading.length
    if (token === toolName) {
      readName(thread, char, reading)
      return undefined
    }
    if (token !== space && token !== id) return readLiteral(thread, head, char, reading)
    if (token === space ? isSpace(char) : isOfId(char)) {
      if (thread.count++ < (token === space ? mostSpace : mostId)) reading.into.push(thread)
      return undefined
    }
    if (token === id && thread.count === 0) return undefined
    thread.token++
    thread.count = 0
  }
}

/** A name may be the beginning of another one. */
function readName(thread: Thread, char: string, { names, into }: Reading): void {
  const name = thread.name + char
  let isBeginning = false
  for (const one of names)
    if (one === name) into.push({ ...thread, name, token: thread.token + 1, count: 0 })
    else isBeginning ||= one.startsWith(name)
  if (!isBeginning) return
  thread.name = name
  thread.count++
  into.push(thread)
}

function readLiteral(
  thread: Thread,
  { format, tokens }: Head,
  char: string,
  { length, into }: Reading,
): Matched | undefined {
  const token = tokens[thread.token]
  if (typeof token !== 'string' || token[thread.count] !== plain(char)) return undefined
  thread.count++
  if (thread.count === token.length) {
    thread.token++
    thread.count = 0
    const { name, follows } = thread
    if (thread.token === tokens.length)
      return { format, name, follows: follows < 0 ? length + 1 : follows }
  }
  into.push(thread)
  return undefined
}
