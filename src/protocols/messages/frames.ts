import { isObject } from '../../kit/json.ts'
import type { Frames } from '../../protocol.ts'
import { writeFrame } from '../../sse/write.ts'
import { encodeErrorBody } from './error.ts'

export const frames: Frames = {
  named: true,
  write: wire => writeFrame(JSON.stringify(wire), isObject(wire) && typeof wire['type'] === 'string' ? wire['type'] : undefined),
  ping: writeFrame('{"type":"ping"}', 'ping'),
  failure: error => writeFrame(JSON.stringify(encodeErrorBody(error)), 'error'),
}
