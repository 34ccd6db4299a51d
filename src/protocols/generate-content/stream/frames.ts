import { writeExact } from '../../../kit/json/digits.ts'
import type { Frames } from '../../../protocol.ts'
import { writeFrame } from '../../../sse/write.ts'
import { encodeErrorBody } from '../errors.ts'

const wrap = (json: string) => writeFrame(json, undefined, '\r\n')

const write = (wire: unknown) => wrap(writeExact(wire))

/**
 * With the CRLF line ends of this protocol's own servers. No frame has an event name, and none ends
 * the stream: clients parse `[DONE]` as JSON. google-genai for Python parses comments, too, so a
 * ping is an empty frame.
 */
export const frames: Frames = {
  named: false,
  write,
  wrap,
  ping: '\r\n\r\n',
  escapesLines: true,
  breaksOff: 'always',
  failure: error => write(encodeErrorBody(error)),
}
