import type { Frames } from '../../protocol.ts'
import { pingComment, writeFrame } from '../../sse/write.ts'
import { encodeErrorBody } from './error.ts'

/** No frame has a name, and none ends the stream: clients read `[DONE]` as JSON. */
export const frames: Frames = {
  named: false,
  write: wire => writeFrame(JSON.stringify(wire)),
  ping: pingComment,
  failure: error => writeFrame(JSON.stringify(encodeErrorBody(error))),
}
