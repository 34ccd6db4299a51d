import { codeAt, isClosing, isSpace, nextToken, openList, startScan } from '../kit/json/scan.ts'
import { searchable } from './bytes.ts'

const lf = 0x0a
const cr = 0x0d

type Chunk = string | Uint8Array

/**
 * Finds where frames of text/event-stream end, in bytes or text that is cut anywhere. A blank line
 * ends a frame, and blank lines in a row are one frame; LF, CRLF or CR ends a line. A stream that
 * begins with `[` is one JSON list: each element counts as a frame, and so does the bracket that
 * closes the list.
 *
 * What passes or is watched is split as bytes. What is translated is split as text, since decoding
 * once per chunk is faster.
 */
export class FrameSplitter {
  /** Set once the stream is known to be a list. */
  list: { isEmpty: boolean; isClosed: boolean } | undefined
  readonly #scan = startScan()
  #hasBegun = false
  /** False at the very beginning, where a blank line ends nothing. */
  #isLineStart = false
  /** The frame has nothing but line ends so far. */
  #isEmpty = true
  /** What the CR ended with which the chunk before ended: its LF may follow. */
  #endedByCr: 'nothing' | 'line' | 'frame' = 'nothing'
  /** The chunk that is read, and the positions of its next CR and LF. -1: it has none. */
  #chunk: Chunk | undefined
  #searched: Chunk = ''
  #cr = -1
  #lf = -1

  /**
   * The end of the first frame that ends after `from`, which is where the one before ended. -1:
   * none does, and the whole chunk was read.
   */
  next(chunk: Chunk, from: number): number {
    if (!this.list && (chunk !== this.#chunk || from === 0)) this.#startChunk(chunk)
    if (this.list) return this.#nextElement(chunk, from, this.list)
    const end = this.#nextBlankLine(this.#searched, from)
    // An idle stream does not keep its last chunk.
    if (end < 0 || end === chunk.length) this.#chunk = this.#searched = ''
    return end
  }

  #startChunk(chunk: Chunk): void {
    // Once for each chunk: it may have many blank lines in front.
    if (!this.#hasBegun) this.#begin(chunk)
    if (this.list) return
    this.#chunk = chunk
    this.#searched = typeof chunk === 'string' ? chunk : searchable(chunk)
    this.#cr = find(this.#searched, cr, 0)
    this.#lf = find(this.#searched, lf, 0)
  }

  #nextBlankLine(chunk: Chunk, from: number): number {
    let at = from
    if (this.#endedByCr !== 'nothing' && at < chunk.length) {
      const ended = this.#endedByCr
      this.#endedByCr = 'nothing'
      if (codeAt(chunk, at) === lf) {
        at++
        if (ended === 'frame') return at
      }
    }
    while (at < chunk.length) {
      if (this.#cr >= 0 && this.#cr < at) this.#cr = find(chunk, cr, at)
      // Looking at one character is faster than a call of `indexOf`, and half of all lines are
      // blank.
      if (this.#lf >= 0 && this.#lf < at)
        this.#lf = codeAt(chunk, at) === lf ? at : find(chunk, lf, at)
      let end = this.#lf
      const isCr = this.#cr >= 0 && (end < 0 || this.#cr < end)
      if (isCr) end = this.#cr
      const isBlank = end === at && this.#isLineStart
      if (end !== at) this.#isEmpty = false
      this.#isLineStart = end >= 0
      if (end < 0) return -1
      at = end + 1
      if (isCr && at === chunk.length) this.#endedByCr = isBlank ? 'frame' : 'line'
      else if (isCr && codeAt(chunk, at) === lf) at++
      if (isBlank) return this.#isEmpty ? this.#endOfBlank(chunk, at) : this.#endFrame(at)
    }
    return -1
  }

  #endFrame(at: number): number {
    this.#isEmpty = true
    return at
  }

  /** Blank lines in a row are one frame: each by itself would take a hundred times as long. */
  #endOfBlank(chunk: Chunk, from: number): number {
    let at = from
    while (at < chunk.length && isLineEnd(codeAt(chunk, at))) at++
    if (at > from && at === chunk.length && codeAt(chunk, at - 1) === cr) this.#endedByCr = 'frame'
    return at
  }

  #nextElement(chunk: Chunk, from: number, list: { isEmpty: boolean; isClosed: boolean }): number {
    const scan = this.#scan
    for (let at = nextToken(scan, chunk, from); at >= 0; at = nextToken(scan, chunk, at)) {
      if (!isClosing(scan.token) || scan.depth > 1) continue
      if (scan.depth === 1) list.isEmpty = false
      else list.isClosed = true
      return at
    }
    return -1
  }

  /** Looks for the first character that is neither white space nor of a byte order mark. */
  #begin(chunk: Chunk): void {
    for (let at = 0; at < chunk.length; at++) {
      const code = codeAt(chunk, at)
      if (isSpace(code) || isOfMark(code)) continue
      this.#hasBegun = true
      if (code === openList) this.list = { isEmpty: true, isClosed: false }
      return
    }
  }
}

const find = (chunk: Chunk, code: number, from: number) =>
  typeof chunk === 'string'
    ? chunk.indexOf(code === lf ? '\n' : '\r', from)
    : chunk.indexOf(code, from)

const isLineEnd = (code: number) => code === lf || code === cr

const isOfMark = (code: number) =>
  code === 0xfeff || code === 0xef || code === 0xbb || code === 0xbf

/** The frames of a complete text. What is left after the last blank line comes last. */
export function* framesIn(bytes: Uint8Array): Generator<Uint8Array> {
  const splitter = new FrameSplitter()
  for (let from = 0; from < bytes.length; ) {
    const end = splitter.next(bytes, from)
    yield bytes.subarray(from, end < 0 ? bytes.length : end)
    from = end < 0 ? bytes.length : end
  }
}

/** The end of the last whole frame of a text, or 0. */
export function endOfFrames(bytes: Uint8Array): number {
  const splitter = new FrameSplitter()
  let last = 0
  for (let end = splitter.next(bytes, 0); end >= 0; end = splitter.next(bytes, end)) last = end
  return last
}
