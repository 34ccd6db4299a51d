import { writeExact } from '../../../kit/json/digits.ts'
import type { Frames } from '../../../protocol.ts'
import { writeFrame } from '../../../sse/write.ts'
import { encodeErrorBody, exceptionOf } from '../errors.ts'

const wrap = (json: string) => writeFrame(json)

const write = (wire: unknown) => wrap(writeExact(wire))

/**
 * Both clients of AWS take a stream that stops between frames for complete, so a failure is always
 * an exception. They skip unknown events.
 */
export const frames: Frames = {
  named: false,
  write,
  wrap,
  withoutModel: true,
  ping: write({ ping: {} }),
  failure: error => write({ [exceptionOf(error.kind)]: encodeErrorBody(error) }),
}
