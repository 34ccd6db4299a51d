import { createParser } from 'eventsource-parser'
import { createArrayParser } from './array.ts'
import { parseData } from './data.ts'
import { createTextReader } from './text.ts'

/** `bare`: JSON without a field name, which most clients do not read. */
export type Frame = { event?: string; data: string; bare?: true }

export type FrameParser = {
  /** The split of the bytes into chunks does not matter. */
  push(chunk: Uint8Array | string): void
  /** The source has ended; a last frame without a blank line still counts. */
  end(): void
}

/**
 * text/event-stream → frames. Takes CR, LF and CRLF, comments, several `data:` lines, a byte order mark, and UTF-8 cut anywhere.
 * The value of a field `error`, in which some servers send errors, becomes a frame of its own. So does a bare JSON object, on one line or
 * several: Google's servers report an error in mid-stream this way. A stream that begins with `[` is one JSON list, and its items become frames.
 * @throws RangeError when one frame grows past `maxLength` UTF-16 units
 *
 * Long because its functions share the state of one stream.
 */
export function createFrameParser(onFrame: (frame: Frame) => void, { maxLength = 64 * 1024 * 1024 } = {}): FrameParser {
  const reader = createTextReader()
  let pending = 0
  let begun = false
  /** A CR at the end of a chunk, which may be half of a CRLF: the parser does not handle a cut there. */
  let cr = ''
  const tooLong = () => new RangeError(`a frame is longer than ${maxLength}`)
  /** Takes the lines of a bare JSON object. Undefined: none is open. */
  let feedBare: ((line: string) => void) | undefined
  const takeBareLine = (given: string) => {
    // Some of these errors are the only item of a list.
    const line = feedBare ? given : given.trimStart().replace(/^\[/, '').trimStart()
    if (!feedBare) {
      if (!line.startsWith('{')) return
      feedBare = createArrayParser(
        data => {
          feedBare = undefined
          if (parseData(data) !== undefined) onFrame({ data, bare: true })
        },
        length => {
          if (length > maxLength) throw tooLong()
        },
      )
      feedBare('[')
    }
    feedBare(`${line}\n`)
  }
  const parser = createParser({
    onEvent: ({ event, data }) => {
      feedBare = undefined
      onFrame(event === undefined ? { data } : { event, data })
    },
    onError: ({ type, field, value, line }) => {
      if (type !== 'unknown-field') return
      if (field === 'error' && value !== undefined) onFrame({ event: 'error', data: `{"error":${value}}` })
      else if (line !== undefined) takeBareLine(line)
    },
  })
  let before = '\n'
  /** Feeds line by line, so that many short frames in one chunk are not counted as one long frame. */
  const feedLines = (text: string) => {
    for (const line of text.split(/(?<=\n|\r(?!\n))/)) {
      const isBlank = /^[\r\n]/.test(line) && /[\r\n]/.test(before)
      const length = isBlank ? 0 : pending + line.length
      if (length > maxLength) throw tooLong()
      parser.feed(line)
      pending = length
      before = line.slice(-1)
    }
  }
  let feedArray: ((text: string) => void) | undefined
  const feed = (given: string) => {
    const text = cr + given
    cr = ''
    const unmarked = !begun && text.startsWith('\uFEFF') ? text.slice(1) : text
    if (!begun && unmarked.trimStart().startsWith('['))
      feedArray = createArrayParser(
        data => onFrame({ data }),
        length => {
          if (length > maxLength) throw tooLong()
        },
      )
    if (feedArray) feedArray(unmarked)
    else if (pending + unmarked.length > maxLength) feedLines(unmarked)
    else if (unmarked) {
      pending += unmarked.length
      parser.feed(unmarked)
      // Comments also end with a blank line, but never become a frame.
      if (/\n\r?\n$/.test(unmarked.length > 2 ? unmarked.slice(-3) : before + unmarked)) pending = 0
      else {
        const start = startOfLast(unmarked, before)
        pending = start === undefined ? pending : unmarked.length - start
      }
      before = unmarked.slice(-1)
    }
    begun ||= unmarked.trim() !== ''
  }
  return {
    push(chunk) {
      const text = reader.read(chunk)
      if (text === '') return
      if (!text.endsWith('\r')) return feed(text)
      feed(text.slice(0, -1))
      cr = '\r'
    },
    end() {
      feed(reader.end())
      feed('\n\n')
    },
  }
}

/** Where the last frame in this text begins. Undefined: no frame ends in the text. `before`: the character before it. */
function startOfLast(text: string, before: string): number | undefined {
  const ends = ['\n\n', '\n\r\n', '\r\r'].flatMap(gap => (text.includes(gap) ? [text.lastIndexOf(gap) + gap.length] : []))
  if (ends.length > 0) return Math.max(...ends)
  return /[\r\n]/.test(before) ? /^\r?\n|^\r/.exec(text)?.[0].length : undefined
}
