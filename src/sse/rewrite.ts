export type FrameRewriter = {
  /** Returns the rewritten frames that are complete; the rest is held back. */
  push(text: string): string
  /** Returns the rest. */
  end(): string
}

const boundary = /\r\n\r\n|\n\n|\r\r/g

/** Replaces each frame of text/event-stream, which includes its blank line; `''` removes it. */
export function createFrameRewriter(rewrite: (frame: string) => string): FrameRewriter {
  let held = ''
  /** The end of `held`, where a boundary may be cut. Only this is searched again, since a frame may be long and come in many pieces. */
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
        // The next chunk may begin with the LF of this CR.
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
