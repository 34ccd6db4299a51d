export type FrameFilter = {
  /** What of the text is due, without the frames that are left out; a frame that is not whole yet is held. */
  push(text: string): string
  /** What is left. */
  end(): string
}

const boundary = /\r\n\r\n|\n\n|\r\r/g

/** Leaves out whole frames of text/event-stream; all others pass as they are. */
export function createFrameFilter(isLeftOut: (frame: string) => boolean): FrameFilter {
  let held = ''
  return {
    push(text) {
      held += text
      let out = ''
      let start = 0
      boundary.lastIndex = 0
      for (let found = boundary.exec(held); found; found = boundary.exec(held)) {
        // A line feed may follow that belongs to this carriage return.
        if (found[0] === '\r\r' && boundary.lastIndex === held.length) break
        const frame = held.slice(start, boundary.lastIndex)
        if (!isLeftOut(frame)) out += frame
        start = boundary.lastIndex
      }
      held = held.slice(start)
      return out
    },
    end() {
      const rest = held
      held = ''
      return isLeftOut(rest) ? '' : rest
    },
  }
}
