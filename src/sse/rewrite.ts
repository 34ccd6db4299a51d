export type FrameRewriter = {
  /** What of the text is due; a frame that is not whole yet is held. */
  push(text: string): string
  /** What is left. */
  end(): string
}

const boundary = /\r\n\r\n|\n\n|\r\r/g

/** Gives each whole frame of text/event-stream, with the blank line behind it, as something else; `''` leaves it out. */
export function createFrameRewriter(rewrite: (frame: string) => string): FrameRewriter {
  let held = ''
  /** Its last letters: a boundary may be cut. All of it is not looked at again, for a frame may be long and come in many pieces. */
  let last = ''
  return {
    push(text) {
      const seen = last + text
      held += text
      last = seen.slice(-3)
      if (seen.search(boundary) < 0) return ''
      let out = ''
      let start = 0
      boundary.lastIndex = held.length - seen.length
      for (let found = boundary.exec(held); found; found = boundary.exec(held)) {
        // A line feed may follow that belongs to this carriage return.
        if (found[0] === '\r\r' && boundary.lastIndex === held.length) break
        out += rewrite(held.slice(start, boundary.lastIndex))
        start = boundary.lastIndex
      }
      held = held.slice(start)
      last = held.slice(-3)
      return out
    },
    end() {
      const rest = held
      held = last = ''
      return rest && rewrite(rest)
    },
  }
}
