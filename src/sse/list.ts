import { createFrameParser } from './parse.ts'
import { writeFrame } from './write.ts'

/** A stream as one JSON list, for wires that have both forms. */

/** Such a list → the same stream in frames. */
export async function* framesOfList(
  body: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<string> {
  let due = ''
  // A raw line break in JSON is always white space between tokens, so a space means the same.
  const parser = createFrameParser(({ data }) => {
    due += writeFrame(data.replaceAll(/[\r\n]+/g, ' '))
  })
  for await (const chunk of body) {
    parser.push(chunk)
    if (due) yield due
    due = ''
  }
}

/** A stream in frames → the same as a list. Pings become line breaks. */
export async function* listOfFrames(
  body: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<string> {
  let due = ''
  let opened = false
  const parser = createFrameParser(({ data }) => {
    due += opened ? `,\n${data}` : `[${data}`
    opened = true
  })
  for await (const chunk of body) {
    parser.push(chunk)
    yield due || '\n'
    due = ''
  }
  parser.end()
  yield `${due}${opened ? '' : '['}]`
}
