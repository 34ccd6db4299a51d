import type { Frames } from '../../protocol.ts'
import { encodeErrorBody } from './error.ts'

const wrap = (json: string) => `data: ${json}\r\n\r\n`

const write = (wire: unknown) => wrap(JSON.stringify(wire))

/**
 * With line ends as its own servers have them. No frame has a name, and none ends the stream: clients read `[DONE]` as JSON, and
 * google-genai for Python a comment too, so that a ping is a frame without anything.
 */
export const frames: Frames = { named: false, write, wrap, ping: '\r\n\r\n', failure: error => write(encodeErrorBody(error)) }
