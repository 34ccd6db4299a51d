import { createParser } from 'eventsource-parser'
import { createArrayParser } from './array.ts'
import { createTextReader } from './text.ts'

export type Frame = { event?: string; data: string }

export type FrameParser = {
  /** Any split of the bytes gives the same frames. */
  push(chunk: Uint8Array | string): void
  /** The source has ended: a last frame without its blank line still counts. */
  end(): void
}

/**
 * text/event-stream → frames: CR, LF and CRLF, comments, several `data:` lines, a byte order mark, UTF-8 cut anywhere.
 * Some servers put an error into a field named `error`; it is given as a frame. A stream may also be one JSON list, which no
 * frame begins as: its items are given as frames.
 * @throws RangeError when one frame grows past `maxLength` UTF-16 units
 */
export function createFrameParser(onFrame: (frame: Frame) => void, { maxLength = 64 * 1024 * 1024 } = {}): FrameParser {
  const reader = createTextReader()
  let pending = 0
  let begun = false
  /** A CR may be the first half of a line's end; the parser forgets to look for the other half when it is cut there. */
  let cr = ''
  const parser = createParser({
    onEvent: ({ event, data }) => {
      pending = 0
      onFrame(event === undefined ? { data } : { event, data })
    },
    onError: error => {
      if (error.type === 'unknown-field' && error.field === 'error' && error.value !== undefined) onFrame({ event: 'error', data: `{"error":${error.value}}` })
    },
  })
  let feedArray: ((text: string) => void) | undefined
  const feed = (given: string) => {
    const text = cr + given
    cr = ''
    pending += text.length
    if (pending > maxLength) throw new RangeError(`a frame is longer than ${maxLength}`)
    const told = !begun && text.startsWith('\uFEFF') ? text.slice(1) : text
    if (!begun && told.trimStart().startsWith('['))
      feedArray = createArrayParser(data => {
        pending = 0
        onFrame({ data })
      })
    if (feedArray) feedArray(told)
    else parser.feed(told)
    begun ||= told.trim() !== ''
  }
  return {
    push(chunk) {
      const text = reader.read(chunk)
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
