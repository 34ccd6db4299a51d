import type { ShownFrame } from './types.ts'

/** Splits a stream of server-sent events into frames as its text arrives. */
export function createFrameReader(emit: (frame: ShownFrame) => void): {
  push(text: string): void
  end(): void
} {
  let held = ''
  const emitBlock = (block: string) => {
    let event: string | undefined
    const data: string[] = []
    for (const line of block.split(/\r\n|\r|\n/)) {
      const at = line.indexOf(':')
      const field = at < 0 ? line : line.slice(0, at)
      const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '')
      if (field === 'event') event = value
      if (field === 'data') data.push(value)
    }
    if (data.length === 0) return
    const text = data.join('\n')
    emit({ ...(event !== undefined && { event }), data: text, ...jsonIn(text) })
  }
  return {
    push(text) {
      const blocks = (held + text).split(/\r\n\r\n|\n\n|\r\r/)
      held = blocks.pop() ?? ''
      for (const block of blocks) emitBlock(block)
    },
    end() {
      if (held.trim() !== '') emitBlock(held)
      held = ''
    },
  }
}

function jsonIn(text: string): { value?: unknown } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return {}
  }
}
