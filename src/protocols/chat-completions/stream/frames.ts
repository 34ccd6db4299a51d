import { writeExact } from '../../../kit/json/digits.ts'
import type { Frames } from '../../../protocol.ts'
import { pingComment, writeFrame } from '../../../sse/write.ts'
import { encodeErrorBody } from '../errors.ts'

export const frames: Frames = {
  named: false,
  write: wire => writeFrame(wire === '[DONE]' ? wire : writeExact(wire)),
  wrap: json => writeFrame(json),
  ping: pingComment,
  // Without `[DONE]`, which would mean a normal end.
  failure: error => writeFrame(JSON.stringify(encodeErrorBody(error))),
}
