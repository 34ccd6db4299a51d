import { advanceJson, type JsonProgress, startJson } from '../../kit/json/json.ts'
import type { Emit } from '../../protocol.ts'
import { type Call, readCut, readMembers, readPairs, readValue, type Tools } from './calls.ts'
import { type Format, formats } from './formats.ts'
import {
  advance,
  beginningsOf,
  type Matched,
  mayBegin,
  openingsAt,
  plain,
  type Thread,
  threadsFrom,
} from './heads.ts'

/** Text that is none of a call, or a call. */
export type Piece = { text: string } | { call: Call }

/**
 * Finds the calls in one text that arrives in chunks, cut anywhere. Each character is looked at a
 * bounded number of times. Plain data.
 *
 * `place`: at the start of the text, right after a call, or elsewhere. `lead`: white space that is
 * held back there. `held`: what may be a call, from its first character on. `mark`: the same, as
 * far as it is the beginning of an opening; `threads`: heads that it may be; `closing`: the same as
 * far as it may end the call before. `closed`: of the ends of that call, those that have come.
 * `body`: what follows the head. `pending`: calls that count only if no other text follows, and
 * their text. `salvaged`: how many calls without an end were cut out of the text.
 */
export type Scan = {
  place: 'start' | 'after' | 'inside'
  lead: string
  held: string
  mark: string | undefined
  threads: Thread[]
  closing: string | undefined
  last: { format: number; closed: number }
  body: Body | undefined
  pending: { text: string; calls: Call[] } | undefined
  salvaged: number
  isOver: boolean
}

/**
 * `from`: where it begins in `held`; `begins`: behind white space. `kind` is undefined until its
 * first character is known. `tail`: the end of what has come, in which the end of the pairs may
 * begin.
 */
type Body = {
  format: number
  name: string
  from: number
  begins: number
  kind: 'member' | 'value' | 'pairs' | undefined
  json: JsonProgress
  tail: string
}

/** A longer call is taken for text. In UTF-16 units. */
const longestCall = 4 * 1024 * 1024
/** White space before a call is held back up to this length. */
const mostLead = 64
/** After so many calls without an end the rest is text. */
const mostSalvaged = 8

export function startScan(): Scan {
  return {
    place: 'start',
    lead: '',
    held: '',
    mark: undefined,
    threads: [],
    closing: undefined,
    last: { format: -1, closed: 0 },
    body: undefined,
    pending: undefined,
    salvaged: 0,
    isOver: false,
  }
}

const nextMarker = mayBegin('g')
const marker = mayBegin()
const isSpace = (char: string) => char.trim() === ''

/** May text without a marker be passed on without `scan`? */
export const isCalm = ({ place, held, pending, isOver }: Scan): boolean =>
  isOver || (place === 'inside' && held === '' && !pending)

/** Most deltas are short, and for these a look at each character is the fastest. */
export function mayHoldMarker(text: string): boolean {
  if (text.length > 24)
    return (text.includes('<') || text.includes('[') || text.includes('`')) && marker.test(text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x3c || code === 0x5b || code === 0x60) return marker.test(text)
  }
  return false
}

/** Has nothing come yet? */
export const isUnread = ({ place, lead, held }: Scan): boolean =>
  place === 'start' && lead === '' && held === ''

/** Reads a chunk. */
export function scan(state: Scan, text: string, tools: Tools, emit: Emit<Piece>): void {
  for (let at = 0; at < text.length; ) {
    if (state.isOver) {
      emit({ text: text.slice(at) })
      return
    }
    if (state.body) at = readBody(state, state.body, { text, at, tools }, emit)
    else if (state.held !== '') {
      readHead(state, text.charAt(at), tools, emit)
      at++
    } else at = readText(state, { text, at }, emit)
  }
}

/** The text has ended. A call that has not is emitted with `completed`. */
export function endScan(state: Scan, tools: Tools, emit: Emit<Piece>): void {
  if (state.body) endBody(state, state.body, tools, emit)
  else if (state.held !== '') {
    // A closing tag without its last characters belongs to the call before it.
    if (state.closing === undefined) say(state, state.held, emit)
  }
  state.held = ''
  if (state.place === 'start' && state.lead !== '') emit({ text: state.lead })
  state.lead = ''
  settle(state, emit)
}

/** The calls count, that were to count if no text follows. */
function settle(state: Scan, emit: Emit<Piece>): void {
  for (const call of state.pending?.calls ?? []) emit({ call })
  state.pending = undefined
}

function say(state: Scan, text: string, emit: Emit<Piece>): void {
  if (text === '') return
  const before = (state.pending?.text ?? '') + state.lead
  state.pending = undefined
  state.lead = ''
  state.place = 'inside'
  emit({ text: before + text })
}

type Chunk = { text: string; at: number }

/** Passes on what is no call for certain. Returns the place of the next character to look at. */
function readText(state: Scan, { text, at }: Chunk, emit: Emit<Piece>): number {
  const char = text.charAt(at)
  if (state.place !== 'inside') {
    if (isSpace(char)) {
      state.lead += char
      if (state.lead.length > mostLead) say(state, takeLead(state), emit)
      return at + 1
    }
    if (begin(state, char)) return at + 1
    say(state, char, emit)
    return at + 1
  }
  nextMarker.lastIndex = at
  const found = nextMarker.exec(text)?.index ?? text.length
  say(state, text.slice(at, found), emit)
  if (found === text.length || begin(state, text.charAt(found))) return found + 1
  say(state, text.charAt(found), emit)
  return found + 1
}

function takeLead(state: Scan): string {
  const { lead } = state
  state.lead = ''
  return lead
}

/** Begins to hold back, if the character may be the first one of a call. */
function begin(state: Scan, char: string): boolean {
  const isOpening = openingsOf(state).beginnings.has(plain(char))
  const isClosing = closingsOf(state)?.beginnings.has(plain(char)) === true
  if (!isOpening && !isClosing) return false
  state.mark = ''
  state.closing = isClosing ? '' : undefined
  state.threads = []
  return hold(state, char)
}

/** A call of JSON may follow one of JSON without an opening of its own. */
const openingsOf = ({ place, last }: Scan) =>
  openingsAt(
    place === 'start' || (place === 'after' && formats[last.format]?.arguments === 'member'),
  )

const endings = formats.map(format => {
  const ends = format.ends.map(end => Array.from(end, plain).join(''))
  return { ends, beginnings: ends.map((_, closed) => beginningsOf(ends.slice(closed))) }
})

function closingsOf({ place, last: { format, closed } }: Scan) {
  const { ends, beginnings } = endings[format] ?? {}
  const left = beginnings?.[closed]
  return place === 'after' && ends && left ? { ends, beginnings: left } : undefined
}

/** Adds a character to what is held. True: it may still be a call, or the end of one. */
function hold(state: Scan, char: string): boolean {
  const openings = openingsOf(state)
  state.held += char
  if (state.mark !== undefined) {
    const longer = state.mark + plain(char)
    state.mark = openings.beginnings.has(longer) ? longer : undefined
    if (state.mark !== undefined) state.threads.push(...threadsFrom(openings, longer))
  }
  if (state.closing !== undefined) {
    const longer = state.closing + plain(char)
    const closings = closingsOf(state)
    const end = closings?.ends.indexOf(longer, state.last.closed) ?? -1
    state.closing = closings?.beginnings.has(longer) ? longer : undefined
    if (end >= 0) {
      passEnd(state, end)
      return true
    }
  }
  return state.mark !== undefined || state.closing !== undefined || state.threads.length > 0
}

/** Leaves out the end of the call before. */
function passEnd(state: Scan, end: number): void {
  if (state.pending) state.pending.text += state.lead + state.held
  state.last.closed = end + 1
  release(state)
  state.lead = ''
}

function release(state: Scan): void {
  state.held = ''
  state.mark = undefined
  state.closing = undefined
  state.threads = []
}

function readHead(state: Scan, char: string, tools: Tools, emit: Emit<Piece>): void {
  const { length } = state.held
  const into: Thread[] = []
  let matched: Matched | undefined
  for (const thread of state.threads)
    matched ??= advance(thread, char, { length, names: tools.names, into })
  state.threads = into
  const isHeld = hold(state, char)
  if (matched) {
    begun(state, matched, tools, emit)
    return
  }
  if (isHeld) return
  // It is none: its first character is text, and a call may begin behind it.
  const { held } = state
  release(state)
  say(state, held.charAt(0), emit)
  scan(state, held.slice(1), tools, emit)
}

function begun(
  state: Scan,
  { format, name, follows }: Matched,
  tools: Tools,
  emit: Emit<Piece>,
): void {
  const { held } = state
  release(state)
  state.held = held.slice(0, follows)
  state.body = {
    format,
    name,
    from: follows,
    begins: follows,
    kind: undefined,
    json: startJson(),
    tail: '',
  }
  scan(state, held.slice(follows), tools, emit)
}

type Reading = Chunk & { tools: Tools }

/** Reads on in what follows a head. Returns the place behind it, or the end of the chunk. */
function readBody(state: Scan, body: Body, reading: Reading, emit: Emit<Piece>): number {
  const { text, at, tools } = reading
  const format = formats[body.format]
  if (!format) return text.length
  if (body.kind === undefined) {
    const char = text.charAt(at)
    if (isSpace(char)) {
      state.held += char
      return at + 1
    }
    body.kind = kindOf(format, char)
    body.begins = state.held.length
    if (body.kind === undefined) {
      giveUp(state, emit)
      return at
    }
  }
  if (state.held.length + text.length - at > longestCall) {
    giveUp(state, emit)
    return at
  }
  const end =
    body.kind === 'pairs' ? endOfPairs(state, body, format, reading) : endOfJson(body, reading)
  if (end === undefined) {
    state.held += text.slice(at)
    return text.length
  }
  state.held += text.slice(at, end)
  finish(state, body, format, tools, emit)
  return end
}

/** How the arguments are written, by their first character. Undefined: they are none. */
function kindOf({ arguments: kind, pairs, ends }: Format, char: string): Body['kind'] {
  if (kind === 'member') return kind
  if (char === '{' || char === '"') return 'value'
  const isTag = pairs?.open.startsWith(char) || ends[0]?.startsWith(char)
  return isTag ? 'pairs' : undefined
}

/** Where the JSON value ends in the chunk. */
function endOfJson({ json }: Body, { text, at }: Chunk): number | undefined {
  const end = advanceJson(json, at === 0 ? text : text.slice(at))
  return json.whole ? at + end : undefined
}

/** Where the pairs end in the chunk, with the text that ends them. */
function endOfPairs(
  { held }: Scan,
  body: Body,
  { pairs, ends }: Format,
  { text, at }: Chunk,
): number | undefined {
  const [end = ''] = ends
  const { tail } = body
  const isFirst = held.length - body.begins <= tail.length
  const isEnd = (before: string) => {
    const known = before.slice(-mostTail).trimEnd()
    // Else it stands inside of a value.
    return (pairs !== undefined && known.endsWith(pairs.close)) || (isFirst && known === '')
  }
  // One that begins in the chunk before.
  const border = tail + text.slice(at, at + end.length - 1)
  const early = border.indexOf(end, Math.max(0, tail.length - end.length + 1))
  if (early >= 0 && isEnd(border.slice(0, early))) return at + early + end.length - tail.length
  for (let found = text.indexOf(end, at); found >= 0; found = text.indexOf(end, found + 1)) {
    const near = text.slice(Math.max(at, found - mostTail), found)
    if (isEnd(near.length < mostTail ? tail + near : near)) return found + end.length
  }
  body.tail = (tail + text.slice(Math.max(at, text.length - mostTail))).slice(-mostTail)
  return undefined
}

const mostTail = 128

/** The call is complete. */
function finish(state: Scan, body: Body, format: Format, tools: Tools, emit: Emit<Piece>): void {
  const calls = callsOf(state.held.slice(body.from), body, format, tools)
  if (!calls) {
    giveUp(state, emit)
    return
  }
  take(state, body, calls, emit)
  if (body.kind === 'pairs') state.last.closed = 1
}

function callsOf(
  text: string,
  { kind, name }: Body,
  format: Format,
  tools: Tools,
): Call[] | undefined {
  if (kind === 'member') return readMembers(text, tools, format.alone === true)
  const input = kind === 'value' ? readValue(text) : readPairs(text, format, tools.schemas[name])
  return [{ name, input }]
}

function take(state: Scan, { format }: Body, calls: Call[], emit: Emit<Piece>): void {
  const { held, lead, pending, place, last } = state
  // JSON behind a call of another form is one more call of it.
  const isMore = place === 'after' && formats[last.format]?.alone !== true
  const isAlone = formats[format]?.alone === true && !isMore
  state.body = undefined
  release(state)
  state.lead = ''
  state.place = 'after'
  state.last = { format: formats[format]?.alone && isMore ? last.format : format, closed: 0 }
  if (isAlone) {
    state.pending = pending ?? { text: '', calls: [] }
    state.pending.text += lead + held
    for (const call of calls) state.pending.calls.push(call)
    return
  }
  settle(state, emit)
  for (const call of calls) emit({ call })
}

/** What was held is text after all. */
function giveUp(state: Scan, emit: Emit<Piece>): void {
  const { held } = state
  state.body = undefined
  release(state)
  say(state, held, emit)
}

/** The text ended inside of a call: up to its end it may still be one with broken JSON. */
function endBody(state: Scan, body: Body, tools: Tools, emit: Emit<Piece>): void {
  const format = formats[body.format]
  const text = state.held.slice(body.from)
  const closing = format?.ends.find(end => end.length > 1 && text.includes(end))
  if (!format || closing === undefined || state.salvaged >= mostSalvaged) {
    endCut(state, body, { text, tools }, emit)
    return
  }
  const end = text.indexOf(closing)
  state.salvaged++
  const calls = callsOf(text.slice(0, end), body, format, tools)
  if (!calls) {
    giveUp(state, emit)
    return
  }
  take(state, body, calls, emit)
  scan(state, text.slice(end + closing.length), tools, emit)
  endScan(state, tools, emit)
}

/** The text ended before the call did. JSON that is not known to be a call stays text. */
function endCut(
  state: Scan,
  body: Body,
  { text, tools }: { text: string; tools: Tools },
  emit: Emit<Piece>,
): void {
  const format = formats[body.format]
  if (!format || body.name === '' || format.alone) {
    giveUp(state, emit)
    return
  }
  const { name, kind } = body
  const cut = readCut(text, kind ?? format.arguments, format, tools.schemas[name])
  take(state, body, [{ name, ...cut }], emit)
}
