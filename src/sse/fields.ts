import { createParser } from 'eventsource-parser'
import { isClosing, isOpening, nextToken, startScan } from '../kit/json/scan.ts'
import { parseData } from './data.ts'

/** `bare`: JSON without a field name, which most clients do not read. */
export type Frame = { event?: string; data: string; id?: string; bare?: true }

export type OnFrame = (frame: Frame) => void

/** The longest frame, in UTF-16 units: events may contain images. */
export const defaultMaxLength = 64 * 1024 * 1024

/**
 * Reads the fields of frames, whose ends are known. The value of a field `error`, in which some
 * servers send errors, becomes a frame of its own. So does a bare JSON object, on one line or
 * several: Google's servers report an error in mid-stream this way.
 */
export class FrameFields {
  readonly #onFrame: OnFrame
  readonly #maxLength: number
  readonly #parser = createParser({
    onEvent: ({ event, data, id }) => {
      this.#bare = undefined
      const frame: Frame = event === undefined ? { data } : { event, data }
      if (id !== undefined) frame.id = id
      this.#onFrame(frame)
    },
    onError: ({ type, field, value, line }) => {
      if (type !== 'unknown-field') return
      if (field === 'error' && value !== undefined)
        this.#onFrame({ event: 'error', data: `{"error":${value}}` })
      else if (line !== undefined) this.#takeBareLine(line)
    },
  })
  #pending = 0
  /** The text before ended with a CR, whose LF may follow. */
  #endedByCr = false
  #hasBegun = false
  /** The bare JSON object that is open. */
  #bare: JsonItems | undefined
  /** Of a stream that is one JSON list. */
  #items: JsonItems | undefined

  /** `maxLength`: see `take`. */
  constructor(onFrame: OnFrame, maxLength = defaultMaxLength) {
    this.#onFrame = onFrame
    this.#maxLength = maxLength
  }

  /**
   * Takes the next text of a frame. `isEnd`: the frame ends with it. `isList`: the stream is a JSON
   * list.
   * @throws RangeError when one frame grows past `maxLength` UTF-16 units
   */
  take(given: string, isEnd: boolean, isList: boolean): void {
    const text = this.#hasBegun || !given.startsWith('\ufeff') ? given : given.slice(1)
    this.#hasBegun ||= given !== ''
    if (isList) {
      this.#items ??= new JsonItems(data => this.#onFrame({ data }), this.#maxLength)
      this.#items.take(text)
      return
    }
    this.#measure(text, isEnd)
    this.#parser.feed(this.#withLf(text))
  }

  /**
   * The text with each line end as LF. The parser would wait for the LF of a last CR, and look for
   * a far CR again at each line.
   */
  #withLf(text: string): string {
    const isCut = this.#endedByCr && text.charCodeAt(0) === lf
    if (text !== '') this.#endedByCr = text.charCodeAt(text.length - 1) === cr
    const rest = isCut ? text.slice(1) : text
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest
  }

  /** The stream has ended: a last frame without a blank line still counts. */
  end(): void {
    this.#parser.feed('\n\n')
  }

  /**
   * Counts the frame without blank lines around it, of which the LF of a CRLF may have been cut
   * off.
   */
  #measure(text: string, isEnd: boolean): void {
    if (this.#pending === 0 && isLineEnd(text, 0) && isBlank(text)) return
    const before = this.#pending === 0 && isLineEnd(text, 0) ? 1 : 0
    const behind = isEnd ? lengthOfLineEnd(text) : 0
    const length = this.#pending + text.length - before - behind
    if (length > this.#maxLength) throw tooLong(this.#maxLength)
    this.#pending = isEnd ? 0 : length
  }

  #takeBareLine(given: string): void {
    // Some of these errors are the only item of a list.
    const line = this.#bare ? given : given.trimStart().replace(/^\[/, '').trimStart()
    if (!this.#bare) {
      if (!line.startsWith('{')) return
      this.#bare = new JsonItems(data => {
        this.#bare = undefined
        if (parseData(data) !== undefined) this.#onFrame({ data, bare: true })
      }, this.#maxLength)
      this.#bare.take('[')
    }
    this.#bare.take(`${line}\n`)
  }
}

const tooLong = (maxLength: number) => new RangeError(`a frame is longer than ${maxLength}`)

// Comparing codes is faster than `endsWith` and `startsWith`, once per frame.
const lf = 0x0a
const cr = 0x0d

const isLineEnd = (text: string, at: number) =>
  text.charCodeAt(at) === lf || text.charCodeAt(at) === cr

const isBlank = (text: string) => /^[\r\n]*$/.test(text)

/** Of the line end that a text ends with. */
const lengthOfLineEnd = (text: string) =>
  text.charCodeAt(text.length - 1) === lf && text.charCodeAt(text.length - 2) === cr ? 2 : 1

/** The JSON text of each item of a list. What is between and after the items is ignored. */
class JsonItems {
  readonly #onItem: (json: string) => void
  readonly #maxLength: number
  readonly #scan = startScan()
  #item = ''

  constructor(onItem: (json: string) => void, maxLength: number) {
    this.#onItem = onItem
    this.#maxLength = maxLength
  }

  /** @throws RangeError when an item is longer than the limit */
  take(text: string): void {
    const scan = this.#scan
    // Items are inside the list, so they begin at depth 2.
    let start = scan.depth > 1 ? 0 : -1
    for (let at = nextToken(scan, text, 0); at >= 0; at = nextToken(scan, text, at)) {
      if (scan.depth === 2 && isOpening(scan.token) && start < 0) start = scan.start
      if (scan.depth !== 1 || !isClosing(scan.token)) continue
      this.#add(text.slice(start, at))
      start = -1
      const item = this.#item
      this.#item = ''
      this.#onItem(item)
    }
    if (start >= 0) this.#add(text.slice(start))
  }

  #add(text: string): void {
    this.#item += text
    if (this.#item.length > this.#maxLength) throw tooLong(this.#maxLength)
  }
}
