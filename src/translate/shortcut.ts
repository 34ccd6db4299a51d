import type { CanonicalEvent, PartDelta } from '../canonical/event.ts'
import {
  backslash,
  colon,
  comma,
  endOfLiteral,
  nextToken,
  quote,
  startScan,
  word,
} from '../kit/json/scan.ts'
import type { Shortcut } from '../protocol.ts'
import { escapeLineSeparators, isLineSeparator } from '../sse/line-separators.ts'

/**
 * A frame that became one text delta, without its text. A next frame that differs from it only
 * there becomes the same delta with another text, and need not be parsed: nearly every frame of a
 * text stream. `fragments`: the constant text around the `slots`. `delta` and `literal` (its text
 * as JSON) are overwritten for each frame, so that no objects are allocated.
 */
export type Form = { fragments: string[]; slots: Slot[]; delta: TextDelta; literal: string }

/** What is at a place where frames of one form differ. `padding`: a value that is not read. */
type Slot = 'text' | 'padding'

export type TextDelta = PartDelta & { delta: { text: string } }

export const copied = (delta: TextDelta): TextDelta => ({ ...delta, delta: { ...delta.delta } })

export function isTextDelta(event: CanonicalEvent): event is TextDelta {
  return event.type === 'part.delta' && 'text' in event.delta
}

/** In UTF-16 units. Longer frames are rare, and parsing them is cheap for their length. */
const longest = 16_384

const beforeData = /^(?:event: ?[^\r\n]*\r?\n)?data: ?(?=\{)/
const lineEnd = /[\r\n]/g

/**
 * Where the data of a frame begins. Undefined: it has several lines, or the frame has other fields.
 */
function dataOf(frame: string): number | undefined {
  const start = beforeData.exec(frame)?.[0].length
  if (start === undefined) return undefined
  lineEnd.lastIndex = start
  const end = lineEnd.exec(frame)?.index
  return end !== undefined && ['\n\n', '\r\n\r\n'].includes(frame.slice(end)) ? start : undefined
}

/**
 * The form of a frame that became this delta and nothing else. Undefined: the place of its text is
 * ambiguous.
 */
export function formOf(
  frame: string,
  delta: TextDelta,
  { text, padding }: Pick<Shortcut, 'text' | 'padding'>,
): Form | undefined {
  if (frame.length > longest || delta.delta.text === '') return undefined
  const start = dataOf(frame)
  if (start === undefined) return undefined
  const form: Form = { fragments: [], slots: [], delta, literal: '' }
  let from = 0
  const texts: string[] = []
  let found: string | undefined
  const leaveOut = (slot: Slot, begin: number, end: number) => {
    form.fragments.push(frame.slice(from, begin))
    form.slots.push(slot)
    from = end
  }
  for (const { key, depth, begin, end } of scalarsOf(frame, start)) {
    if (text.has(key)) texts.push(key)
    if (
      text.has(key) &&
      frame[begin] === '"' &&
      JSON.parse(frame.slice(begin, end)) === delta.delta.text
    ) {
      if (found !== undefined) return undefined
      found = key
      leaveOut('text', begin, end)
    } else if (depth === 1 && padding.has(key)) leaveOut('padding', begin, end)
  }
  // With two text fields of one name, the decoder may also act on the other one, even when it is
  // empty.
  if (found === undefined || texts.filter(key => key === found).length > 1) return undefined
  form.fragments.push(frame.slice(from))
  return form
}

type Scalar = { key: string; depth: number; begin: number; end: number }

/** All strings and numbers that are values of a key, at any depth. */
function* scalarsOf(text: string, start: number): Generator<Scalar> {
  const scan = startScan()
  let key: string | undefined
  for (let end = nextToken(scan, text, start); end >= 0; end = nextToken(scan, text, end)) {
    const { token, separator, depth, start: begin } = scan
    const isString = token === quote
    if (separator !== colon) key = isString ? text.slice(begin + 1, end - 1) : undefined
    else if (
      key !== undefined &&
      (isString || (token === word && beginsNumber.test(text.slice(begin, end))))
    )
      yield { key, depth, begin, end }
  }
}

const beginsNumber = /^-?\d/
const anyNumber = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Reads the frame at this place into `form`. For frames in text: comparing bytes (`byte-form.ts`)
 * and decoding each delta takes twice as long where all of them are decoded.
 *
 * Returns where the next frame begins; undefined: the frame has another form, or no text.
 */
export function matchForm(form: Form, text: string, at: number): number | undefined {
  const { fragments, slots } = form
  let begin = at
  let behind = at
  let isPlain = false
  let place = at
  for (let i = 0; i < slots.length; i++) {
    const fragment = fragments[i] ?? ''
    if (!isAt(text, place, fragment)) return undefined
    place += fragment.length
    // When the delta is not a string, the decoder has to take the frame.
    const isText = slots[i] === 'text'
    const plain = isText ? endOfPlain(text, place) : -1
    let end = plain
    if (plain < 0) {
      const isLiteral = isText || text.charCodeAt(place) === quote
      end = isLiteral ? endOfLiteral(text, place) : endOfNumber(text, place)
    }
    if (end < 0) return undefined
    if (isText) {
      begin = place
      behind = end
      isPlain = plain >= 0
    }
    place = end
  }
  const last = fragments[slots.length] ?? ''
  if (!isAt(text, place, last) || behind - begin <= 2) return undefined
  const literal = text.slice(begin, behind)
  takeLiteral(form, literal, isPlain)
  return place + last.length
}

/**
 * The end of the literal that begins here, if it has no escapes and needs none. Negative: it has or
 * needs some, or there is no literal.
 */
function endOfPlain(text: string, from: number): number {
  if (text.charCodeAt(from) !== quote) return -1
  for (let at = from + 1; ; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    // Also where the text is over.
    if (!(code >= 0x20) || code === backslash || isLineSeparator(code)) return -1
  }
}

/**
 * As `startsWith`, which V8 does letter by letter: 30 ns instead of 200 for a default chunk.
 * `indexOf` is quicker where little text is left for it to search.
 */
const isAt = (text: string, at: number, fragment: string) =>
  text.length - at < 4096
    ? text.indexOf(fragment, at) === at
    : text.slice(at, at + fragment.length) === fragment

function endOfNumber(text: string, at: number): number {
  let end = at
  while (isDigit(text.charCodeAt(end))) end++
  // The common case: an integer.
  if (end > at && text.charCodeAt(at) !== 0x30 && text.charCodeAt(end) === comma) return end
  anyNumber.lastIndex = at
  return anyNumber.test(text) ? anyNumber.lastIndex : -1
}

const isDigit = (char: number) => char >= 0x30 && char <= 0x39

/** Puts the text of the next frame, as JSON, into the form. `isPlain`: see `endOfPlain`. */
function takeLiteral(form: Form, literal: string, isPlain: boolean): void {
  const { delta } = form.delta
  const isEscaped = !isPlain && literal.includes('\\')
  delta.text = isEscaped ? (JSON.parse(literal) as string) : literal.slice(1, -1)
  form.literal = isPlain
    ? literal
    : escapeLineSeparators(
        isEscaped && /\\[/u]/.test(literal) ? JSON.stringify(delta.text) : literal,
      )
}
