import type { Frames } from '../../protocol.ts'
import { pingComment } from '../../sse/write.ts'
import { encodeErrorBody } from './error.ts'

const write = (wire: unknown) => `data: ${JSON.stringify(wire)}\r\n\r\n`

/** With line ends as its own servers have them. No frame has a name, and none ends the stream: clients read `[DONE]` as JSON. */
export const frames: Frames = { named: false, write, ping: pingComment, failure: error => write(encodeErrorBody(error)) }
