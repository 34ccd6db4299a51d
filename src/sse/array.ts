/**
 * A stream that is one JSON list instead of frames → the JSON text of each item. Chunks may be cut anywhere. Text between and after the
 * items is ignored. `onLength`: gets the length of the incomplete item so far.
 */
export function createArrayParser(onItem: (json: string) => void, onLength: (length: number) => void): (text: string) => void {
  let depth = 0
  let inString = false
  let escaped = false
  let item = ''
  return text => {
    // Items are inside the list, so they begin at depth 2.
    let start = depth > 1 ? 0 : -1
    for (let i = 0; i < text.length; i++) {
      const char = text.charCodeAt(i)
      if (inString) {
        if (escaped) escaped = false
        else if (char === 0x5c) escaped = true
        else if (char === 0x22) inString = false
      } else if (char === 0x22) inString = depth > 1
      else if (char === 0x7b || char === 0x5b) {
        if (depth++ === 1) start = i
      } else if (char === 0x7d || char === 0x5d) {
        if (--depth !== 1) continue
        const whole = item + text.slice(start, i + 1)
        item = ''
        start = -1
        onLength(whole.length)
        onItem(whole)
      }
    }
    if (start < 0) return
    item += text.slice(start)
    onLength(item.length)
  }
}
