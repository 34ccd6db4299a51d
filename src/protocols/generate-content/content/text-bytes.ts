/**
 * A text of the response, to which offsets of citations refer. `place`: its index among the parts
 * of the content. `fresh`: what a stream has added to it since `read`. Plain data.
 */
export type TextAtPart = { text: string; place: number; fresh?: string[]; read?: TextBytes }

/**
 * A text in UTF-8, in the first `length` bytes. `before`: the bytes of the texts before it.
 * `points`: for each byte, the number of code points that begin before it. They are kept, because
 * each of many citations would count them again.
 */
type TextBytes = { before: number; length: number; bytes: Uint8Array; points: Uint32Array }

const encoder = new TextEncoder()

/** The same texts, read as far as they have come. */
export function readTexts(texts: readonly TextAtPart[]): (TextAtPart & { read: TextBytes })[] {
  let first = texts.length
  while (first > 0 && !isRead(texts[first - 1])) first--
  for (let nth = first; nth < texts.length; nth++) {
    const { before = 0, length = 0 } = texts[nth - 1]?.read ?? {}
    const text = texts[nth]
    if (text) readOn(text, before + length)
  }
  return texts as (TextAtPart & { read: TextBytes })[]
}

const isRead = (text: TextAtPart | undefined) => text?.read && !text.fresh?.length

function readOn(text: TextAtPart, before: number): void {
  const read = text.read ?? {
    before,
    length: 0,
    bytes: new Uint8Array(0),
    points: new Uint32Array(1),
  }
  const added = encoder.encode(text.read ? text.fresh?.join('') : text.text)
  text.read = read
  text.fresh = []
  const length = read.length + added.length
  if (length > read.bytes.length) {
    const room = read.length === 0 ? length : 2 * length
    read.bytes = larger(read.bytes, new Uint8Array(room))
    read.points = larger(read.points, new Uint32Array(room + 1))
  }
  read.bytes.set(added, read.length)
  for (let at = read.length; at < length; at++)
    read.points[at + 1] = (read.points[at] ?? 0) + (isContinuation(read.bytes[at]) ? 0 : 1)
  read.length = length
}

function larger<List extends Uint8Array | Uint32Array>(list: List, into: List): List {
  into.set(list)
  return into
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** Is the place inside of a character? */
export const isInside = ({ bytes, length }: TextBytes, offset: number) =>
  offset < length && isContinuation(bytes[offset])

/** Whole code points before a byte. */
export function pointsBefore(read: TextBytes, offset: number): number {
  const points = read.points[offset] ?? 0
  return isInside(read, offset) ? points - 1 : points
}

/** The last text that fits: those that fit come before those that do not. -1: none. */
export function lastThat(
  texts: readonly TextAtPart[],
  fits: (text: TextAtPart) => boolean,
): number {
  let low = 0
  let high = texts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(texts[middle] as TextAtPart)) low = middle + 1
    else high = middle
  }
  return low - 1
}
