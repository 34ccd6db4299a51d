import { partOf } from './bytes.ts'
import { defaultMaxLength, type Frame, FrameFields, type OnFrame } from './fields.ts'
import { FrameSplitter } from './split.ts'
import { createTextReader } from './text.ts'

export type { Frame }

export type FrameParser = {
  /**
   * Returns the end of the last frame that ends in this chunk, or 0. The split of the bytes into
   * chunks does not matter.
   */
  push(chunk: Uint8Array | string): number
  /** The source has ended; a last frame without a blank line still counts. */
  end(): void
  /** Set when the stream is one JSON list. */
  readonly list: FrameSplitter['list']
}

/**
 * text/event-stream → frames. Takes CR, LF and CRLF, comments, several `data:` lines, a byte order
 * mark, and UTF-8 cut anywhere. A stream that begins with `[` is one JSON list, and its items
 * become frames. For errors outside of frames see `FrameFields`.
 * @throws RangeError when one frame grows past `maxLength` UTF-16 units
 */
export function createFrameParser(
  onFrame: OnFrame,
  { maxLength = defaultMaxLength } = {},
): FrameParser {
  const splitter = new FrameSplitter()
  const fields = new FrameFields(onFrame, maxLength)
  const text = createTextReader()
  return {
    push(chunk) {
      let whole = 0
      for (let from = 0; from < chunk.length; ) {
        const end = splitter.next(chunk, from)
        const to = end < 0 ? chunk.length : end
        fields.take(text.read(partOf(chunk, from, to)), end >= 0, splitter.list !== undefined)
        if (end >= 0) whole = end
        from = to
      }
      return whole
    },
    end() {
      fields.take(text.end(), false, splitter.list !== undefined)
      fields.end()
    },
    get list() {
      return splitter.list
    },
  }
}

/** The frames of a complete text. */
export function parseFrames(text: string | Uint8Array): Frame[] {
  const frames: Frame[] = []
  const parser = createFrameParser(frame => frames.push(frame))
  parser.push(text)
  parser.end()
  return frames
}
